import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import Testing

/// A reel-server of a fleet, that runs beside its test.
struct WebServer {
    let child: Child
    let port: Int
    let path: String

    /// An answer of the server.
    struct Answer {
        let status: Int
        /// By their names in small letters.
        let headers: [String: String]
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as an object of JSON.
        func object() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any], "\(text)")
        }

        /// The code of a problem; nil if the answer is not a problem.
        var code: String? {
            guard headers["content-type"] == "application/problem+json" else { return nil }
            return try? object()["code"] as? String
        }
    }

    /// Runs `body` with a server that answers; afterwards it has been ended as a service manager would, and with exit code 0.
    /// Returns its log.
    ///
    /// - Parameters:
    ///   - port: where it listens; nil for a port at which nothing does.
    ///   - environment: of the server, beside the usual one.
    @discardableResult
    static func with(
        _ fleet: Fleet, _ arguments: [String] = [], path: String = "", port: Int? = nil,
        environment: [String: String] = [:],
        _ body: (WebServer) async throws -> Void
    ) async throws -> String {
        let server = try await start(fleet, arguments, path: path, port: port, environment: environment)
        do {
            try await body(server)
        } catch {
            print(try await server.child.kill().error)
            throw error
        }
        let outcome = try await server.child.end()
        #expect(outcome.code == 0, "\(outcome.error)")
        return outcome.error
    }

    /// Starts a server, at a port of its own if none is given, and goes on.
    static func launch(
        _ fleet: Fleet, _ arguments: [String], path: String = "", port: Int? = nil, environment: [String: String] = [:]
    ) async throws -> WebServer {
        let port = try port ?? freePort()
        let child = try await fleet.fixture.start(
            .at(Program.folder + "/reel-server"), ["--listen", "127.0.0.1:\(port)"] + arguments,
            environment: fleet.environment(as: "reel-coordinator").merging(environment) { $1 })
        return WebServer(child: child, port: port, path: path)
    }

    /// Starts a server, and returns when it answers.
    private static func start(
        _ fleet: Fleet, _ arguments: [String], path: String, port: Int? = nil, environment: [String: String] = [:]
    ) async throws -> WebServer {
        let server = try await launch(fleet, arguments, path: path, port: port, environment: environment)
        let child = server.child
        let answers = try await eventually {
            guard child.isRunning else { return true }
            return (try? await server.get("/api/v1/health").status) == 200
        }
        guard answers, child.isRunning else {
            let outcome = try await child.kill()
            Issue.record("the server did not start: \(outcome.error)")
            throw Running.Ended()
        }
        return server
    }

    /// Runs `body` with a server that answers, and kills the server after it.
    static func withKilled(
        _ fleet: Fleet, _ arguments: [String] = [], _ body: (WebServer) async throws -> Void
    ) async throws {
        let server = try await start(fleet, arguments, path: "")
        do { try await body(server) } catch {
            _ = try await server.child.kill()
            throw error
        }
        #expect(try await server.child.kill().code == 128 + 9)
    }

    /// A port at which nothing listens.
    static func freePort() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: in_port_t? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(socket, general, length) == 0, getsockname(socket, general, &length) == 0 else { return nil }
                return pointer.pointee.sin_port
            }
        }
        return Int(in_port_t(bigEndian: try #require(port)))
    }

    func url(_ place: String) -> String { "http://127.0.0.1:\(port)\(path)\(place)" }

    /// Sends a request, and reads the whole answer.
    func send(
        _ method: String, _ place: String, token: String? = nil, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Answer {
        var request = try request(method, place)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        request.httpBody = body
        let (bytes, response) = try await WebServer.session.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return Answer(status: answer.statusCode, headers: WebServer.headers(of: answer), body: bytes)
    }

    /// The modules that a browser runs on the server's pages, with their places: the one that the shell names, and all that
    /// they import.
    func modules() async throws -> [String: Answer] {
        let shell = try await get("/")
        let first = try #require(shell.text.firstMatch(of: /<script type="module" src="([^"]+)">/))
        var left = ["/\(first.1)"]
        var modules: [String: Answer] = [:]
        while let place = left.popLast() {
            guard modules[place] == nil else { continue }
            let module = try await get(place)
            modules[place] = module
            let folder = place.prefix(through: try #require(place.lastIndex(of: "/")))
            left += module.text.matches(of: /from "\.\/([^"]+)"/).map { "\(folder)\($0.1)" }
        }
        return modules
    }

    func request(_ method: String, _ place: String) throws -> URLRequest {
        var request = URLRequest(
            url: try #require(URL(string: url(place))), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 120
        )
        request.httpMethod = method
        return request
    }

    static func headers(of answer: HTTPURLResponse) -> [String: String] {
        answer.allHeaderFields.reduce(into: [:]) { $0["\($1.key)".lowercased()] = "\($1.value)" }
    }

    /// Keeps neither cookies nor answers, and has as many connections as are asked for.
    static let configuration: URLSessionConfiguration = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 500
        return configuration
    }()

    private static let session = URLSession(configuration: configuration)

    func get(_ place: String, token: String? = nil, headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", place, token: token, headers: headers)
    }

    /// Sends JSON.
    func send(
        _ method: String, _ place: String, _ value: [String: Any], token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        let body = try JSONSerialization.data(withJSONObject: value)
        return try await send(
            method, place, token: token, headers: headers.merging(["Content-Type": "application/json"]) { $1 },
            body: body)
    }

    /// Waits until a job has ended, and returns it.
    func end(of job: String, token: String? = nil) async throws -> [String: Any] {
        var view: [String: Any] = [:]
        let deadline = ContinuousClock.now + .seconds(120)
        repeat {
            view = try await get("/api/v1/jobs/\(job)", token: token).object()
            if ["done", "failed", "cancelled"].contains(view["state"] as? String ?? "") { return view }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline
        return view
    }
}

/// A connection to a server, below HTTP.
final class Wire: Sendable {
    private let socket: Int32

    /// Nil if nobody answers at the port.
    init?(port: Int) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
        }
        guard isConnected else { return nil }
    }

    deinit { close(socket) }

    /// Sends some of the bytes, and returns how many; 0 or less if the other side is gone.
    @discardableResult
    func send(_ bytes: some Sequence<UInt8>) -> Int {
        let bytes = Array(bytes)
        return Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What has come by now, at most 64 KiB; nil if the other side has ended the connection.
    func receive() -> Data? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return Data() }
        return count > 0 ? Data(bytes[..<count]) : nil
    }

    /// Sends all bytes unless the other side answers before, and returns the answer: empty if there is none yet.
    func sendUntilAnswered(_ bytes: [UInt8]) async throws -> Data {
        var rest = bytes[...]
        while !rest.isEmpty {
            let answer = receive()
            guard let answer, answer.isEmpty else { return answer ?? Data() }
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count > 0 { rest = rest.dropFirst(count) } else { try await Task.sleep(for: .milliseconds(2)) }
        }
        return Data()
    }

    /// Sends a request as it is spelled, and returns all that comes until the other side ends the connection; nil if it does
    /// not within three minutes.
    func exchange(_ request: String) async throws -> String? {
        send(request.utf8)
        var answer = Data()
        let deadline = ContinuousClock.now + .seconds(180)
        while let bytes = receive() {
            answer += bytes
            guard ContinuousClock.now < deadline else { return nil }
            if bytes.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        }
        return String(decoding: answer, as: UTF8.self)
    }
}

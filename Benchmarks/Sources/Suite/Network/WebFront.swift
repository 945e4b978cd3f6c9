internal import Foundation

/// nginx on loopback: it serves a folder's files with and without TLS, passes requests on to an object store, and counts
/// what goes through it.
struct WebFront: Sendable {
    /// A request that ended.
    struct Request {
        let method: Substring
        let path: Substring
        let connection: Substring
        /// Bytes of its body and of the answer's.
        let sent: Int
        let received: Int
    }

    private let runner: SuiteRunner
    private let folder: String
    private let port: Int
    let authority: String

    var plain: String { "http://127.0.0.1:\(port)" }
    var secured: String { "https://localhost:\(port + 1)" }
    var storePort: Int { port + 2 }
    /// As fast as a network of 1 Gbit/s.
    var slow: String { "http://127.0.0.1:\(port + 3)" }

    /// Serves meanwhile.
    static func with<Result>(
        _ runner: SuiteRunner, files: String, store: Int?, _ body: (WebFront) async throws -> Result
    ) async throws -> Result {
        let front = WebFront(runner: runner, store: store)
        try FileManager.default.createDirectory(atPath: front.folder, withIntermediateDirectories: true)
        defer { runner.remove(front.folder) }
        try await runner.makeCertificate(front.authority, key: front.folder + "/key.pem")
        let configuration = front.folder + "/nginx.conf"
        try front.configuration(files: files, store: store)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let process = try BackgroundProcess(["nginx", "-e", front.folder + "/errors", "-c", configuration])
        defer { process.end() }
        try await runner.waitUntil("nginx answers") {
            !(try await runner.text(["curl", "-sS", front.plain])).isEmpty
        }
        return try await body(front)
    }

    private init(runner: SuiteRunner, store: Int?) {
        (self.runner, folder, port) = (runner, runner.work("front"), (store ?? 24_000) + 5)
        authority = folder + "/certificate.pem"
    }

    private func configuration(files: String, store: Int?) -> String {
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path '\(folder)/\($0)';" }.joined(separator: " ")
        let passing = store.map {
            """
            server {
                listen 127.0.0.1:\(storePort);
                location / {
                    proxy_pass http://127.0.0.1:\($0);
                    proxy_set_header Host $http_host;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_request_buffering off;
                }
            }
            """
        }
        return """
            daemon off;
            user root;
            pid '\(folder)/pid';
            events {}
            http {
                \(places)
                client_max_body_size 0;
                log_format counted '$request_method $request_uri $connection $request_length $body_bytes_sent';
                access_log '\(log)' counted;
                default_type application/octet-stream;
                root '\(files)';
                server { listen 127.0.0.1:\(port); }
                server { listen 127.0.0.1:\(port + 3); limit_rate 119m; }
                server {
                    listen 127.0.0.1:\(port + 1) ssl;
                    ssl_certificate '\(authority)';
                    ssl_certificate_key '\(folder)/key.pem';
                }
                \(passing ?? "")
            }
            """
    }

    private var log: String { folder + "/requests" }

    /// The requests that ended during the body, in their order.
    func requests(_ body: () async throws -> Void) async throws -> [Request] {
        let before = try lines().count
        try await body()
        // nginx writes a line when it is done with a request.
        try await Task.sleep(for: .milliseconds(200))
        return try lines().dropFirst(before).map { line in
            let fields = line.split(separator: " ")
            guard fields.count == 5, let sent = Int(fields[3]), let received = Int(fields[4]) else {
                throw Trouble("nginx wrote \(line)")
            }
            return Request(
                method: fields[0], path: fields[1], connection: fields[2], sent: sent, received: received)
        }
    }

    private func lines() throws -> [Substring] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    }
}

extension SuiteRunner {
    /// A certificate of this machine's name, which is its own authority.
    func makeCertificate(_ path: String, key: String) async throws {
        _ = try await text(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days",
                "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                "-out", path,
            ])
    }
}

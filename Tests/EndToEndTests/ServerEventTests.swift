import Foundation
import FoundationNetworking
import ReelTestSupport
import Testing

/// An event as a stream sends it.
struct SentEvent: Hashable {
    var id: String?
    var kind: String
    var data: String
}

extension WebServer {
    /// Opens the stream of events, and hands out one after the other until `take` says that it has enough, or the server ends
    /// the stream.
    func events(
        after place: String? = nil, query: String = "", open: () async throws -> Void = {},
        _ take: (SentEvent) async throws -> Bool
    ) async throws {
        var request = try request("GET", "/api/v1/events\(query)")
        if let place { request.setValue(place, forHTTPHeaderField: "Last-Event-ID") }
        let (pieces, continuation) = AsyncThrowingStream<StreamPiece, any Error>.makeStream()
        let session = URLSession(
            configuration: WebServer.configuration, delegate: StreamReader(continuation), delegateQueue: nil)
        let task = session.dataTask(with: request)
        task.resume()
        defer {
            task.cancel()
            session.invalidateAndCancel()
        }
        var text = ""
        var isOpen = false
        for try await piece in pieces {
            guard case .bytes(let bytes) = piece else {
                guard case .head(let status, let headers) = piece else { continue }
                try #require(status == 200)
                #expect(headers["content-type"] == "text/event-stream")
                #expect(headers["x-accel-buffering"] == "no")
                continue
            }
            text += String(decoding: bytes, as: UTF8.self)
            if !isOpen {
                isOpen = true
                try await open()
            }
            while let end = text.range(of: "\n\n") {
                var event = SentEvent(kind: "", data: "")
                for line in text[..<end.lowerBound].split(separator: "\n") {
                    if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                    if line.hasPrefix("event: ") { event.kind = String(line.dropFirst(7)) }
                    if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
                }
                text.removeSubrange(..<end.upperBound)
                if !event.kind.isEmpty, try await !take(event) { return }
            }
        }
    }
}

/// A part of an answer that goes on.
private enum StreamPiece: Sendable {
    case head(Int, [String: String])
    case bytes(Data)
}

/// Hands on what comes of an answer as it comes.
private final class StreamReader: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: AsyncThrowingStream<StreamPiece, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<StreamPiece, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            continuation.yield(.head(response.statusCode, WebServer.headers(of: response)))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(.bytes(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error)
    }
}

extension EndToEnd {
    /// The stream of events, with real servers and a real Redis.
    @Suite struct ServerEventTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// A job that no worker takes, to be paused and resumed.
        private func job(_ server: WebServer) async throws -> String {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let made = try await server.send("POST", "/api/v1/jobs", ["source": source])
            return try #require(try made.object()["id"] as? String, "\(made.text)")
        }

        /// The ids of the entries of the board's stream.
        private func places(_ fleet: Fleet) throws -> [String] {
            let text = try RawRedis(socket: fleet.socket)("XRANGE", "reel2:{main}:events", "-", "+")
            return text.matches(of: /\d{13}-\d+/).map { String($0.0) }
        }

        @Test func aLineThatIsCutAHundredTimesLosesAndDoublesNothing() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let id = try await job(server)
                    let first = try #require(try places(fleet).last)
                    let changes = 150
                    let changing = Task {
                        for number in 0..<changes {
                            let verb = number % 2 == 0 ? "pause" : "resume"
                            let answer = try await server.send("POST", "/api/v1/jobs/\(id)/\(verb)")
                            #expect(answer.status == 200)
                        }
                    }
                    var (seen, cuts): ([SentEvent], Int) = ([], 0)
                    while seen.count < changes {
                        var left = cuts < 100 ? 1 : changes
                        try await server.events(after: seen.last?.id ?? first) { event in
                            seen.append(event)
                            left -= 1
                            return left > 0 && seen.count < changes
                        }
                        cuts += 1
                    }
                    try await changing.value
                    #expect(cuts >= 100)
                    #expect(seen.map(\.id) == Array(try places(fleet).drop { $0 != first }.dropFirst()))
                    #expect(seen.map(\.kind) == (0..<changes).map { $0 % 2 == 0 ? "paused" : "resumed" })
                    #expect(Set(seen.map(\.data)) == ["{\"job\":\"\(id)\"}"])
                }
            }
        }

        @Test func aListenerWhosePlaceIsGoneIsToldSoOnce() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let id = try await job(server)
                    var seen: [String] = []
                    try await server.events(after: "1-0") { event in
                        seen.append(event.kind)
                        if event.kind == "resync" { _ = try await server.send("POST", "/api/v1/jobs/\(id)/pause") }
                        return event.kind != "paused"
                    }
                    // What the hub had not read yet when the listener came may stand between the two.
                    #expect(seen.first == "resync")
                    #expect(seen.count { $0 == "resync" } == 1)
                    let answer = try await server.get("/api/v1/events", headers: ["Last-Event-ID": "yesterday"])
                    #expect(answer.code == "place-invalid")
                }
            }
        }

        @Test func twoHundredListenersHearEverythingAndOfTheirJobAlone() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let id = try await job(server)
                    let (opened, announce) = AsyncStream<Void>.makeStream()
                    try await withThrowingTaskGroup(of: [String].self) { group in
                        for number in 0..<200 {
                            group.addTask {
                                var seen: [String] = []
                                let query = number % 2 == 0 ? "" : "?job=\(id)"
                                try await server.events(query: query, open: { announce.yield() }) { event in
                                    // What the hub had not read yet when the listener came may stand before.
                                    if event.kind == "paused" || !seen.isEmpty { seen.append(event.kind) }
                                    return seen.count < 20
                                }
                                return seen
                            }
                        }
                        var count = 0
                        for await _ in opened {
                            count += 1
                            if count == 200 { break }
                        }
                        // A stream is open a moment before the hub knows its listener.
                        try await Task.sleep(for: .seconds(1))
                        for number in 0..<20 {
                            _ = try await server.send(
                                "POST", "/api/v1/jobs/\(id)/\(number % 2 == 0 ? "pause" : "resume")")
                        }
                        for try await seen in group {
                            #expect(seen == (0..<20).map { $0 % 2 == 0 ? "paused" : "resumed" })
                        }
                    }
                }
            }
        }

        @Test func aServerThatEndsSaysSo() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    var seen: [String] = []
                    try await server.events(open: { server.child.send(SIGTERM) }) { event in
                        seen.append(event.kind)
                        return true
                    }
                    #expect(seen == ["bye"])
                    #expect(try await server.child.outcome.code == 0)
                }
            }
        }

        @Test func aServerOutlivesItsRedisAndTellsListenersToReadAnew() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let id = try await job(server)
                    #expect(try await server.get("/api/v1/ready").status == 200)
                    var seen: [SentEvent] = []
                    try await server.events(open: {
                        _ = try await server.send("POST", "/api/v1/jobs/\(id)/pause")
                    }) { event in
                        seen.append(event)
                        if event.kind == "paused" { try await fleet.killRedis() }
                        return true
                    }
                    #expect(seen.map(\.kind) == ["paused", "bye"])
                    #expect(try await server.get("/api/v1/events").code == "events-lost")
                    #expect(try await server.get("/api/v1/ready").status == 503)
                    #expect(try await server.get("/api/v1/health").status == 200)
                    #expect(try await server.get("/api/v1/jobs").headers["content-type"] == "application/problem+json")
                    try await fleet.startRedis()
                    #expect(try await eventually { try await server.get("/api/v1/ready").status == 200 })
                    let place = seen.first?.id
                    seen = []
                    let isBack = try await eventually { try await server.send("HEAD", "/api/v1/events").status == 200 }
                    #expect(isBack)
                    try await server.events(after: place) { event in
                        seen.append(event)
                        return false
                    }
                    #expect(seen.map(\.kind) == ["resync"])
                }
            }
        }
    }
}

import Crypto
import Foundation
import ReelRandom
import Testing

extension EndToEnd {
    /// Servers, workers and Redis killed at random while jobs are submitted and files uploaded: what a server acknowledged
    /// holds, whichever server it was.
    @Suite struct ServerChaosTests {
        private let fixture: ProcessFixture
        private static let seed: UInt64 = 1

        init() throws { fixture = try ProcessFixture() }

        private enum Fault { case server(Int), worker, redis }

        /// Each kind comes early; a pass of a killed worker is taken up by another when its lease lapses.
        private static func plan(_ random: inout SplitMix64) -> [Fault] {
            let early: [Fault] = [.server(0), .server(1), .worker, .redis]
            let late: [Fault] = [0, 1, 0, 1, 0, 1].map { .server($0) } + [.redis, .redis, .redis]
            return early.shuffled(using: &random) + late.shuffled(using: &random) + late.shuffled(using: &random)
        }

        @Test(.timeLimit(.minutes(10)))
        func everyAcknowledgedJobEndsDoneAndEveryUploadResumes() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let film = try Data(contentsOf: URL(fileURLWithPath: source))
            try await Fleet.with(fixture, workers: 2) { fleet in
                try await Servers.with(fleet, ["--sources", fixture.folder]) { servers in
                    async let byPath = submitPaths(source, servers)
                    async let byUpload = submitUploads(film, servers)
                    try await disturb(fleet, servers, for: .seconds(12))
                    let uploaded = try await byUpload
                    let jobs = try await byPath + uploaded.map(\.job)

                    #expect(Set(jobs).count == 10)
                    for (upload, bytes) in uploaded.map({ ($0.upload, $0.bytes) }) {
                        let data = try Data(contentsOf: URL(fileURLWithPath: "\(fleet.store)/uploads/\(upload)/data"))
                        #expect(data == bytes)
                    }
                    let server = await servers.next()
                    for id in jobs {
                        let job = try await server.end(of: id)
                        #expect(job["state"] as? String == "done", "\(job)")
                        let output = try await server.get("/api/v1/jobs/\(id)/output")
                        let hash = SHA256.hash(data: output.body).map { String(format: "%02x", $0) }.joined()
                        #expect(output.status == 200)
                        #expect(job["outputSha256"] as? String == hash, "\(id)")
                    }
                    // A request that was sent again because its answer was lost finds the job that it made.
                    let areAlone = try await eventually {
                        let listed = try await server.get("/api/v1/jobs?limit=500").object()["jobs"] as? [[String: Any]]
                        return listed?.compactMap { $0["id"] as? String }.sorted() == jobs.sorted()
                            && fleet.jobs == Set(jobs)
                    }
                    #expect(areAlone, "\(jobs) are not all of \(fleet.jobs)")
                }
            }
        }

        /// Kills now this, now that, and lets all of it run at the end.
        private func disturb(_ fleet: Fleet, _ servers: Servers, for time: Duration) async throws {
            var random = SplitMix64(seed: ServerChaosTests.seed)
            let end = ContinuousClock.now + time
            for fault in ServerChaosTests.plan(&random) where ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(Int.random(in: 400...800, using: &random)))
                switch fault {
                case .server(let place): try await servers.kill(place)
                case .worker:
                    if let worker = await fleet.workers.randomElement(using: &random) { try await fleet.kill(worker) }
                    try await fleet.startWorker()
                case .redis:
                    try await fleet.killRedis()
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...500, using: &random)))
                    try await fleet.startRedis()
                }
                _ = try await fleet.keepRedis()
                try await servers.keep()
            }
            // One that was started while Redis was away has ended again.
            let runs = try await eventually {
                _ = try await fleet.keepRedis()
                try await servers.keep()
                return await servers.areReady()
            }
            #expect(runs)
        }

        // MARK: Clients

        /// Submits six jobs by the path of their source, and returns their ids.
        private func submitPaths(_ source: String, _ servers: Servers) async throws -> [String] {
            var jobs: [String] = []
            for number in 0..<6 {
                jobs.append(
                    try await submit(
                        #"{"source":"\#(source)","options":{"lossless":true,"passFrames":\#(20 + number)}}"#, servers))
                try await Task.sleep(for: .seconds(1.5))
            }
            return jobs
        }

        private func submit(_ request: String, _ servers: Servers) async throws -> String {
            let answer = try await servers.ask(
                "POST", "/api/v1/jobs", ["Content-Type": "application/json"], Data(request.utf8))
            #expect([200, 201].contains(answer.status), "\(answer.text)")
            return try #require(try answer.object()["id"] as? String, "\(answer.text)")
        }

        private struct Uploaded {
            var upload: String
            var bytes: Data
            var job: String
        }

        /// Uploads four files beside each other, and makes a job of each.
        private func submitUploads(_ film: Data, _ servers: Servers) async throws -> [Uploaded] {
            try await withThrowingTaskGroup(of: Uploaded.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        var random = SplitMix64(seed: UInt64(number))
                        // A box that players skip makes each file another.
                        let filling = Data((0..<(3 << 20)).map { _ in UInt8.random(in: 0...255, using: &random) })
                        let size = withUnsafeBytes(of: UInt32(filling.count + 8).bigEndian) { Data($0) }
                        let bytes = film + size + Data("free".utf8) + filling
                        try await Task.sleep(for: .milliseconds(700 * number))
                        let upload = try await upload(bytes, servers)
                        let job = try await submit(#"{"upload":"\#(upload)"}"#, servers)
                        return Uploaded(upload: upload, bytes: bytes, job: job)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }

        /// Uploads a file in pieces; after each that was not acknowledged it asks how far the upload is.
        private func upload(_ bytes: Data, _ servers: Servers) async throws -> String {
            let version = ["Tus-Resumable": "1.0.0"]
            let name = Data("film.mp4".utf8).base64EncodedString()
            let made = try await servers.ask(
                "POST", "/api/v1/uploads",
                version.merging(["Upload-Length": "\(bytes.count)", "Upload-Metadata": "filename \(name)"]) { $1 })
            let place = try #require(made.headers["location"], "\(made.text)")
            var offset = 0
            while offset < bytes.count {
                let end = min(offset + 250_000, bytes.count)
                let piece = ["Content-Type": "application/offset+octet-stream", "Upload-Offset": "\(offset)"]
                let answer = try? await servers.next().send(
                    "PATCH", place, headers: version.merging(piece) { $1 }, body: bytes[offset..<end])
                if answer?.status == 204 {
                    offset = end
                } else {
                    let look = try await servers.ask("HEAD", place, version)
                    let known = try #require(look.headers["upload-offset"].flatMap { Int($0) }, "\(look.status)")
                    #expect((offset...end).contains(known))
                    offset = known
                }
                try await Task.sleep(for: .milliseconds(400))
            }
            return String(place.split(separator: "/").last ?? "")
        }
    }
}

/// Two servers of a fleet, each of which may be killed and started again at another port, and what clients do then.
private actor Servers {
    private let fleet: Fleet
    private let arguments: [String]
    private var running: [WebServer] = []
    private var turn = 0

    private init(_ fleet: Fleet, _ arguments: [String]) { (self.fleet, self.arguments) = (fleet, arguments) }

    /// Runs `body` with two servers; afterwards the servers that run then have been ended as a service manager would, and with
    /// exit code 0.
    static func with(_ fleet: Fleet, _ arguments: [String], _ body: (Servers) async throws -> Void) async throws {
        let servers = Servers(fleet, arguments)
        do {
            try await servers.start()
            try await body(servers)
        } catch {
            for server in await servers.running { _ = try await server.child.kill() }
            throw error
        }
        for server in await servers.running {
            let outcome = try await server.child.end()
            #expect(outcome.code == 0, "\(outcome.error)")
        }
    }

    private func start() async throws {
        for _ in 0..<2 { running.append(try await WebServer.launch(fleet, arguments)) }
    }

    /// Starts those again that have ended, as a service manager does.
    func keep() async throws {
        for place in running.indices where !running[place].child.isRunning {
            running[place] = try await WebServer.launch(fleet, arguments)
        }
    }

    func kill(_ place: Int) async throws { _ = try await running[place].child.kill() }

    func areReady() async -> Bool {
        for server in running {
            guard (try? await server.get("/api/v1/ready").status) == 200 else { return false }
        }
        return true
    }

    /// Now one, now the other.
    func next() -> WebServer {
        turn += 1
        return running[turn % running.count]
    }

    /// Sends a request, now to one server, now to the other, until one answers other than that it cannot now.
    func ask(
        _ method: String, _ place: String, _ headers: [String: String], _ body: Data? = nil
    ) async throws -> WebServer.Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if let answer = try? await next().send(method, place, headers: headers, body: body), answer.status < 500 {
                return answer
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Running.Ended()
    }
}

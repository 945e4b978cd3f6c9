import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// The functions in Redis: their version, which programs load them, and that the newest version stays.
    @Suite struct Libraries {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        /// The library as another release would have it.
        private func load(version: Int, serves: Int, without function: String? = nil) throws {
            var text = Library.text.replacing(
                "local VERSION, SERVES, SCHEMA = \(Library.version), 1,",
                with: "local VERSION, SERVES, SCHEMA = \(version), \(serves),")
            #expect(text != Library.text)
            if let function {
                text = text.replacing("transition('\(function)'", with: "transition('\(function)_of_old'")
            }
            try fixture.raw("FUNCTION", "LOAD", "REPLACE", text)
        }

        private func version() throws -> String { try fixture.raw("FCALL_RO", "reel2_version", "0") }

        private var own: String { "\(Library.version)" }

        /// If the text changes, its version must be raised, unless no release has had this one:
        /// `REEL_WRITE_GOLDEN=1` then rewrites the file.
        @Test func theTextHasTheVersionThatItSays() throws {
            let digest = try fixture.raw("EVAL", "return redis.sha1hex(ARGV[1])", "0", Library.text)
            try Golden.expect("\(Library.version) \(digest)", is: "library.txt")
        }

        /// Model and simulations take these numbers from Swift, so no Lua file may have one of its own in their place. That the
        /// functions do as the model does is for `ConformanceTests`.
        @Test func theFunctionsHaveTheNumbersOfThePolicies() throws {
            let head = try #require(Library.text.split(separator: "\n\n").first)
            for (cause, count) in BoardPolicy.attempts { #expect(head.contains("['\(cause.rawValue)'] = \(count)")) }
            let constants = [
                ("LAG", "\(BoardPolicy.lag)"), ("BACKUP_SHARE", "\(BoardPolicy.backupShare)"),
                ("TAIL_WAIT", "\(BoardPolicy.tailWait)"), ("PATIENCE", "\(BoardPolicy.hostPatience)"),
                ("ATTEMPTS_KEPT", "\(BoardPolicy.attemptsKept)"), ("SILENCE", "\(BoardPolicy.silence)"),
            ]
            for (name, value) in constants {
                // local ONE, OTHER = 1, 2
                let line = try #require(
                    head.split(separator: "\n").first { $0.contains("\(name),") || $0.contains("\(name) =") })
                let (names, values) = (
                    line.dropFirst("local ".count).prefix { $0 != "=" }, line.split(separator: " = ")[1]
                )
                let place = try #require(
                    names.split(whereSeparator: { ", ".contains($0) }).firstIndex { $0 == name })
                #expect(values.split(separator: ", ")[place] == value, "\(name)")
            }
            for number in ["0.03", "3600000", "transient =", "crash ="] {
                #expect(!Library.text.dropFirst(head.count).contains(number), "\(number)")
            }
        }

        @Test func missingFunctionsAreLoaded() async throws {
            defer { _ = try? fixture.raw("FUNCTION", "FLUSH") }
            try await fixture.publish()
            #expect(try await fixture.take().index == 0)
            try fixture.raw("FUNCTION", "FLUSH")
            #expect(try await fixture.take().index == 1)
            // Functions are not data.
            try fixture.raw("FLUSHALL")
            #expect(try version() == own)
            // A reader finds an empty board in a Redis that never had one.
            try fixture.raw("FUNCTION", "FLUSH")
            #expect(try await fixture.state() == nil)
            #expect(try version() == own)
            #expect(try await !fixture.board.prepare())
        }

        @Test(arguments: [nil, "claim"])
        func olderFunctionsAreReplacedByWhatChangesTheBoard(_ lacking: String?) async throws {
            defer { _ = try? fixture.raw("FUNCTION", "FLUSH") }
            try await fixture.publish()
            try load(version: Library.version - 1, serves: 0, without: lacking)
            let failure = await #expect(throws: ReelFailure.self) { _ = try await fixture.state() }
            #expect(failure?.reason == .boardUnprepared(found: Library.version - 1, known: Library.version))
            #expect(try await fixture.take().index == 0)
            #expect(try version() == own)
            #expect(try await fixture.state() == .running)
        }

        @Test func newerFunctionsThatServeThisReleaseAreUsed() async throws {
            defer { _ = try? fixture.raw("FUNCTION", "FLUSH") }
            try load(version: Library.version + 1, serves: Library.version)
            try await fixture.publish()
            #expect(try await fixture.take().index == 0)
            #expect(try await !fixture.board.prepare())
            #expect(try version() == "\(Library.version + 1)")
        }

        @Test(arguments: [nil, "claim"])
        func newerFunctionsAreNeverReplaced(_ lacking: String?) async throws {
            defer { _ = try? fixture.raw("FUNCTION", "FLUSH") }
            try await fixture.publish()
            try load(version: Library.version + 1, serves: Library.version + 1, without: lacking)
            let refusal = FailureReason.boardOfNewerRelease(found: Library.version + 1, known: Library.version)
            let failures = [
                await #expect(throws: ReelFailure.self) { _ = try await fixture.claim() },
                await #expect(throws: ReelFailure.self) { _ = try await fixture.state() },
                await #expect(throws: ReelFailure.self) { try await fixture.board.prepare() },
            ]
            for failure in failures {
                #expect(failure?.reason == refusal)
                #expect(failure?.exitCode == 4)
            }
            #expect(try version() == "\(Library.version + 1)")
        }

        /// Release 0.1.0 puts passes and results on the board before it publishes, and is given a pass with its claim.
        @Test func whatRelease010CallsIsServed() async throws {
            func call(_ function: String, _ arguments: String...) throws -> String {
                try fixture.raw.send(["FCALL", "reel2_\(function)", "1", "reel2:{main}:jobs", "2"] + arguments)
            }
            var job = BoardFixture.job(passes: 3)
            (job.audioPasses, job.planHash) = (nil, nil)
            let token = try await fixture.begin(job).token
            let json = try BoardFixture.json(job)
            func publish() throws -> String {
                try call("publish", "a1", token, json, "1", "3", "100", "1", "", "10", "60000", "30", "1", "0")
            }
            #expect(try call("upload", "a1", token, "20000", "1", "0", "audio", "SOUND", "1", "video", "END") == "1")
            #expect(try publish() == "incomplete")
            #expect(try call("upload", "a1", token, "20000", "0", "2", "video", "START") == "1")
            let result = try BoardFixture.json(PassResult(segments: [], statistics: .init(), diagnostics: []))
            #expect(try call("restore", "a1", token, "20000", "1", "t \(result)", "") == "1")
            #expect(try await fixture.claim() == nil)
            #expect(try publish() == "published")
            func claim(_ token: String) throws -> String {
                try call("claim", "w1", "1000", "1", "", "20000", token, "0", "60000")
            }
            #expect(try claim("t0") == "a1\n0\naudio\nSOUND\n100\n1")
            #expect(try claim("t2") == "a1\n2\nvideo\nSTART\n100\n1")
            let status = try #require(try await fixture.board.status(job.id))
            #expect((status.passes.done, status.job.work(at: 0), status.job.work(at: 3)) == (1, nil, .assembly))
        }

        @Test func aUserThatMayNotLoadThemNeedsAPreparedBoard() async throws {
            defer { _ = try? fixture.raw("FUNCTION", "FLUSH") }
            try fixture.raw("ACL", "SETUSER", "guest", "on", ">guest", "~*", "+@all", "-function|load")
            defer { _ = try? fixture.raw("ACL", "DELUSER", "guest") }
            let guest = BoardFixture(
                fixture.server, raw: fixture.raw,
                board: RedisBoard(try RedisAddress("unix://guest:guest@\(fixture.server.socket)"), name: "guest"))
            for found in [nil, Library.version - 1] {
                try fixture.raw("FUNCTION", "FLUSH")
                if let found { try load(version: found, serves: 0) }
                let failure = await #expect(throws: ReelFailure.self) { try await guest.publish() }
                #expect(failure?.reason == .boardUnprepared(found: found, known: Library.version))
                #expect(failure?.exitCode == 4)
            }
            #expect(try await fixture.board.prepare())
            #expect(try await guest.publish() == .published)
        }
    }
}

/// JSON that the board keeps, byte for byte: a renamed property must not change stored data.
@Suite struct GoldenTests {
    private func check<Value: Codable & Equatable>(_ value: Value, _ name: String) throws {
        try Golden.expect(Golden.lines([value]), is: name + ".json")
        #expect(try JSONDecoder().decode(Value.self, from: Data(Golden.read(name + ".json"))) == value)
    }

    @Test func aPublishedJob() throws {
        try check(
            BoardJob(
                id: JobID("a1"), source: "/films/film.mkv", frames: 240, passCount: 3, audioPasses: 1, need: 1 << 30,
                encoders: ["libx264 164", "aac 59"], protocolVersion: 4, weight: 0.5, encodingEffort: 9.5,
                diagnostics: [.redisEvicts(address: "redis://host:6379")], plan: 2, planHash: "0f5a"), "published-job")
    }

    @Test func aWorkersReport() throws {
        try check(
            WorkerReport(
                worker: WorkerID("host-1-77"), host: "host", slots: 4, slotsOut: 1, memoryTotal: 8 << 30,
                encoders: ["libx264 164"], protocolVersion: 4, version: "0.1.0", store: "/srv/reel",
                uptime: 90, notes: [.workerDiskFull(folders: ["/tmp"])],
                held: [
                    WorkerReport.Held(
                        job: JobID("a1"), index: -1, token: "t", plan: 0, decoded: 3, encoded: 2, wholeChunks: 1,
                        frames: 9)
                ]), "worker-report")
    }
}

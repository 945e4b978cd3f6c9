import Foundation
import Glibc
import ReelRandom
import ReelTestSupport
import Synchronization
import Testing

extension EndToEnd {
    /// A farm whose store is in a bucket, while requests fail, lists come late, programs are killed at requests, keys are
    /// refused, the bucket is gone for a while and Redis forgets: every job ends done and exact, and no object is left over.
    @Suite struct BucketChaosTests {
        /// `scripts/chaos --bucket` sets them.
        private let seeds: ClosedRange<UInt64> = {
            let bounds = ProcessInfo.processInfo.environment["REEL_CHAOS_SEEDS"]?.split(separator: ".")
                .compactMap { UInt64($0) }
            guard let first = bounds?.first, let last = bounds?.last, first <= last else { return 1...1 }
            return first...last
        }()

        /// The second one is of an object. Without `scripts/chaos` there is time for one.
        private let jobs = ProcessInfo.processInfo.environment["REEL_CHAOS_SEEDS"] == nil ? 1 : 2

        private static let options = ["--lossless", "--pass-frames", "24"]

        @Test(.timeLimit(.minutes(60)))
        func everyJobEndsDone() async throws {
            let clip = try await Clips.shared.crowd(frames: 288, size: "640x360")
            let quiet = try ProcessFixture()
            let source = try quiet.copy(clip, as: "crowd.mov")
            let outcome = try await quiet.run(.coordinator, ["run", source, "-o", "out.mov"] + Self.options)
            try #require(outcome.code == 0, "\(outcome.error)")
            try await quiet.expectExactlyReversed(source, quiet.path("out.mov"))
            for seed in seeds {
                let fixture = try ProcessFixture()
                let disturbed = try fixture.copy(clip, as: "crowd.mov")
                let reference = try Data(contentsOf: URL(fileURLWithPath: quiet.path("out.mov")))
                try await Fleet.with(fixture, workers: 0) { fleet in
                    let chaos = try BucketChaos(fleet, seed: seed, source: disturbed, options: Self.options)
                    try await chaos.run(jobs: jobs, expecting: reference)
                    FileHandle.standardOutput.write(Data("seed \(seed): \(await chaos.counts)\n".utf8))
                }
                #expect(try await fixture.isQuiet(), "seed \(seed)")
            }
        }
    }
}

/// The faults of one seed, which work on requests and on programs.
private actor BucketChaos {
    private let seed: UInt64
    private let fleet: Fleet
    private let server: BucketServer
    private let switches: Switches
    private let source: String
    private let options: [String]
    private var random: SplitMix64
    private(set) var counts: [String: Int] = [:]

    /// What requests look at.
    private final class Switches: Sendable {
        let state = Mutex(State())

        struct State {
            /// What every request to the store is answered while it is set.
            var closed: HookReceiver.Answer?
            /// Processes one of which a request may kill.
            var mortal: [pid_t] = []
            var killed = 0
            var failed = 0
        }
    }

    init(_ fleet: Fleet, seed: UInt64, source: String, options: [String]) throws {
        (self.fleet, self.seed, self.source, self.options) = (fleet, seed, source, options)
        random = SplitMix64(seed: seed)
        let switches = Switches()
        self.switches = switches
        server = try BucketServer(
            lateness: .milliseconds(Int(seed % 3) * 1500),
            fault: { message, number in BucketChaos.answer(message, number, seed, switches) },
            isCut: { message, number in
                var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
                return message.method == "GET" && Int.random(in: 0..<20, using: &random) == 0
            })
    }

    /// Three requests of ten fail, one in 600 is never answered, and at one in 150 a program is killed that may be.
    private static func answer(
        _ message: HookReceiver.Message, _ number: Int, _ seed: UInt64, _ switches: Switches
    ) -> HookReceiver.Answer? {
        var random = SplitMix64(seed: seed &* 1_000_033 &+ UInt64(number))
        let draw = Int.random(in: 0..<600, using: &random)
        let fault: HookReceiver.Answer? =
            switch draw {
            case 0: .silence
            case 1..<61: .status(500)
            case 61..<121: BucketServer.refusal(503, "SlowDown")
            case 121..<181: .bytes(Data(), reset: true)
            default: nil
            }
        return switches.state.withLock { state in
            if Int.random(in: 0..<150, using: &random) == 0, let victim = state.mortal.randomElement(using: &random) {
                Glibc.kill(victim, SIGKILL)
                state.mortal.removeAll { $0 == victim }
                state.killed += 1
            }
            if message.path.hasPrefix("/reel"), let closed = state.closed { return closed }
            if fault != nil { state.failed += 1 }
            return fault
        }
    }

    private var environment: [String: String] {
        fleet.environment(as: "reel-coordinator").merging(server.settings) { $1 }
            .merging(["REEL_STORE": "s3://reel/work"]) { $1 }
    }

    // MARK: Programs

    /// Runs a command until it succeeds. It may be killed at any request.
    private func insist(_ arguments: [String]) async throws -> String {
        let end = ContinuousClock.now + .seconds(240)
        while true {
            let child = try await fleet.fixture.start(.coordinator, arguments, environment: environment)
            switches.state.withLock { $0.mortal.append(child.pid) }
            let outcome = try await child.outcome
            switches.state.withLock { $0.mortal.removeAll { $0 == child.pid } }
            if outcome.code == 0 { return outcome.output.trimmingCharacters(in: .newlines) }
            // 4 says that the board or the store is away, 5 that the output's bucket is.
            try #require(
                [4, 5, 128 + 9].contains(outcome.code) && .now < end,
                "seed \(seed), \(arguments): \(outcome.code) \(outcome.error)")
            count(outcome.code == 128 + 9 ? "commands killed" : "commands repeated")
        }
    }

    /// Starts workers in place of the ones that were killed.
    private func keepWorkers(_ count: Int = 3, mayDie: Bool = true) async throws {
        for worker in await fleet.workers where !worker.isRunning { try await fleet.kill(worker) }
        while await fleet.workers.count < count {
            let worker = try await fleet.startWorker(
                environment: server.settings.merging(["REEL_STORE": "s3://reel/work"]) { $1 })
            if mayDie { switches.state.withLock { $0.mortal.append(worker.pid) } }
        }
    }

    private func count(_ name: String, _ more: Int = 1) { counts[name, default: 0] += more }

    // MARK: The course

    func run(jobs: Int, expecting reference: Data) async throws {
        let admin = fleet.environment(as: "reel-admin").merging(server.settings) { $1 }
        let made = try await fleet.fixture.run(.coordinator, ["init", "--store", "s3://reel/work"], environment: admin)
        try #require(made.code == 0, "\(made.error)")
        try await keepWorkers()
        for number in 0..<jobs {
            // A file, which is copied into the store, and an object.
            if number == 1 { server.objects["footage/crowd.mov"] = try Data(contentsOf: URL(fileURLWithPath: source)) }
            let name = number == 0 ? source : "s3://footage/crowd.mov"
            let job = try await insist(["submit", name] + options)
            try await disturb(job)
            _ = try await insist(["fetch", job, "-o", "s3://results/\(job).mov"])
            #expect(server.objects["results/\(job).mov"] == reference, "seed \(seed)")
        }
        try await judge()
    }

    /// Breaks this and that until the job is done.
    private func disturb(_ job: String) async throws {
        let end = ContinuousClock.now + .seconds(420)
        while true {
            try await Task.sleep(for: .milliseconds(Int.random(in: 500...4000, using: &random)))
            if try await fleet.keepRedis() { count("starts of Redis refused") }
            try await keepWorkers()
            let state = (try? fleet.sight(job).state) ?? "away"
            // Redis may have been emptied since the job was done.
            if state == "done" || recordedState(of: job) == "done" { return }
            guard !["failed", "cancelled"].contains(state), .now < end else {
                let told = try await told(job)
                Issue.record("seed \(seed): the job is \(state), \(told)")
                throw Trouble()
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try await close(BucketServer.refusal(403, "AccessDenied"), "keys refused")
            case 1: try await close(BucketServer.refusal(404, "NoSuchBucket"), "bucket gone")
            case 2: try await close(.status(503), "store down")
            case 3:
                count("Redis killed")
                try await fleet.killRedis()
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...2000, using: &random)))
                try await fleet.startRedis()
            case 4:
                count("Redis emptied")
                _ = try? RawRedis(socket: fleet.socket)("FLUSHALL")
            default: break
            }
            // A list that is late lacks the job, and then another look finds it.
            if (try? fleet.sight(job).state) == "" { _ = try await insist(["recover"]) }
        }
    }

    private func recordedState(of job: String) -> String? {
        let record = server.objects["reel/work/jobs/\(job)/job.json"]
        let object = record.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
        return object?["state"] as? String
    }

    private func close(_ answer: HookReceiver.Answer, _ name: String) async throws {
        count(name)
        switches.state.withLock { $0.closed = answer }
        try await Task.sleep(for: .milliseconds(Int.random(in: 500...7000, using: &random)))
        switches.state.withLock { $0.closed = nil }
    }

    private struct Trouble: Error {}

    private func told(_ job: String) async throws -> String {
        try await fleet.fixture.run(.coordinator, ["status", job], environment: environment).output
    }

    /// Expects that nothing is left but the jobs' records, plans and results.
    private func judge() async throws {
        let killed = switches.state.withLock { state in
            state.mortal = []
            return state.killed
        }
        count("killed at a request", killed)
        count("requests", server.requests.count)
        count("requests failed", switches.state.withLock { $0.failed })
        // One that is ended as soon as it was started has not yet said what a signal means.
        for outcome in try await fleet.endWorkers() where ![128 + 9, 128 + 15].contains(outcome.code) {
            // One that starts while the bucket is gone, or its keys are refused, ends with that.
            let found = outcome.error.contains("there is no such bucket") || outcome.error.contains("denies access")
            #expect(outcome.code == 0 || outcome.code == 4 && found, "seed \(seed): \(outcome.error)")
        }
        // A worker that starts a day later tidies up.
        server.age(by: 86_500)
        // By then lists have what was written last.
        try await Task.sleep(for: .seconds(4))
        try await keepWorkers(1, mayDie: false)
        let isTidy = try await eventually { [server] in
            server.objects.keys.allSatisfy { !$0.hasPrefix("reel/") || BucketChaos.stays($0) }
                && server.uploads.allSatisfy { !$0.hasPrefix("reel/") }
        }
        #expect(isTidy, "seed \(seed): \(server.objects.keys.sorted()), \(server.uploads)")
        let copies = server.objects.filter { $0.key.hasPrefix("reel/work/sources/") && $0.value.count > 1 << 20 }
        #expect(copies.isEmpty, "seed \(seed): \(copies.keys)")
    }

    /// Whether an object of the store stays when all jobs are done.
    private static func stays(_ name: String) -> Bool {
        let record = /jobs\/[0-9a-f]+\/(job\.json|plan\.[0-9]+\.json|output\.mov|attempts\/.+)/
        return name.wholeMatch(of: /reel\/work\/(store\.json|trial|sources\/.+)/) != nil
            || (try? record.wholeMatch(in: name.dropFirst("reel/work/".count))) != nil
    }
}

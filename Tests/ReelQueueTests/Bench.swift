import ReelCore
import ReelQueue
import Testing

/// All tests that share the one Redis: one after another.
@Suite(.serialized) enum BoardTests {}

/// An empty board, and what tests do with one all the time.
struct Bench {
    static let server = Result { try RedisServer() }

    let server: RedisServer
    let raw: RawRedis
    let board: Board

    init() throws {
        server = try Bench.server.get()
        raw = try RawRedis(socket: server.socket)
        try raw("FLUSHALL")
        board = try Bench.open(server)
    }

    /// The same with a Redis that is there, whatever it holds.
    init(_ server: RedisServer, raw: RawRedis, board: Board) {
        (self.server, self.raw, self.board) = (server, raw, board)
    }

    static func open(_ server: RedisServer, timing: BoardTiming = BoardTiming()) throws -> Board {
        Board(try RedisAddress(server.url), name: "test", timing: timing)
    }

    /// A board for which Redis has run long enough to reap.
    func reaper() throws -> Board {
        try server.waitUntilReapable()
        return try Bench.open(server, timing: BoardTiming(lease: .milliseconds(1)))
    }

    static func job(
        _ id: String = "a1", passes: Int = 3, need: Int64 = 100, encoders: [String] = ["libx264 1"],
        protocolVersion: Int = 1, weight: Double = 1, framesEach: Int = 10
    ) -> PublishedJob {
        PublishedJob(
            id: JobID(id), source: "film.mkv", frames: passes * framesEach, passCount: passes, need: need,
            encoders: encoders, protocolVersion: protocolVersion, weight: weight, warnings: ["kept"])
    }

    static func passes(_ count: Int) -> [Pass] {
        (0..<count).map { index in
            let start = (count - 1 - index) * 10
            return .video(VideoPass(randomAccessPoint: index, frames: start..<start + 10, runCount: 1))
        }
    }

    @discardableResult
    func publish(_ job: PublishedJob = Bench.job()) async throws -> Published {
        try await board.publish(job, passes: Bench.passes(job.passCount))
    }

    static func offer(
        _ worker: String = "w1", memory: Int64 = 1000, encoders: [String] = ["libx264 1", "aac 2"],
        protocolVersion: Int = 1
    ) -> WorkerOffer {
        WorkerOffer(
            worker: WorkerID(worker), memoryFree: memory, encoders: encoders, protocolVersion: protocolVersion)
    }

    func claim(_ worker: String = "w1") async throws -> Claim? { try await board.claim(Bench.offer(worker)) }

    /// Claims a pass that must be there.
    func take(_ worker: String = "w1") async throws -> Claim { try #require(try await claim(worker)) }

    /// What can be done now: an assembly that would wait for passes is handed back.
    func claimReady(_ worker: String = "w1") async throws -> Claim? {
        while let claim = try await claim(worker) {
            guard claim.pass == .assembly, try await state(claim.job.text) == .running else { return claim }
            try await board.release(claim)
        }
        return nil
    }

    @discardableResult
    func complete(_ claim: Claim, by worker: String = "w1") async throws -> CompleteAnswer {
        try await board.complete(claim, worker: WorkerID(worker), result: Bench.result(of: claim))
    }

    /// An assembly's is that of one that joins what was made before.
    static func result(of claim: Claim) -> PassResult {
        let peak = 1000 + Int64(claim.index)
        let statistics =
            claim.pass == .assembly
            ? PassStatistics(peakRSS: peak)
            : PassStatistics(framesDecoded: 12, framesEncoded: 10, decodeSeconds: 0.5, peakRSS: peak)
        return PassResult(segments: [], statistics: statistics, warnings: ["from \(claim.token)"])
    }

    @discardableResult
    func fail(
        _ claim: Claim, _ cause: FailureCause, by worker: String = "w1", kind: ReelFailure.Kind = .job,
        message: String = "it broke"
    ) async throws -> FailAnswer {
        try await board.fail(claim, worker: WorkerID(worker), failure: ReelFailure(kind, message, cause: cause))
    }

    @discardableResult
    func beat(
        _ worker: String = "w1", host: String? = nil, memory: Int64 = 4000, holding claims: [Claim] = [],
        encoded: Int = 0, wholeRuns: Int = 0
    ) async throws -> BeatReply {
        try await board.beat(
            WorkerReport(
                worker: WorkerID(worker), host: host ?? "host of \(worker)", slots: 2, memoryTotal: memory,
                encoders: ["libx264 1", "aac 2"], protocolVersion: 1,
                held: claims.map {
                    WorkerReport.Held(
                        job: $0.job, index: $0.index, token: $0.token, decoded: encoded + 1, encoded: encoded,
                        wholeRuns: wholeRuns)
                }))
    }

    func state(_ job: String = "a1") async throws -> JobState? { try await board.status(JobID(job))?.state }

    /// Makes every lease lapse at once.
    func lapse() throws {
        for name in try raw("ZRANGE", "reel:{main}:lease", "0", "-1").split(separator: "\n") {
            try raw("ZADD", "reel:{main}:lease", "1", String(name))
        }
    }

    /// Makes every retry of a job due at once.
    func makeDue(_ job: String = "a1") throws {
        for index in try raw("ZRANGE", "reel:{main}:job:\(job):retry", "0", "-1").split(separator: "\n") {
            try raw("ZADD", "reel:{main}:job:\(job):retry", "1", String(index))
        }
        if try !raw("ZSCORE", "reel:{main}:timer", job).isEmpty { try raw("ZADD", "reel:{main}:timer", "1", job) }
    }

    /// How long a pass has to wait from now on, in seconds by Redis's clock.
    func wait(_ index: Int, job: String = "a1") throws -> Double {
        let clock = try raw("TIME").split(separator: "\n").compactMap { Double($0) }
        let due = try #require(Double(try raw("ZSCORE", "reel:{main}:job:\(job):retry", String(index))))
        return due / 1000 - (clock[0] + clock[1] / 1e6)
    }
}

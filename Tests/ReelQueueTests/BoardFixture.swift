import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

/// All tests that share the one Redis: one after another.
@Suite(.serialized) enum BoardTests {}

/// What putting a job up in one go led to.
enum Put: Sendable {
    case published, lost, cancelled, probing, running, busy
}

extension Begun {
    var claim: Claim? { if case .begun(let claim) = self { claim } else { nil } }
}

extension RedisBoard {
    /// Begins a job and publishes it at once, as one does that has its plan.
    func put(_ job: BoardJob, finished: [Int: RecordedResult] = [:], paused: Bool = false) throws(ReelFailure) -> Put {
        switch try begin(job, holder: WorkerID("c1"), submission: nil) {
        case .probing: return .probing
        case .running: return .running
        case .busy: return .busy
        case .begun(let claim):
            switch try publish(job, finished: finished, claim: claim, paused: paused) {
            case .published: return .published
            case .lost: return .lost
            case .cancelled: return .cancelled
            }
        }
    }
}

extension Departure {
    var removal: Removal? { if case .remove(let removal) = self { removal } else { nil } }
}

/// An empty board, and what tests do with one all the time.
struct BoardFixture {
    static let server = Result { try RedisServer() }

    let server: RedisServer
    let raw: RawRedis
    let board: RedisBoard

    init() throws {
        server = try BoardFixture.server.get()
        raw = try RawRedis(socket: server.socket)
        try raw("FLUSHALL")
        board = try BoardFixture.open(server)
    }

    /// The same with a Redis that is there, whatever it holds.
    init(_ server: RedisServer, raw: RawRedis, board: RedisBoard) {
        (self.server, self.raw, self.board) = (server, raw, board)
    }

    static func open(
        _ server: RedisServer, timing: BoardTiming = BoardTiming(), patience: RedisPatience? = nil
    ) throws -> RedisBoard {
        RedisBoard(try RedisAddress(server.url), name: "test", timing: timing, patience: patience)
    }

    /// A board for which Redis has always run long enough to reap, and which grants no grace.
    func reaper() throws -> RedisBoard {
        try BoardFixture.open(server, timing: BoardTiming(lease: .milliseconds(-1)))
    }

    static func job(
        _ id: String = "a1", passes: Int = 3, audio: Int = 0, need: Int64 = 100, encoders: [String] = ["libx264 1"],
        protocolVersion: Int = 1, weight: Double = 1, framesEach: Int = 10
    ) -> BoardJob {
        BoardJob(
            id: JobID(id), source: "film.mkv", frames: passes * framesEach, passCount: passes, audioPasses: audio,
            need: need, encoders: encoders, protocolVersion: protocolVersion, weight: weight,
            diagnostics: [.said("kept")], plan: 1, planHash: "hash of the plan")
    }

    @discardableResult
    func publish(_ job: BoardJob = BoardFixture.job()) async throws -> Put {
        try await board.put(job)
    }

    /// Makes a job whose probe the caller holds.
    func begin(_ job: BoardJob = BoardFixture.job(), as holder: String = "c1") async throws -> Claim {
        try #require(try await board.begin(job, holder: WorkerID(holder)).claim)
    }

    /// Ends a probe that is held.
    @discardableResult
    func publish(_ job: BoardJob, holding claim: Claim) async throws -> Published {
        try await board.publish(job, claim: claim)
    }

    static func offer(
        _ worker: String = "w1", memory: Int64 = 1000, encoders: [String] = ["libx264 1", "aac 2"],
        protocolVersion: Int = 1
    ) -> WorkerOffer {
        WorkerOffer(
            worker: WorkerID(worker), memoryFree: memory, encoders: encoders, protocolVersion: protocolVersion)
    }

    func claim(_ worker: String = "w1") async throws -> Claim? { try await board.claim(BoardFixture.offer(worker)) }

    /// Claims a pass that must be there.
    func take(_ worker: String = "w1") async throws -> Claim { try #require(try await claim(worker)) }

    /// What can be done now: an assembly that would wait for passes is handed back.
    func claimReady(_ worker: String = "w1") async throws -> Claim? {
        while let claim = try await claim(worker) {
            guard claim.work == .assembly, try await state(claim.job.text) == .running else { return claim }
            try await board.release(claim)
        }
        return nil
    }

    @discardableResult
    func complete(_ claim: Claim, by worker: String = "w1") async throws -> CompleteAnswer {
        try await board.complete(claim, worker: WorkerID(worker), result: BoardFixture.result(of: claim))
    }

    /// An assembly's is that of one that joins what was made before.
    static func result(of claim: Claim) -> PassResult {
        let peak = 1000 + Int64(claim.index)
        let statistics =
            claim.work == .assembly
            ? PassStatistics(peakRSS: peak)
            : PassStatistics(framesDecoded: 12, framesEncoded: 10, decodeSeconds: 0.5, peakRSS: peak)
        return PassResult(
            segments: [], statistics: statistics, diagnostics: [.said("from \(claim.token)")])
    }

    @discardableResult
    func fail(
        _ claim: Claim, _ cause: FailureCause, by worker: String = "w1", message: String = "it broke"
    ) async throws -> FailAnswer {
        try await board.fail(claim, worker: WorkerID(worker), failure: .sample(cause, message))
    }

    /// Takes back the result of the first pass, or of the one that the claim names.
    @discardableResult
    func invalidate(_ claim: Claim, index: Int = 0, token: String, by worker: String = "w1") async throws -> Int {
        try await board.invalidate(
            claim.job, passes: [(index, token)], plan: 1, by: WorkerID(worker), reason: .sample(.transient, "torn"))
    }

    @discardableResult
    func beat(
        _ worker: String = "w1", host: String? = nil, memory: Int64 = 4000, holding claims: [Claim] = [],
        encoded: Int = 0, wholeChunks: Int = 0
    ) async throws -> BeatReply {
        try await board.beat(
            WorkerReport(
                worker: WorkerID(worker), host: host ?? "host of \(worker)", slots: 2, memoryTotal: memory,
                encoders: ["libx264 1", "aac 2"], protocolVersion: 1,
                held: claims.map {
                    WorkerReport.Held(
                        job: $0.job, index: $0.index, token: $0.token, plan: $0.plan, decoded: encoded + 1,
                        encoded: encoded, wholeChunks: wholeChunks)
                }))
    }

    /// As a store or a board has it.
    static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// The figures as they are found by looking at each job, as on a board whose jobs are not all counted.
    static func scannedFigures(_ board: RedisBoard, _ raw: RawRedis) async throws -> BoardFigures {
        let control = "reel2:{main}:control"
        let counted = try raw("HGET", control, "counted")
        try raw("HDEL", control, "counted")
        let figures = try await board.figures()
        if !counted.isEmpty { try raw("HSET", control, "counted", counted) }
        return figures
    }

    func state(_ job: String = "a1") async throws -> JobState? { try await board.status(JobID(job))?.state }

    /// Makes every lease lapse at once.
    func lapse() throws {
        for name in try raw("ZRANGE", "reel2:{main}:lease", "0", "-1").split(separator: "\n") {
            try raw("ZADD", "reel2:{main}:lease", "1", String(name))
        }
    }

    /// Has the only lease lapse, and its pass requeued.
    func lapseOne() async throws {
        try lapse()
        #expect(try await reaper().reap() == 1)
    }

    /// Worker w1 beats on host one, w2 on host two.
    func beatOnTwoHosts() async throws {
        for (worker, host) in [("w1", "one"), ("w2", "two")] { try await beat(worker, host: host) }
    }

    func makeDue(_ job: String = "a1") throws {
        for index in try raw("ZRANGE", "reel2:{main}:job:\(job):retry", "0", "-1").split(separator: "\n") {
            try raw("ZADD", "reel2:{main}:job:\(job):retry", "1", String(index))
            try raw("ZADD", "reel2:{main}:ready", "XX", "1", job)
        }
        if try !raw("ZSCORE", "reel2:{main}:timer", job).isEmpty { try raw("ZADD", "reel2:{main}:timer", "1", job) }
    }

    /// How long a pass has to wait from now on, in seconds by Redis's clock.
    func wait(_ index: Int, job: String = "a1") throws -> Double {
        let clock = try raw("TIME").split(separator: "\n").compactMap { Double($0) }
        let due = try #require(Double(try raw("ZSCORE", "reel2:{main}:job:\(job):retry", String(index))))
        return due / 1000 - (clock[0] + clock[1] / 1e6)
    }
}

extension ReelFailure {
    /// One of a cause; what it says is one of its facts.
    static func sample(_ cause: FailureCause, _ said: String = "it broke") -> ReelFailure {
        switch cause {
        case .transient: ReelFailure(.unexpected(said: said))
        case .crash: ReelFailure(.engineNonsense(place: .idle, nonsense: .noEvent(line: said), lastWords: nil))
        case .lost: ReelFailure(.workerVanished(worker: said))
        case .limit: ReelFailure(.outOfMemory(step: .encode, subject: said))
        case .incompatible: ReelFailure(.encoderMissing(build: said))
        case .noSpace: ReelFailure(.diskFull(path: said))
        case .permanent: ReelFailure(.notMedia(path: said))
        }
    }
}

extension Diagnostic {
    /// One that says this.
    static func said(_ text: String) -> Diagnostic { .languagesLost(container: .mp4, languages: [text]) }
}

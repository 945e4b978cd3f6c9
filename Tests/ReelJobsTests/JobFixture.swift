import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelTestSupport
import Synchronization
import Testing

/// All tests that share the one Redis, one after another.
@Suite(.serialized) enum ServiceTests {}

/// A job service on an empty board and an empty store, and jobs that were planned without an engine.
final class JobFixture {
    private static let server = Result { try RedisServer() }

    let folder: String
    let raw: RawRedis
    let board: any Board
    let store: FolderStore
    let service: JobService
    /// No test reads a source, so there is none.
    let engine = EngineHost(executable: "/nonexistent/reel-engine")

    init() async throws {
        let server = try JobFixture.server.get()
        raw = try RawRedis(socket: server.socket)
        try raw("FLUSHALL")
        folder = NSTemporaryDirectory() + "reel-jobs-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        store = try FolderStore.make(root: folder + "/store")
        let address = try RedisAddress(server.url)
        board = RedisBoard(address, name: "test")
        service = JobService(store: store) { RedisBoard(address, name: "test-service") }
        try await service.join()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A job that was asked for and is nowhere yet, made of a file of its own.
    func job(_ name: String = "clip") throws -> JobRecord {
        let source = "\(folder)/\(name).mp4"
        if !FileManager.default.fileExists(atPath: source) {
            try name.write(toFile: source, atomically: false, encoding: .utf8)
        }
        return try JobRecord(submitting: [source], spec: JobSpec(container: .mkv))
    }

    /// A job that the store holds with a plan of two passes.
    @discardableResult
    func plan(_ job: JobRecord, _ plan: Plan = JobFixture.plan) throws -> Plan {
        let folder = store.job(job.id)
        try folder.create()
        #expect(try folder.create(job))
        return try folder.readPlan(folder.writePlan(plan))
    }

    /// A job that runs, and the passes that workers can claim.
    @discardableResult
    func publish(_ job: JobRecord, _ plan: Plan = JobFixture.plan) async throws -> JobID {
        let stored = try self.plan(job, plan)
        let published = BoardJob(
            id: job.id, source: job.source.path, frames: 20, passCount: plan.passes.count,
            audioPasses: plan.audioPasses, need: 100, encoders: ["libx264 1"], protocolVersion: 1, plan: stored.number,
            planHash: try stored.hash())
        guard case .begun(let claim) = try await board.begin(published, holder: WorkerID("test")) else {
            throw ReelFailure(.probeLost(job: job.id))
        }
        #expect(try await board.publish(published, claim: claim) == .published)
        return job.id
    }

    /// Has a worker claim a pass and fail for good, so that its job fails.
    func fail(_ id: JobID) async throws {
        let claim = try await claim()
        #expect(claim.job == id)
        let failure = ReelFailure(.notMedia(path: "/a/clip.mp4"))
        #expect(try await board.fail(claim, worker: WorkerID("w1"), failure: failure) == .jobFailed)
    }

    /// Claims a pass, or the planning of a job, that must be there.
    func claim(memory: Int64 = 1000, protocolVersion: Int = 1) async throws -> Claim {
        try #require(
            try await board.claim(
                WorkerOffer(
                    worker: WorkerID("w1"), memoryFree: memory, encoders: ["libx264 1"],
                    protocolVersion: protocolVersion)))
    }

    /// A job that is done, with a result in the store, as an assembly leaves it. The board does not know it.
    @discardableResult
    func finish(_ job: JobRecord) throws -> JobID {
        try plan(job)
        let folder = store.job(job.id)
        let assembling = folder.assembling(.mkv, token: "t")
        try JobFixture.output.write(toFile: assembling.name, atomically: false, encoding: .utf8)
        let output = try folder.adoptOutput(
            assembledBy: "t", as: .mkv, bytes: Int64(JobFixture.output.utf8.count), sha256: JobFixture.outputHash)
        let read = try folder.read()
        var record = read
        record.result = output
        record.end(.done, at: read.created + 1)
        #expect(try folder.replace(read, with: record))
        return job.id
    }

    /// What the result of a finished job holds.
    static let output = "reversed"
    static let outputHash = "bc64f64fb479ef52a788d8692101e7002584bbbe005b17c900e4171860f5ab39"

    static let passes: [Pass] = [
        .video(pass: VideoPass(randomAccessPoint: 1, frames: 10..<20, chunkCount: 1)),
        .video(pass: VideoPass(randomAccessPoint: 0, frames: 0..<10, chunkCount: 1)),
    ]

    static let plan = Plan(
        sources: [PlannedSource(indexHash: String(repeating: "ef", count: 32))], encoders: ["libx264 1"],
        container: .mkv,
        clips: [
            Clip(
                frames: 0..<20, timestamps: .mirror,
                map: TimeMap(
                    .backwards, source: TimeBase(1, 25), output: TimeBase(1, 25), start: Timestamp(0),
                    end: Timestamp(20)))
        ],
        video: .encode(
            VideoEncoding(
                encoder: "libx264",
                format: OutputFormat(
                    timeBase: TimeBase(1, 25), width: 2, height: 2, pixelFormat: "yuv420p", frameRate: Rational(25)),
                options: [], bitrate: nil, threads: 1, keyFrameInterval: 250,
                identity: EncoderIdentity(build: "libx264 1", extradataHash: ""))), audio: [], passes: passes,
        need: 100,
        verify: .packets, onDamage: .repeat, diagnostics: [.noTimestamps])
}

/// The reason for which a call fails; nil if it does not.
func reason(_ body: () async throws -> Void) async -> FailureReason? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ReelFailure)?.reason
    }
}

/// Accepts connections and their names, and answers all other commands as a test says.
final class FakeRedis: Sendable {
    private let folder: URL
    private let listener: Int32

    var url: String { "unix://\(folder.path)/s" }

    /// - Parameter answer: what Redis sends for the words of a command, in its protocol.
    init(answering answer: @escaping @Sendable ([String]) -> String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("reel-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(folder.path)/s".utf8)
        try #require(listener >= 0 && path.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 4) == 0)
        Thread {
            // A client whose connection breaks connects anew.
            while case let client = accept(listener, nil, nil), client >= 0 {
                defer { close(client) }
                var buffer = [UInt8](repeating: 0, count: 1 << 18)
                while case let count = recv(client, &buffer, buffer.count, 0), count > 0 {
                    // Only the first piece of a command begins with an asterisk.
                    guard buffer[0] == UInt8(ascii: "*") else { continue }
                    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\r\n")
                    // *2, then a length and a word for each.
                    let words = lines.indices.filter { $0 > 0 && $0 % 2 == 0 }.map { String(lines[$0]) }
                    let reply = Array((words.contains("SETNAME") ? "+OK\r\n" : answer(words)).utf8)
                    _ = send(client, reply, reply.count, Int32(MSG_NOSIGNAL))
                }
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A count that several threads raise.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var now: Int { value.load(ordering: .relaxed) }

    @discardableResult
    func count() -> Int { value.add(1, ordering: .relaxed).newValue }
}

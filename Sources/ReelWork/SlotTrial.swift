internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelStore

/// A clip of the worker's own, done by an engine of this machine, far from any job: whether decoder and encoder work here.
struct SlotTrial: Sendable {
    let engine: EngineHost

    private static let frames = 12
    private static let (width, height) = (64, 48)

    /// Makes the clip, and has an engine read, plan and reverse it. Throws what goes wrong.
    func run() async throws(ReelFailure) {
        let folder = try PrivateFolder()
        let clip = folder.path + "/clip.y4m"
        guard FileManager.default.createFile(atPath: clip, contents: Data(SlotTrial.clip)) else {
            throw ReelFailure(.folderUnwritable(path: folder.path, errno: nil))
        }
        // With a number of frames for each pass the frames are encoded; else their packets would be copied.
        let spec = JobSpec(container: .mkv, passFrames: SlotTrial.frames)
        let probe = Probe(
            store: try Store.make(root: folder.path + "/store"), engine: engine,
            capacity: Capacity(slots: 1, memoryTotal: 1 << 30, isLimit: false))
        let job = try await probe.planAlone(JobRecord(submitting: clip, spec: spec), anew: true)
        let files = JobFiles(
            sources: try probe.store.indexes(of: job.plan, job.record).map { SourceFiles(source: clip, index: $0) },
            plan: job.folder.plan(job.plan.number))
        let request = EngineRequest.reverse(
            PassRequest(
                job: files, pass: 0, chunks: 1, segments: job.folder.segments, token: "0", finishedChunks: [],
                scratch: folder.path))
        let answer = try await ReelFailure.unifying {
            try await engine.withEngine(memory: job.plan.need + job.plan.reservedAddresses) { session in
                try await session.perform(request)
            }
        }
        guard case .pass(let result) = answer, result.segments.reduce(0, { $0 + $1.frames }) == SlotTrial.frames else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
    }

    /// Frames that each look otherwise, in YUV4MPEG2, which is a line of text before the samples of each frame.
    private static var clip: [UInt8] {
        var bytes = Array("YUV4MPEG2 W\(width) H\(height) F24000:1001 Ip A1:1 C420jpeg\n".utf8)
        for frame in 0..<frames {
            bytes += Array("FRAME\n".utf8)
            bytes += (0..<width * height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* (frame + 3) + $0 / width) }
        }
        return bytes
    }
}

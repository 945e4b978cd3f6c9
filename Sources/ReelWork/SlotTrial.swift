internal import Foundation
package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelStore

/// Has an engine of this machine reverse a clip of the worker's own: it shows whether decoder and encoder work here.
package struct SlotTrial: Sendable {
    private let engines: any EngineRunner

    package init(_ engines: any EngineRunner) { self.engines = engines }

    private static let frames = 12
    private static let (width, height) = (64, 48)

    /// Makes the clip, and has engines read, plan and reverse it. Throws what goes wrong.
    package func run() async throws(ReelFailure) {
        let (folder, stored) = (try PrivateFolder(), try PrivateFolder())
        defer { withExtendedLifetime((folder, stored)) {} }
        let clip = folder.path + "/clip.y4m"
        guard FileManager.default.createFile(atPath: clip, contents: Data(SlotTrial.clip)) else {
            throw ReelFailure(.folderUnwritable(path: folder.path, errno: nil))
        }
        // The frames of each pass are given, so that the clip is encoded; otherwise its packets would be copied.
        let spec = JobSpec(container: .mkv, passFrames: SlotTrial.frames)
        let planning = Planning(
            store: try FolderStore.make(root: stored.path), engine: engines,
            capacity: Capacity(slots: 1, memoryTotal: 1 << 30, isLimit: false))
        let job = try await planning.planAlone(JobRecord(submitting: [clip], spec: spec), anew: true)
        let files = await JobFiles(
            sources: try planning.store.indexes(of: job.plan, job.record).map {
                SourceFiles(source: .file(clip), index: $0)
            },
            plan: job.entry.plan(job.plan.number))
        let request = EngineRequest.reverse(
            PassRequest(
                job: files, pass: 0,
                segments: job.plan.subjects(of: job.plan.passes[0]).map {
                    job.entry.place(of: SegmentName(subject: $0, token: "0"))
                }, scratch: folder.path))
        let answer = try await ReelFailure.unifying {
            let scope = EngineScope(
                sources: [], reads: files.sources.map(\.index) + [files.plan],
                folders: try await job.entry.engineFolders() + [.file(folder.path)])
            return try await engines.withEngine(
                memory: job.plan.need + job.plan.reservedAddresses, scope: scope
            ) { engine in
                try await engine.perform(request)
            }
        }
        guard case .pass(let result) = answer, result.segments.reduce(0, { $0 + $1.frames }) == SlotTrial.frames else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
    }

    /// Frames that all look different, in YUV4MPEG2: a line of text before the samples of each frame.
    private static var clip: [UInt8] {
        var bytes = Array("YUV4MPEG2 W\(width) H\(height) F24000:1001 Ip A1:1 C420jpeg\n".utf8)
        for frame in 0..<frames {
            bytes += Array("FRAME\n".utf8)
            bytes += (0..<width * height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* (frame + 3) + $0 / width) }
        }
        return bytes
    }
}

/// Whether a slot's engines still work. A bad job crashes engines on every machine, a bad machine those of every job. A
/// slot whose engines crash in several jobs in a row, without finishing a pass, may use up attempts of more jobs. So it
/// claims nothing until an engine has done the worker's own clip.
package struct SlotHealth {
    /// Crashes in this many jobs in a row stop a slot.
    package static let jobsInARow = 3

    private var crashed: Set<JobID> = []
    /// Jobs in which engines crashed before the slot's engine did the clip: those jobs were at fault.
    private var blamed: Set<JobID> = []
    /// How often an engine was given the clip since a pass was last finished.
    private var trials = 0

    package init() {}

    /// How long to wait before an engine is given the clip; nil if the slot may claim. The first trial comes at once,
    /// since most crashes are a bad job's, the next after a minute, then after twice the time, at most 30 minutes.
    package var pauseBeforeTrial: Duration? {
        guard crashed.count >= SlotHealth.jobsInARow else { return nil }
        return trials == 0 ? .zero : .seconds(min(60 << min(trials - 1, 5), 1800))
    }

    package mutating func passFinished() {
        crashed = []
        trials = 0
    }

    /// An engine crashed in a job, and no other host is known to crash at the same place.
    package mutating func engineCrashed(in job: JobID) {
        if !blamed.contains(job) { crashed.insert(job) }
    }

    package mutating func tried(succeeded: Bool) {
        trials += 1
        guard succeeded else { return }
        blamed = blamed.count < 1000 ? blamed.union(crashed) : crashed
        crashed = []
    }
}

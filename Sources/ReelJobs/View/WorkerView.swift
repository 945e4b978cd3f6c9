package import ReelCore
package import ReelQueue

/// A worker as `--json` shows it. Documented in docs/json.md; names only ever get added.
package struct WorkerView: Codable, Hashable, Sendable {
    /// The worker's id.
    package var id: String
    /// The name of its host.
    package var host: String
    /// Passes that it can hold at once.
    package var slots: Int
    /// How many of its slots claim no more, because engines kept crashing there.
    package var slotsOut: Int
    /// Bytes of memory that its passes may take together.
    package var memoryTotal: Int64
    /// Its release; missing if that is too old to say, and so are the two that follow.
    package var version: String?
    /// The store in which it works, as it names it.
    package var store: String?
    /// Seconds since its start, as of its last beat.
    package var uptime: Double?
    /// Seconds since its last beat.
    package var beatAge: Double
    /// Its last beat is older than a lease.
    package var gone: Bool
    /// It claims nothing: a user has drained it or its host.
    package var draining: Bool
    /// What a user has drained, "worker" or "host"; missing if neither.
    package var drained: DrainScope?
    /// How its engines are confined; missing if its release is too old to say.
    package var sandbox: SandboxState?
    /// The folders from which it takes sources; missing if it takes any.
    package var sourceRoots: [String]?
    /// Why it does less than it could, in words.
    package var notes: [String]
    /// Why it does less than it could, as codes with their facts.
    package var diagnostics: [DiagnosticView]
    /// The passes that it holds.
    package var passes: [HoldView]

    /// A pass that a worker holds.
    package struct HoldView: Codable, Hashable, Sendable {
        /// The id of the pass's job.
        package var job: String
        /// The pass's place in the plan.
        package var pass: Int
        /// Frames decoded so far.
        package var framesDecoded: Int
        /// Frames encoded so far.
        package var framesEncoded: Int
        /// Frames of video that the pass makes; missing for anything but video.
        package var frames: Int?
        /// "video", "audio", "probe" or "assembly"; missing if the board does not know it.
        package var kind: String?
        /// Seconds since it was claimed; missing if the board does not know it.
        package var seconds: Double?
        /// Frames encoded in a second since then; missing if some chunks were whole before.
        package var framesPerSecond: Double?

        init(_ held: WorkerReport.Held, _ hold: WorkerStatus.Hold?) {
            (job, pass) = (held.job.text, held.index)
            (framesDecoded, framesEncoded) = (held.decoded, held.encoded)
            seconds = hold?.seconds
            kind = hold?.work.rawValue
            guard hold?.work == .video else { return }
            frames = held.frames
            if let seconds, seconds > 0, held.encoded > 0, held.wholeChunks == 0 {
                framesPerSecond = Double(held.encoded) / seconds
            }
        }
    }

    package init(_ status: WorkerStatus) {
        id = status.report.worker.text
        host = status.report.host
        slots = status.report.slots
        slotsOut = status.report.slotsOut
        memoryTotal = status.report.memoryTotal
        (version, store, uptime) = (status.report.version, status.report.store, status.report.uptime)
        beatAge = status.beatAge
        gone = status.isGone
        draining = status.drained != nil
        drained = status.drained
        sandbox = status.report.sandbox
        sourceRoots = status.report.sourceRoots?.folders
        diagnostics = status.report.notes.map(DiagnosticView.init)
        notes = diagnostics.map(\.message)
        passes = status.report.held.sorted { ($0.job.text, $0.index) < ($1.job.text, $1.index) }
            .map { HoldView($0, status.holds[$0.token]) }
    }
}

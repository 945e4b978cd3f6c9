package import ReelCore
package import ReelQueue

/// A worker as `--json` shows it. Documented in docs/json.md; names only ever get added.
package struct WorkerView: Codable, Hashable, Sendable {
    package var id: String
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
    package var diagnostics: [DiagnosticView]
    package var passes: [HoldView]

    package struct HoldView: Codable, Hashable, Sendable {
        package var job: String
        /// The pass's place in the plan.
        package var pass: Int
        package var framesDecoded: Int
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
}

extension WorkerView {
    package init(_ status: WorkerStatus) {
        let (report, diagnostics) = (status.report, status.report.notes.map(DiagnosticView.init))
        self.init(
            id: report.worker.text, host: report.host, slots: report.slots, slotsOut: report.slotsOut,
            memoryTotal: report.memoryTotal, version: report.version, store: report.store, uptime: report.uptime,
            beatAge: status.beatAge, gone: status.isGone, draining: status.drained != nil, drained: status.drained,
            sandbox: report.sandbox, sourceRoots: report.sourceRoots?.folders, notes: diagnostics.map(\.message),
            diagnostics: diagnostics,
            passes: report.held.sorted { ($0.job.text, $0.index) < ($1.job.text, $1.index) }
                .map { HoldView($0, status.holds[$0.token]) })
    }
}

package import ReelCore
package import ReelQueue

/// A worker as `--json` shows it. Names only ever get added; docs/json.md explains them.
package struct WorkerView: Codable, Hashable, Sendable {
    package var id: String
    package var host: String
    package var slots: Int
    package var slotsOut: Int
    package var memoryTotal: Int64
    package var version: String?
    package var store: String?
    package var uptime: Double?
    package var beatAge: Double
    package var gone: Bool
    package var draining: Bool
    package var drained: DrainScope?
    package var sandbox: SandboxState?
    package var sourceRoots: [String]?
    package var notes: [String]
    package var diagnostics: [DiagnosticView]
    package var passes: [HoldView]

    package struct HoldView: Codable, Hashable, Sendable {
        package var job: String
        package var pass: Int
        package var framesDecoded: Int
        package var framesEncoded: Int
        package var frames: Int?
        package var kind: String?
        package var seconds: Double?
        /// Missing, too, if some chunks were whole when it was claimed.
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

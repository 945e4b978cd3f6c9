internal import ReelCore
public import ReelJobs
internal import ReelQueue
internal import ReelWords

/// The output of `workers`.
public enum WorkerText {
    /// A line for each worker, then its notes and its passes; at the end the drained hosts that have no worker.
    public static func lines(_ views: [WorkerView], drainedHosts: [String] = []) -> [ScreenLine] {
        let workers = views.flatMap { view -> [ScreenLine] in
            let notes = view.notes.map { ScreenLine("  \($0)", .bad) }
            // The passes of a worker that is gone are others' by now, or their jobs have ended.
            let passes = view.gone ? [] : view.passes.map(line)
            return [head(view)] + process(view) + sandbox(view) + roots(view) + notes + passes
        }
        let idle = drainedHosts.filter { host in !views.contains { $0.host == host } }
        return (views.isEmpty ? [ScreenLine(WaitReason.noWorker.description)] : workers)
            + idle.map { ScreenLine("host \($0) is drained, and no worker is there", .busy) }
    }

    private static func head(_ view: WorkerView) -> ScreenLine {
        let out = view.slotsOut > 0 ? ", \(view.slotsOut) out of work" : ""
        let facts =
            "  \(view.host)  \(view.passes.count)/\(view.slots) slots\(out)  \(ByteSize(bytes: view.memoryTotal))  "
            + "beat \(Int(view.beatAge.rounded())) s ago"
        return ScreenLine(view.id, .strong) + ScreenLine(facts)
            + (view.gone ? ScreenLine("  gone", .bad) : ScreenLine())
            + (view.drained.map { ScreenLine($0 == .host ? "  host drained" : "  drained", .busy) } ?? ScreenLine())
    }

    private static func process(_ view: WorkerView) -> [ScreenLine] {
        guard let version = view.version, let store = view.store, let uptime = view.uptime else { return [] }
        return [ScreenLine("  release \(version), up for \(Figures.age(uptime)), store \(store)", .faint)]
    }

    private static func sandbox(_ view: WorkerView) -> [ScreenLine] {
        view.sandbox.map { [ScreenLine("  \($0.words)", $0.missing.isEmpty ? .faint : .bad)] } ?? []
    }

    private static func roots(_ view: WorkerView) -> [ScreenLine] {
        view.sourceRoots.map { [ScreenLine("  sources from \($0.joined(separator: ", "))", .faint)] } ?? []
    }

    private static func line(_ pass: WorkerView.PassView) -> ScreenLine {
        let what =
            switch pass.kind {
            case "assembly"?: "assembly"
            case "probe"?: "probe"
            case "audio"?: "pass \(pass.pass), audio"
            default: "pass \(pass.pass), \(pass.framesEncoded)" + (pass.frames.map { "/\($0)" } ?? "") + " frames"
            }
        let speed = pass.framesPerSecond.map { ", \(Figures.speed($0))" } ?? ""
        let time = pass.seconds.map { ", for \(ClockTime.text(seconds: $0))" } ?? ""
        return ScreenLine("  \(pass.job)  ", .faint) + ScreenLine(what + speed + time, .busy)
    }
}

internal import ReelCore
public import ReelJobs
internal import ReelWords

/// The output of `workers`.
public enum WorkerText {
    /// A line for each worker, then its notes and its passes.
    public static func lines(_ views: [WorkerView]) -> [ScreenLine] {
        guard !views.isEmpty else {
            return [ScreenLine(WaitReason.noWorker.description)]
        }
        return views.flatMap { view -> [ScreenLine] in
            let notes = view.notes.map { ScreenLine("  \($0)", .bad) }
            return [head(view)] + sandbox(view) + roots(view) + notes + view.passes.map(line)
        }
    }

    private static func head(_ view: WorkerView) -> ScreenLine {
        let out = view.slotsOut > 0 ? ", \(view.slotsOut) out of work" : ""
        let facts =
            "  \(view.host)  \(view.passes.count)/\(view.slots) slots\(out)  \(ByteSize(bytes: view.memoryTotal))  "
            + "beat \(Int(view.beatAge.rounded())) s ago"
        return ScreenLine(view.id, .strong) + ScreenLine(facts)
            + (view.gone ? ScreenLine("  gone", .bad) : ScreenLine())
            + (view.draining ? ScreenLine("  draining", .busy) : ScreenLine())
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

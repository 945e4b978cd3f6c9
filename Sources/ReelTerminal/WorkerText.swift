internal import ReelCore
package import ReelJobs
internal import ReelQueue
internal import ReelWords

package enum WorkerText {
    /// A line for each worker, then its notes and its passes; at the end the drained hosts that have no worker.
    package static func lines(_ views: [WorkerView], drainedHosts: [String] = [], on canvas: Canvas) -> [ScreenLine] {
        let workers = views.flatMap { view -> [ScreenLine] in
            // The passes of a worker that is gone are others' by now, or their jobs have ended.
            let passes = view.gone ? [] : view.passes
            return head(view, on: canvas)
                + notes(view).flatMap { ScreenLine("  ").followed(by: $0, style: $1, on: canvas) }
                + passes.flatMap {
                    ScreenLine("  \($0.job)  ", .faint).followed(by: words($0), style: .busy, on: canvas)
                }
        }
        let idle = drainedHosts.filter { host in !views.contains { $0.host == host } }
        return (views.isEmpty ? [ScreenLine(WaitReason.noWorker.description)] : workers)
            + idle.flatMap {
                ScreenLine().followed(by: "host \($0) is drained, and no worker is there", style: .busy, on: canvas)
            }
    }

    /// The worker with its state, and other facts about it; on a narrow screen these go below.
    private static func head(_ view: WorkerView, on canvas: Canvas) -> [ScreenLine] {
        let out = view.slotsOut > 0 ? ", \(view.slotsOut) out of work" : ""
        let facts =
            "\(view.host)  \(view.passes.count)/\(view.slots) slots\(out)  \(ByteSize(bytes: view.memoryTotal))  "
            + "beat \(Int(view.beatAge.rounded())) s ago"
        let state =
            (view.gone ? ScreenLine("  gone", .bad) : ScreenLine())
            + (view.drained.map { ScreenLine($0 == .host ? "  host drained" : "  drained", .busy) } ?? ScreenLine())
        let (name, whole) = (ScreenLine(view.id, .strong), ScreenLine("  " + facts))
        if !canvas.isTerminal || name.width + whole.width + state.width <= canvas.columns {
            return [name + whole + state]
        }
        return [name + state] + ScreenLine("  ").followed(by: facts, on: canvas)
    }

    private static func notes(_ view: WorkerView) -> [(String, ScreenLine.Style)] {
        var notes: [(String, ScreenLine.Style)] = []
        if let version = view.version, let store = view.store, let uptime = view.uptime {
            notes.append(("release \(version), up for \(Figures.age(uptime)), store \(store)", .faint))
        }
        if let sandbox = view.sandbox { notes.append((sandbox.words, sandbox.missing.isEmpty ? .faint : .bad)) }
        if let roots = view.sourceRoots { notes.append(("sources from \(roots.joined(separator: ", "))", .faint)) }
        return notes + view.notes.map { ("\($0)", .bad) }
    }

    private static func words(_ pass: WorkerView.HoldView) -> String {
        let what =
            switch pass.kind {
            case "assembly"?: "assembly"
            case "probe"?: "probe"
            case "audio"?: "pass \(pass.pass), audio"
            default: "pass \(pass.pass), \(pass.framesEncoded)" + (pass.frames.map { "/\($0)" } ?? "") + " frames"
            }
        let speed = pass.framesPerSecond.map { ", \(Figures.speed($0))" } ?? ""
        let time = pass.seconds.map { ", for \(ClockTime.text(seconds: $0))" } ?? ""
        return what + speed + time
    }
}

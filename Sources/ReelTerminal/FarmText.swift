internal import ReelCore
package import ReelJobs
package import ReelQueue
internal import ReelWords

package enum QueueText {
    /// Totals, jobs that cannot be read, then as many jobs as the canvas has rows for.
    ///
    /// - Parameters:
    ///   - strips: by job id.
    ///   - now: seconds since 1970, from which ages are counted.
    package static func lines(
        _ view: QueueView, strips: [String: PassStrip], at now: Double, as list: ListState = ListState(),
        on canvas: Canvas
    ) -> [ScreenLine] {
        let totals = totals(view, on: canvas) + view.unreadable.flatMap { unreadable($0.id, $0.reason, on: canvas) }
        guard !view.jobs.isEmpty else { return totals + [ScreenLine("no job waits or runs")] }
        let jobs = list.sorted(view.jobs)
        let counts = jobs.map(Figures.passes)
        let broad = counts.map(\.count).max() ?? 0
        // The strip stands beside the counts if enough columns are left for it, otherwise on a line of its own.
        let beside = canvas.columns - broad - 4 >= 20
        let width = beside ? min(canvas.columns - broad - 4, 100) : max(canvas.columns - 2, 1)
        let table = JobTable.of(jobs, at: now, on: canvas)
        let blocks = zip(zip(jobs, table.rows), counts).map { entry, count in
            let (job, head) = entry
            let strip = strips[job.id].map { StripText.line($0, width: width, on: canvas) } ?? ScreenLine()
            let below =
                beside
                ? [ScreenLine("  ") + strip + ScreenLine("  " + count)]
                : [ScreenLine("  ") + strip, ScreenLine("  " + count)]
            return [list.line(head, of: job)] + below + JobTable.reasons(job, on: canvas)
        }
        let legend = canvas.rows ?? .max < 16 ? [] : [ScreenLine(), StripText.legend(on: canvas)]
        let room = canvas.rows.map { $0 - totals.count - 2 - legend.count - 1 }
        let shown = fitting(blocks, room)
        let hidden = max(view.active + view.failed - view.unreadable.count - shown.count, 0)
        return totals + [ScreenLine(), table.head] + shown.joined()
            + (hidden > 0 ? [ScreenLine(hidden == 1 ? "1 job more" : "\(hidden) jobs more", .faint)] : []) + legend
    }

    private static func totals(_ view: QueueView, on canvas: Canvas) -> [ScreenLine] {
        let wait = view.oldestWait.map { ", oldest wait \(ClockTime.text(seconds: $0))" } ?? ""
        let eta = view.eta.map { ", ETA \(ClockTime.text(seconds: $0))" } ?? ""
        let passes = (view.passesPerSecond * 600).rounded() / 10
        return ScreenLine("\(Wording.count(view.active, "job")) active, \(view.failed) failed; ", .strong).followed(
            by: "\(Wording.count(view.workers, "worker")), \(view.slotsBusy) of "
                + "\(Wording.count(view.slots, "slot")) busy", on: canvas)
            + ScreenLine("passes: ").followed(
                by: "\(view.ready) ready, \(view.inFlight) in flight, \(view.retrying) retrying, "
                    + "\(view.exhausted) exhausted" + wait, on: canvas)
            + ScreenLine("last minute: ").followed(
                by: "\(Figures.speed(view.framesPerSecond)), \(passes) passes a minute" + eta, on: canvas)
    }

    static func unreadable(_ id: String, _ reason: String, on canvas: Canvas) -> [ScreenLine] {
        ScreenLine(id + "  cannot be read: ", .bad).followed(by: reason, on: canvas)
    }

    private static func fitting(_ blocks: [[ScreenLine]], _ rows: Int?) -> [[ScreenLine]] {
        guard var rows else { return blocks }
        return Array(
            blocks.prefix { block in
                rows -= block.count
                return rows >= 0
            })
    }
}

/// A job's passes as a row of characters.
package enum StripText {
    private enum Mark: CaseIterable {
        case done, running, waiting, failed

        var style: ScreenLine.Style {
            switch self {
            case .done: .good
            case .running: .busy
            case .waiting: .faint
            case .failed: .bad
            }
        }

        func character(_ canvas: Canvas) -> Character {
            switch self {
            case .done: canvas.hasBlocks ? "█" : "#"
            case .running: canvas.hasBlocks ? "▒" : ">"
            case .waiting: canvas.hasBlocks ? "·" : "."
            case .failed: canvas.hasBlocks ? "×" : "!"
            }
        }

        /// The mark of a cell of several passes: failed before running, running before waiting, and done if all are
        /// done.
        init(_ cell: PassStrip.Cell) {
            self = cell.failed > 0 ? .failed : cell.live > 0 ? .running : cell.done < cell.passes ? .waiting : .done
        }
    }

    /// The strip in `width` characters, each for a share of the passes.
    package static func line(_ strip: PassStrip, width: Int, on canvas: Canvas) -> ScreenLine {
        let count = strip.cells.count
        guard count > 0, width > 0 else { return ScreenLine() }
        let marks = (0..<width).map { column in
            let first = column * count / width
            let past = max((column + 1) * count / width, first + 1)
            return Mark(strip.cells[first..<past].reduce(into: PassStrip.Cell(passes: 0)) { $0.add($1) })
        }
        return marks.chunked().reduce(ScreenLine()) { line, run in
            line + ScreenLine(String(repeating: run.mark.character(canvas), count: run.count), run.mark.style)
        }
    }

    package static func legend(on canvas: Canvas) -> ScreenLine {
        let marks = Mark.allCases.reduce(ScreenLine()) { line, mark in
            line + ScreenLine(String(mark.character(canvas)), mark.style) + ScreenLine(" \(mark)  ", .faint)
        }
        return marks + ScreenLine("(passes in the order in which they are given out)", .faint)
    }
}

extension PassStrip.Cell {
    fileprivate mutating func add(_ other: PassStrip.Cell) {
        passes += other.passes
        done += other.done
        live += other.live
        failed += other.failed
    }
}

extension Collection where Element: Equatable {
    /// Runs of equal neighbours, with their lengths.
    fileprivate func chunked() -> [(mark: Element, count: Int)] {
        reduce(into: []) { runs, mark in
            if let last = runs.last, last.mark == mark {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((mark, 1))
            }
        }
    }
}

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
            case "assembly"?: "assembly" + (pass.assembled.map { ", \(Figures.percent($0))" } ?? "")
            case "probe"?: "probe"
            case "audio"?: "pass \(pass.pass), audio"
            default: "pass \(pass.pass), \(pass.framesEncoded)" + (pass.frames.map { "/\($0)" } ?? "") + " frames"
            }
        let speed = pass.framesPerSecond.map { ", \(Figures.speed($0))" } ?? ""
        let time = pass.seconds.map { ", for \(ClockTime.text(seconds: $0))" } ?? ""
        return what + speed + time
    }
}

package import ReelQueue

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

        /// The mark of a cell of several passes: failed before running, running before waiting, and done if all are done.
        init(_ cell: PassStrip.Cell) {
            self =
                if cell.failed > 0 { .failed } else if cell.live > 0 { .running } else if cell.done < cell.passes {
                    .waiting
                } else { .done }
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

    /// The legend of the characters.
    package static func legend(on canvas: Canvas) -> ScreenLine {
        let words: [(Mark, String)] = [
            (.done, "done"), (.running, "running"), (.waiting, "waiting"), (.failed, "failed"),
        ]
        let marks = words.reduce(ScreenLine()) { line, word in
            line + ScreenLine(String(word.0.character(canvas)), word.0.style) + ScreenLine(" \(word.1)  ", .faint)
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

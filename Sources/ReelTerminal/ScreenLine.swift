internal import ReelWords

/// A line on a screen: pieces of text, each in a style. The text is made legible, so it cannot move the cursor.
package struct ScreenLine: Hashable, Sendable {
    package enum Style: Hashable, Sendable {
        case plain, strong, faint
        /// For finished, active and failed things.
        case good, busy, bad

        /// The parameter of "select graphic rendition" (ECMA-48); nil for plain text.
        fileprivate var code: String? {
            switch self {
            case .plain: nil
            case .strong: "1"
            case .faint: "2"
            case .good: "32"
            case .busy: "33"
            case .bad: "1;31"
            }
        }
    }

    private struct Piece: Hashable, Sendable {
        var text: String
        var style: Style
    }

    private var pieces: [Piece]
    private(set) var isChosen = false

    var chosen: ScreenLine {
        var line = self
        line.isChosen = true
        return line
    }

    package init(_ text: String = "", _ style: Style = .plain) {
        pieces = text.isEmpty ? [] : [Piece(text: Legible.line(text), style: style)]
    }

    package static func + (left: ScreenLine, right: ScreenLine) -> ScreenLine {
        var line = left
        line.pieces += right.pieces
        return line
    }

    /// The line with a text after it. If the canvas has limited rows and the text does not fit, it is wrapped and
    /// indented to where it began, between words, and within words that are longer than a row. Where that leaves little
    /// room, it stands below.
    func followed(by text: String, style: Style = .plain, on canvas: Canvas) -> [ScreenLine] {
        let room = canvas.columns - width
        let indentation = ScreenLine("  ")
        guard canvas.rows != nil, room < Legible.line(text).count, room >= 20 || width > indentation.width else {
            return [self + ScreenLine(text, style)]
        }
        guard room >= 20 else { return [self] + indentation.followed(by: text, style: style, on: canvas) }
        var rows = [""]
        for var word in Legible.line(text).split(separator: " ", omittingEmptySubsequences: false) {
            let row = rows[rows.count - 1]
            if !row.isEmpty, row.count + 1 + word.count <= room {
                rows[rows.count - 1] = row + " " + word
                continue
            }
            if !row.isEmpty {
                // Two spaces between words may end a row.
                while rows[rows.count - 1].hasSuffix(" ") { rows[rows.count - 1].removeLast() }
                rows.append("")
            }
            while word.count > room {
                rows[rows.count - 1] = String(word.prefix(room))
                word = word.dropFirst(room)
                rows.append("")
            }
            rows[rows.count - 1] = String(word)
        }
        let indent = ScreenLine(String(repeating: " ", count: width))
        return rows.enumerated().map { ($0 == 0 ? self : indent) + ScreenLine($1, style) }
    }

    func cut(to width: Int) -> ScreenLine {
        var (line, room) = (ScreenLine(), width)
        for piece in pieces where room > 0 {
            let text = piece.text.prefix(room)
            line.pieces.append(Piece(text: String(text), style: piece.style))
            room -= text.count
        }
        return line
    }

    package var text: String { pieces.map(\.text).joined() }

    package var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    /// The line as it is written: styled if the canvas has colour, cut to the canvas's width if its rows are limited.
    package func rendered(on canvas: Canvas) -> String {
        let isLimited = canvas.rows ?? .max < .max
        if isChosen, isLimited {
            let shown = String(text.prefix(canvas.columns))
            return "\u{1B}[7m\(shown)\u{1B}[0m"
        }
        var room = isLimited ? canvas.columns : .max
        return pieces.map { piece in
            let text = piece.text.count <= room ? piece.text : String(piece.text.prefix(room))
            room -= text.count
            guard canvas.hasColour, let code = piece.style.code, !text.isEmpty else { return text }
            return "\u{1B}[\(code)m\(text)\u{1B}[0m"
        }.joined()
    }
}

extension [ScreenLine] {
    /// One screen, to be written over the previous one without flicker: only what the new lines do not cover is
    /// cleared. If there are more lines than rows, the last row says how many more.
    package func painted(on canvas: Canvas) -> String {
        var lines = self
        if let rows = canvas.rows, count > rows {
            lines = prefix(Swift.max(rows - 1, 0)) + [ScreenLine("\(count - rows + 1) lines more", .faint)]
        }
        let (home, clearLine, clearRest) = ("\u{1B}[H", "\u{1B}[K", "\u{1B}[J")
        // After a full line the cursor still stands on the last column, so clearing would erase its character.
        let text = lines.map { $0.rendered(on: canvas) + ($0.width < canvas.columns ? clearLine : "") }
        return home + text.joined(separator: "\r\n") + (lines.count < canvas.rows ?? .max ? "\r\n" + clearRest : "")
    }
}

/// The abilities of the terminal or file that text is written to.
package struct Canvas: Hashable, Sendable {
    package var columns: Int
    /// Height in lines. Nil for unlimited text, which is neither wrapped nor cut off.
    package var rows: Int?
    /// Whether people see it; a file or a pipe takes rows of any width.
    package var isTerminal: Bool
    /// Whether text may be styled with escape sequences.
    package var hasColour: Bool
    /// Whether it shows block characters beyond ASCII, as in strips.
    package var hasBlocks: Bool

    package init(columns: Int, rows: Int?, isTerminal: Bool = true, hasColour: Bool, hasBlocks: Bool) {
        (self.columns, self.rows, self.isTerminal) = (columns, rows, isTerminal)
        (self.hasColour, self.hasBlocks) = (hasColour, hasBlocks)
    }

    /// The same with rows for everything.
    var endless: Canvas {
        var canvas = self
        canvas.rows = .max
        return canvas
    }

    package static let plain = Canvas(columns: 100, rows: nil, isTerminal: false, hasColour: false, hasBlocks: false)

    /// A terminal with this environment: without colour if NO_COLOR is set, without blocks if the locale names a
    /// character set other than UTF-8, without either if TERM is "dumb".
    package static func terminal(columns: Int, environment: [String: String]) -> Canvas {
        guard environment["TERM"] != "dumb" else {
            return Canvas(columns: columns, rows: nil, hasColour: false, hasBlocks: false)
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = locale?.uppercased() ?? "UTF-8"
        return Canvas(
            columns: columns, rows: nil, hasColour: environment["NO_COLOR", default: ""].isEmpty,
            hasBlocks: name.contains("UTF-8") || name.contains("UTF8"))
    }
}

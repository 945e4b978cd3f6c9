internal import ReelWords

/// A line for people: pieces of text, each in a style. What is in the text cannot move the cursor.
public struct ScreenLine: Hashable, Sendable {
    public enum Style: Hashable, Sendable {
        case plain, strong, faint
        /// Finished; under way; gone wrong.
        case good, busy, bad

        /// Of "select graphic rendition" (ECMA-48).
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

    public init(_ text: String = "", _ style: Style = .plain) {
        pieces = text.isEmpty ? [] : [Piece(text: Legible.line(text), style: style)]
    }

    public static func + (left: ScreenLine, right: ScreenLine) -> ScreenLine {
        var line = left
        line.pieces += right.pieces
        return line
    }

    /// The line and a text after it, which goes on below itself where the canvas has an end and the text does not fit.
    func followed(by text: String, style: Style = .plain, on canvas: Canvas) -> [ScreenLine] {
        let room = canvas.columns - width
        guard canvas.rows != nil, room >= 20 else { return [self + ScreenLine(text, style)] }
        var rows = [""]
        for word in Legible.line(text).split(separator: " ", omittingEmptySubsequences: false) {
            let row = rows[rows.count - 1]
            if row.isEmpty {
                rows[rows.count - 1] = String(word)
            } else if row.count + 1 + word.count <= room {
                rows[rows.count - 1] = row + " " + word
            } else {
                rows.append(String(word))
            }
        }
        let indent = ScreenLine(String(repeating: " ", count: width))
        return rows.enumerated().map { ($0 == 0 ? self : indent) + ScreenLine($1, style) }
    }

    /// Without styles.
    public var text: String { pieces.map(\.text).joined() }

    /// In characters.
    public var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    /// As it is written, styled where the canvas shows it, and cut to its width where it has an end.
    public func rendered(on canvas: Canvas) -> String {
        var room = canvas.rows == nil ? Int.max : canvas.columns
        return pieces.map { piece in
            let text = piece.text.count <= room ? piece.text : String(piece.text.prefix(room))
            room -= text.count
            guard canvas.hasColour, let code = piece.style.code, !text.isEmpty else { return text }
            return "\u{1B}[\(code)m\(text)\u{1B}[0m"
        }.joined()
    }
}

extension [ScreenLine] {
    /// One screen, to be written over the one before without a flicker: nothing is cleared but what the new lines do not
    /// cover. Where there are more lines than rows the last row says how many.
    public func painted(on canvas: Canvas) -> String {
        var lines = self
        if let rows = canvas.rows, count > rows {
            lines = prefix(Swift.max(rows - 1, 0)) + [ScreenLine("\(count - rows + 1) lines more", .faint)]
        }
        let (home, clearLine, clearRest) = ("\u{1B}[H", "\u{1B}[K", "\u{1B}[J")
        // After a full line the cursor still stands on its last column, which clearing would take away.
        let text = lines.map { $0.rendered(on: canvas) + ($0.width < canvas.columns ? clearLine : "") }
        return home + text.joined(separator: "\r\n") + (lines.count < canvas.rows ?? .max ? "\r\n" + clearRest : "")
    }
}

/// A line on standard error that is written over again and again, on a terminal whose width may change.
package struct RedrawnLine: Sendable {
    private let console: Console
    /// The characters that the terminal shows of it.
    private var width = 0

    init(on console: Console) { self.console = console }

    /// Writes the line over the one before. The text has no more characters than the terminal has columns.
    mutating func show(_ text: String, columns: Int) {
        console.write(RedrawnLine.erasing(width, columns: columns) + text)
        width = text.count
    }

    /// Takes the line away, so that others can be printed.
    mutating func clear() {
        guard width > 0 else { return }
        console.write(RedrawnLine.erasing(width, columns: console.columns ?? width))
        width = 0
    }

    /// What erases a line of this many characters. A terminal that has become narrower has broken it into several rows.
    package static func erasing(_ width: Int, columns: Int) -> String {
        let above = max(width - 1, 0) / max(columns, 1)
        return (above > 0 ? "\u{1B}[\(above)A" : "") + "\r" + (above > 0 ? "\u{1B}[J" : "\u{1B}[K")
    }
}

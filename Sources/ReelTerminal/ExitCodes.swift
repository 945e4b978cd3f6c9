/// Exit codes and messages of errors that are not a `ReelFailure`.
package enum ExitCodes {
    /// Takes argument-parser's code for wrong usage (EX_USAGE, 64) to 2, and leaves every other code as it is.
    package static func mapped(argumentParser code: Int32) -> Int32 { code == 64 ? 2 : code }

    /// The first line of a message, with the list that follows if it announces one, and without the "Error: " that
    /// argument-parser puts before it: errors are one line.
    package static func line(of message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline)
        let first = lines.first.map(String.init) ?? message
        let line = first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first
        guard line.hasSuffix(":") else { return line }
        let items = lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        return line + " " + items.joined(separator: ", ")
    }
}

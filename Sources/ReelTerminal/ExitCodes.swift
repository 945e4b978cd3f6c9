/// Exit codes and messages of errors that are not a `ReelFailure`.
public enum ExitCodes {
    /// Takes argument-parser's code for wrong usage (EX_USAGE, 64) to 2, and leaves every other code as it is.
    public static func mapped(argumentParser code: Int32) -> Int32 { code == 64 ? 2 : code }

    /// The first line of a message, without the "Error: " that argument-parser puts before it: errors are one line.
    public static func line(of message: String) -> String {
        let first = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? message
        return first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first
    }
}

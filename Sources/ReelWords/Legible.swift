/// Makes text from a file, an engine or Redis safe to show: it can then not move the cursor, colour the terminal,
/// change the direction of the text after it, or begin a line of its own in a log.
package enum Legible {
    /// The text on one line, with each character that acts instead of being shown replaced by its code: `\n`,
    /// `\u{202E}`.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return text.unicodeScalars.map { isHidden($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// The same for a line of JSON, whose strings then have such characters as `\uXXXX`: its meaning stays the same.
    package static func json(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: isHidden) else { return line }
        return line.unicodeScalars.map { scalar in
            guard isHidden(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }

    /// Control characters, line separators, direction marks and the like, and characters without a meaning of their own
    /// (private use, surrogates). The two joiners are excepted, since they are part of words in many languages.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }
}

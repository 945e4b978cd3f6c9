/// What a SHA-256 looks like wherever reel keeps or sends one.
public enum ContentHash {
    /// Whether this is one: 64 digits, hexadecimal, in lower case.
    public static func isOne(_ text: String) -> Bool { text.utf8.count == 64 && isHexadecimal(text) }

    /// Whether this is hexadecimal in lower case, of any length but none.
    public static func isHexadecimal(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return !text.isEmpty && text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
    }
}

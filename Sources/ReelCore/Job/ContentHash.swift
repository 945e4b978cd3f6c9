/// The form of SHA-256 hashes that reel stores or sends.
public enum ContentHash {
    /// Whether the text is such a hash: 64 hexadecimal digits in lower case.
    public static func isOne(_ text: String) -> Bool { text.utf8.count == 64 && isHexadecimal(text) }

    /// Whether the text is hexadecimal in lower case and not empty.
    public static func isHexadecimal(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return !text.isEmpty && text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
    }
}

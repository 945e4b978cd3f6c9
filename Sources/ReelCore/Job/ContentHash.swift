/// The form of SHA-256 hashes that reel stores or sends.
package enum ContentHash {
    /// Whether the text is such a hash: 64 hexadecimal digits in lower case.
    package static func isOne(_ text: String) -> Bool { text.utf8.count == 64 && isHexadecimal(text) }

    /// Whether the text is hexadecimal in lower case and not empty.
    package static func isHexadecimal(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return !text.isEmpty && text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
    }
}

/// Bytes as text, as hashes are stored and sent.
package enum Hexadecimal {
    /// Two digits in lower case for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

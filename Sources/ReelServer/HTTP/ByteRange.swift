/// A range of bytes that a request asks for.
package enum ByteRange: Hashable {
    /// From the first to the last, both included; nil to the end.
    case from(Int64, to: Int64?)
    /// The last bytes, this many.
    case last(Int64)

    /// Nil for what a server may ignore: other units, several ranges, and what is no range.
    package init?(_ header: String) {
        guard let match = header.wholeMatch(of: /(?i:bytes)=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*/) else {
            return nil
        }
        switch (Int64(match.1), Int64(match.2)) {
        case (let first?, let last):
            if let last, last < first { return nil }
            self = .from(first, to: last)
        case (nil, let count?): self = .last(count)
        case (nil, nil): return nil
        }
    }

    /// Those bytes of a file; nil if the file has none of them.
    package func range(of bytes: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < bytes else { return nil }
            return first..<(min(last ?? bytes - 1, bytes - 1) + 1)
        case .last(let count):
            guard count > 0, bytes > 0 else { return nil }
            return max(bytes - count, 0)..<bytes
        }
    }
}

/// The rate of the encoded video, if it has no constant quality.
package enum VideoRate: Hashable, Sendable {
    /// Bits per second, the same in every chunk.
    case constant(Int64)
    /// In every chunk, the rate that the source has for the same frames.
    case source
}

/// Encoded as a number or the word `source`.
extension VideoRate: Codable {
    private static let word = "source"

    /// Throws `DecodingError` for anything but an integer or the word.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let bits = try? container.decode(Int64.self) {
            self = .constant(bits)
        } else if try container.decode(String.self) == VideoRate.word {
            self = .source
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither a rate nor \"source\"")
        }
    }

    /// Encodes a constant rate as a number of bits per second.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .constant(let bits): try container.encode(bits)
        case .source: try container.encode(VideoRate.word)
        }
    }
}

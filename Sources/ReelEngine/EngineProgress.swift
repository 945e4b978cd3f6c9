/// How far an engine is with its current request. The numbers are those since the request began.
package enum EngineProgress: Codable, Hashable, Sendable {
    /// Recon: packets read, and how much of the source's bytes that is, in thousandths.
    case recon(packets: Int, thousandths: Int)
    /// A pass of video: frames decoded and encoded, and the source's frames that are being processed, in presentation
    /// order. If the engine dies, the failure names these.
    case video(decoded: Int, encoded: Int, frames: Range<Int>)
    /// A pass of sound, which goes on.
    case sound
    /// Assembly: packets written or checked, and frames of video written.
    case assembly(packets: Int, frames: Int)

    /// Reads it from JSON. Throws `DecodingError` for numbers outside 0...2^50: an engine reads hostile files.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch container.allKeys.first {
        case .recon:
            let facts = try container.nestedContainer(keyedBy: ReconCodingKeys.self, forKey: .recon)
            self = .recon(packets: try facts.number(.packets), thousandths: try facts.number(.thousandths))
        case .video:
            let facts = try container.nestedContainer(keyedBy: VideoCodingKeys.self, forKey: .video)
            self = .video(
                decoded: try facts.number(.decoded), encoded: try facts.number(.encoded),
                frames: try facts.numbers(.frames))
        case .sound: self = .sound
        case .assembly:
            let facts = try container.nestedContainer(keyedBy: AssemblyCodingKeys.self, forKey: .assembly)
            self = .assembly(packets: try facts.number(.packets), frames: try facts.number(.frames))
        case nil:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no known kind of progress"))
        }
    }

    enum CodingKeys: String, CodingKey {
        case recon, video, sound, assembly
    }

    enum ReconCodingKeys: String, CodingKey {
        case packets, thousandths
    }

    enum VideoCodingKeys: String, CodingKey {
        case decoded, encoded, frames
    }

    enum AssemblyCodingKeys: String, CodingKey {
        case packets, frames
    }
}

extension KeyedDecodingContainer {
    private static var bounds: ClosedRange<Int> { 0...1 << 50 }

    fileprivate func number(_ key: Key) throws -> Int {
        let number = try decode(Int.self, forKey: key)
        guard Self.bounds.contains(number) else { throw outOfRange(key) }
        return number
    }

    fileprivate func numbers(_ key: Key) throws -> Range<Int> {
        let numbers = try decode(Range<Int>.self, forKey: key)
        guard Self.bounds.contains(numbers.lowerBound), Self.bounds.contains(numbers.upperBound) else {
            throw outOfRange(key)
        }
        return numbers
    }

    private func outOfRange(_ key: Key) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "a count is out of range")
    }
}

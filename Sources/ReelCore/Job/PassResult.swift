/// What a finished pass reports to the board.
package struct PassResult: Hashable, Codable, Sendable {
    /// The segments in chunk order; empty for the assembly.
    package var segments: [SegmentRecord]
    package var statistics: PassStatistics
    package var diagnostics: [Diagnostic]

    package init(segments: [SegmentRecord], statistics: PassStatistics, diagnostics: [Diagnostic]) {
        self.segments = segments
        self.statistics = statistics
        self.diagnostics = diagnostics
    }
}

package struct PassStatistics: Hashable, Codable, Sendable {
    /// Frames that came out of the decoder, including discarded ones.
    package var framesDecoded: Int
    package var framesEncoded: Int
    package var decodeSeconds: Double
    package var encodeSeconds: Double
    /// Seconds spent waiting for files.
    package var waitSeconds: Double
    /// The engine's peak resident memory so far, in bytes.
    package var peakRSS: Int64
    /// Seconds of CPU time that the engine took, as its worker saw it.
    package var cpuSeconds: Double
    /// The bytes of an assembly's output; nil for passes.
    package var outputBytes: Int64?

    package init(
        framesDecoded: Int = 0, framesEncoded: Int = 0, decodeSeconds: Double = 0, encodeSeconds: Double = 0,
        waitSeconds: Double = 0, peakRSS: Int64 = 0, cpuSeconds: Double = 0, outputBytes: Int64? = nil
    ) {
        self.framesDecoded = framesDecoded
        self.framesEncoded = framesEncoded
        self.decodeSeconds = decodeSeconds
        self.encodeSeconds = encodeSeconds
        self.waitSeconds = waitSeconds
        self.peakRSS = peakRSS
        self.cpuSeconds = cpuSeconds
        self.outputBytes = outputBytes
    }

    /// Rejects numbers that cannot be added up: negative, too large, or not finite.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        framesDecoded = try container.decode(Int.self, forKey: .framesDecoded)
        framesEncoded = try container.decode(Int.self, forKey: .framesEncoded)
        decodeSeconds = try container.decode(Double.self, forKey: .decodeSeconds)
        encodeSeconds = try container.decode(Double.self, forKey: .encodeSeconds)
        waitSeconds = try container.decode(Double.self, forKey: .waitSeconds)
        peakRSS = try container.decode(Int64.self, forKey: .peakRSS)
        cpuSeconds = try container.decodeIfPresent(Double.self, forKey: .cpuSeconds) ?? 0
        outputBytes = try container.decodeIfPresent(Int64.self, forKey: .outputBytes)
        let counts = [Int64(framesDecoded), Int64(framesEncoded), peakRSS, outputBytes ?? 0]
        let seconds = [decodeSeconds, encodeSeconds, waitSeconds, cpuSeconds]
        guard counts.allSatisfy({ (0...1 << 50).contains($0) }), seconds.allSatisfy({ (0...0x1p40).contains($0) })
        else { throw decoder.impossible("the cost of the pass is out of range") }
    }
}

/// The record beside a segment file, named `SegmentName.recordName`. It is written last: if it exists, the segment is
/// whole.
package struct SegmentRecord: Hashable, Codable, Sendable {
    /// The format version. It grows when the meaning of a record, or of its segment, changes. Records of other
    /// versions are ignored.
    package static let version = 3

    package var version: Int
    package var name: SegmentName
    package var content: SegmentContent
    /// Frames of video, or audible samples per channel of audio.
    package var frames: Int
    package var packets: Int
    package var bytes: Int64
    /// SHA-256 of the segment file, in hexadecimal.
    package var checksum: String
    package var timeBase: TimeBase
    /// The most packets by which a frame comes later in decode order than in presentation order.
    package var reorderDepth: Int
    /// SHA-256 of the encoder's extradata, in hexadecimal.
    package var extradataHash: String
    /// Audio only: samples of priming before the first audible one.
    package var initialPadding: Int
    /// Audio only: samples at the end of the last packet that are not to be heard.
    package var trailingPadding: Int
    /// Audio only: when the first audible sample is heard on the output's clock, in ticks of `timeBase`; negative if
    /// the sound begins before the first frame.
    package var start: Int64
    /// Diagnostics to report in every job that uses the segment.
    package var diagnostics: [Diagnostic]

    /// - Parameter clip: the index in `Plan.clips` of the clip for which the segment was made.
    package init(
        content: SegmentContent, clip: Int, token: String, frames: Int, packets: Int, bytes: Int64, checksum: String,
        timeBase: TimeBase, reorderDepth: Int, extradataHash: String, initialPadding: Int = 0, trailingPadding: Int = 0,
        start: Int64 = 0, diagnostics: [Diagnostic] = []
    ) {
        version = SegmentRecord.version
        name = SegmentName(subject: SegmentSubject(clip: clip, part: content.part), token: token)
        self.content = content
        self.frames = frames
        self.packets = packets
        self.bytes = bytes
        self.checksum = checksum
        self.timeBase = timeBase
        self.reorderDepth = reorderDepth
        self.extradataHash = extradataHash
        self.initialPadding = initialPadding
        self.trailingPadding = trailingPadding
        self.start = start
        self.diagnostics = diagnostics
    }

    /// Rejects numbers that no segment has: a record comes from a file, or from an engine that has read hostile files.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        name = try container.decode(SegmentName.self, forKey: .name)
        content = try container.decode(SegmentContent.self, forKey: .content)
        frames = try container.decode(Int.self, forKey: .frames)
        packets = try container.decode(Int.self, forKey: .packets)
        bytes = try container.decode(Int64.self, forKey: .bytes)
        checksum = try container.decode(String.self, forKey: .checksum)
        timeBase = try container.decode(TimeBase.self, forKey: .timeBase)
        reorderDepth = try container.decode(Int.self, forKey: .reorderDepth)
        extradataHash = try container.decode(String.self, forKey: .extradataHash)
        initialPadding = try container.decode(Int.self, forKey: .initialPadding)
        trailingPadding = try container.decode(Int.self, forKey: .trailingPadding)
        start = try container.decode(Int64.self, forKey: .start)
        diagnostics = try container.decode([Diagnostic].self, forKey: .diagnostics)
        guard isSound else { throw decoder.impossible("the segment has numbers out of range") }
    }

    private var isSound: Bool {
        let bound = Int(Timestamp.bound)
        // The plan may show only one in several of a chunk's frames, or some of them several times.
        let hasFrames = if case .video = content.part { frames > 0 } else { true }
        let numbers = [frames, packets, initialPadding, trailingPadding].allSatisfy((0...bound).contains)
        let hashes = [checksum, extradataHash, content.times, content.target, content.likeness ?? ""]
            .allSatisfy { $0.utf8.count <= 64 }
        return hasFrames && numbers && hashes && name.subject.part == content.part && content.source >= 0
            && (0...1000).contains(reorderDepth) && bytes >= 0 && isTime(start)
    }
}

/// The place where an engine writes a new segment: first its bytes, then, when they are whole, its record.
package struct SegmentPlace: Hashable, Codable, Sendable {
    package var name: SegmentName
    package var data: Locator
    /// The place of its `SegmentRecord`, as JSON.
    package var record: Locator
    /// True, or missing from the request: an engine that does not know it makes each segment durable, which is no harm.
    private var isPassing: Bool?

    /// Whether both must survive a crash of the machine. Segments that the same engine joins need not.
    package var isDurable: Bool { isPassing != true }

    package init(name: SegmentName, data: Locator, record: Locator, isDurable: Bool = true) {
        self.name = name
        self.data = data
        self.record = record
        isPassing = isDurable ? nil : true
    }
}

/// A segment that is whole, and where an engine reads it.
package struct StoredSegment: Hashable, Codable, Sendable {
    package var record: SegmentRecord
    package var data: Locator

    package init(record: SegmentRecord, data: Locator) {
        self.record = record
        self.data = data
    }
}

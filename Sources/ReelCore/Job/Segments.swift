/// What stands beside a segment file, as `<name>.json`: written last, so where it is, the segment is whole.
public struct SegmentRecord: Hashable, Codable, Sendable {
    /// File name of the segment in the job's segments folder.
    public var name: String
    public var pass: Int
    public var run: Int
    /// Frames of video, or samples per channel of audio, that are to be heard.
    public var frames: Int
    public var packets: Int
    public var bytes: Int64
    /// SHA-256 of the segment file, in hexadecimal.
    public var checksum: String
    public var timeBase: TimeBase
    /// How many packets a frame may come later in decode order than in presentation order.
    public var reorderDepth: Int
    /// SHA-256 of the encoder's extradata, in hexadecimal.
    public var extradataHash: String
    /// Audio only: samples of priming before the first that is to be heard.
    public var initialPadding: Int
    /// Audio only: samples at the end of the last packet that are not to be heard.
    public var trailingPadding: Int
    /// Audio only: where the first heard sample lies on the output's clock, in samples of `timeBase`; negative where
    /// the sound begins before the first frame.
    public var start: Int64
    /// What people are to be told of it, in whichever job or attempt it is used; nil where that is nothing, which the
    /// board's scripts tell by a text search.
    public var warnings: [String]?

    public init(
        name: String, pass: Int, run: Int, frames: Int, packets: Int, bytes: Int64, checksum: String,
        timeBase: TimeBase, reorderDepth: Int, extradataHash: String, initialPadding: Int = 0, trailingPadding: Int = 0,
        start: Int64 = 0, warnings: [String] = []
    ) {
        self.name = name
        self.pass = pass
        self.run = run
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
        self.warnings = warnings.isEmpty ? nil : warnings
    }
}

/// What a finished pass leaves on the board.
public struct PassResult: Hashable, Codable, Sendable {
    /// In run order; for the assembly, empty.
    public var segments: [SegmentRecord]
    public var statistics: PassStatistics
    public var warnings: [String]

    public init(segments: [SegmentRecord], statistics: PassStatistics, warnings: [String]) {
        self.segments = segments
        self.statistics = statistics
        self.warnings = warnings
    }
}

/// What a pass cost.
public struct PassStatistics: Hashable, Codable, Sendable {
    /// Frames that came out of the decoder, those discarded included.
    public var framesDecoded: Int
    public var framesEncoded: Int
    /// Seconds spent in the decoder, the encoder, and waiting for files.
    public var decodeSeconds: Double
    public var encodeSeconds: Double
    public var waitSeconds: Double
    /// Peak resident memory of the engine so far, in bytes.
    public var peakRSS: Int64

    public init(
        framesDecoded: Int = 0, framesEncoded: Int = 0, decodeSeconds: Double = 0, encodeSeconds: Double = 0,
        waitSeconds: Double = 0, peakRSS: Int64 = 0
    ) {
        self.framesDecoded = framesDecoded
        self.framesEncoded = framesEncoded
        self.decodeSeconds = decodeSeconds
        self.encodeSeconds = encodeSeconds
        self.waitSeconds = waitSeconds
        self.peakRSS = peakRSS
    }
}

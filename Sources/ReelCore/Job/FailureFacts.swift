// The facts of failures that are more than a number or a name. Their raw values and keys are stored: never change one.

/// By what a source is seen to be another than the one that was indexed.
public enum SourceChange: String, Codable, CaseIterable, Sendable {
    /// A stream is missing, or holds something else.
    case stream
    case packetPlace = "packet-place"
    case packetSize = "packet-size"
    /// No sound of a stream decodes any more.
    case sound
}

/// What is wrong with a frame that a decoder was to give.
public enum FrameDamage: String, Codable, CaseIterable, Sendable {
    case missing
    /// The decoder made up what it could not decode.
    case concealed
}

/// What was being done with libav* when it failed.
public enum MediaStep: String, Codable, CaseIterable, Sendable {
    case openFile = "open-file"
    case readFile = "read-file"
    case openDecoder = "open-decoder"
    case decode
    case openEncoder = "open-encoder"
    case encode
    case openParser = "open-parser"
    case filterPackets = "filter-packets"
    case makePacket = "make-packet"
    case makeFrame = "make-frame"
    case makeSideData = "make-side-data"
    case convertPicture = "convert-picture"
    case readPicture = "read-picture"
    case convertSamples = "convert-samples"
    case layOutChannels = "lay-out-channels"
    case openMuxer = "open-muxer"
    case describeStream = "describe-stream"
    case addChapter = "add-chapter"
    case writeHeader = "write-header"
    case writePackets = "write-packets"
    case writeTrailer = "write-trailer"
    case closeFile = "close-file"
    case checksum
}

/// How what a pass decodes differs from what is known of the source.
public enum PlanDisproof: String, Codable, CaseIterable, Sendable {
    /// A frame does not come.
    case missing
    /// A frame comes that is none of the source's.
    case unplanned
    /// A frame comes behind one that is shown after it.
    case order
    /// A frame looks otherwise.
    case picture
    /// A frame is damaged: what is shown then, and after it, depends on all that was decoded before.
    case damage
}

/// What an engine was asked to do.
public enum EngineTask: String, Codable, CaseIterable, Sendable {
    case recon, choose, pass, assemble
}

/// What was being done with a file.
public enum FileStep: String, Codable, CaseIterable, Sendable {
    case open, make, read, write, sync, rename, measure

    /// Whether the file is to be changed by it.
    public var writes: Bool {
        switch self {
        case .make, .write, .sync, .rename: true
        case .open, .read, .measure: false
        }
    }
}

public enum PlanPart: String, Codable, CaseIterable, Sendable {
    case videoPass = "video-pass"
    case audioPass = "audio-pass"
    case audioTrack = "audio-track"
}

public enum CodecRole: String, Codable, CaseIterable, Sendable {
    case decoder, encoder
    /// The codec itself is unknown.
    case codec
}

/// What the assembly joins.
public enum OutputPart: String, Codable, CaseIterable, Sendable {
    case segments, packets, cues
}

/// What is wrong with the bytes of an index.
public enum IndexFlaw: String, Codable, CaseIterable, Sendable {
    /// It does not begin as an index does.
    case start
    case checksum
    case truncated
    case number
    case count
    case parameters
    case excess
    case packetSize = "packet-size"
    case time
    case framePacket = "frame-packet"
    case overlap
    case durationFrame = "duration-frame"
    case duration
    case randomAccessPoint = "random-access-point"
}

public enum SegmentFlaw: Hashable, Codable, Sendable {
    case noStream
    /// It was encoded with other parameters than the job's.
    case otherParameters
    /// It shows the frames, or lets the track be heard, in another way than the plan wants.
    case otherContent
    case missingFrames(count: Int)
    /// A frame is shown at a time that is not in the plan, or twice.
    case unplannedFrame
    /// It needs more reordering than its record says.
    case reordering
    /// It ends before its record does.
    case short

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case noStream = "no-stream"
        case otherParameters = "other-parameters"
        case otherContent = "other-content"
        case missingFrames = "missing-frames"
        case unplannedFrame = "unplanned-frame"
        case reordering, short
    }
}

/// In what a finished output differs from its plan. Times are in seconds of the output.
public enum VerificationFlaw: Hashable, Codable, Sendable {
    case missing
    case decodeTimes
    case excessPackets
    case packetWithoutTime
    case packetTime(packet: Int, found: Rational, planned: Rational)
    case packetDuration(packet: Int, found: Rational, planned: Rational)
    case packetCount(found: Int, planned: Int)
    case payload
    case undecodable
    case frameCount(found: Int, planned: Int)
    /// A frame of the output, counted from its start, is shown at another time, in seconds from the first.
    case frameTime(frame: Int, found: Rational, planned: Rational)
    /// A frame of the output does not look as its mirror image in the source.
    case framePicture(frame: Int)
    case attachments
    case chapters

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case missing
        case decodeTimes = "decode-times"
        case excessPackets = "excess-packets"
        case packetWithoutTime = "packet-without-time"
        case packetTime = "packet-time"
        case packetDuration = "packet-duration"
        case packetCount = "packet-count"
        case payload, undecodable
        case frameCount = "frame-count"
        case frameTime = "frame-time"
        case framePicture = "frame-picture"
        case attachments, chapters
    }
}

/// What an engine was at.
public enum EnginePlace: Hashable, Codable, Sendable {
    case start
    /// Between two requests.
    case idle
    case recon(source: String)
    case choice
    /// `frames` are those of the source at work, in presentation order; none before the first.
    case pass(number: Int, frames: Range<Int>?)
    case assembly

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case start, idle, recon, choice, pass, assembly
    }
}

public enum EngineHang: String, Codable, CaseIterable, Sendable {
    /// No event, whatever it did.
    case silent
    /// No event, and no processor time used.
    case idle
}

/// How an engine ended by itself.
public enum EngineEnd: Hashable, Codable, Sendable {
    case exited(code: Int32)
    case signalled(signal: Int32)
    case vanished

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case exited, signalled, vanished
    }
}

/// What an engine did against the protocol.
public indirect enum EngineNonsense: Hashable, Codable, Sendable {
    /// A line of more bytes than any event has.
    case longLine(limit: Int)
    case unreadable(said: String)
    case noEvent(line: String)
    /// A result says what no result of the request could.
    case unfitResult(part: ResultPart)
    case secondReady
    case strayProgress
    case strayResult
    case strayFailure(failure: ReelFailure)
    case closedOutput

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case longLine = "long-line"
        case unreadable
        case noEvent = "no-event"
        case unfitResult = "unfit-result"
        case secondReady = "second-ready"
        case strayProgress = "stray-progress"
        case strayResult = "stray-result"
        case strayFailure = "stray-failure"
        case closedOutput = "closed-output"
    }
}

/// What of an engine's result is none of the request's.
public enum ResultPart: String, Codable, CaseIterable, Sendable {
    /// There are more than runs to be made, the same twice, or those of another attempt.
    case segments
    /// There are too many, or one is too long.
    case diagnostics
    case numbers
}

internal import CFFmpeg
package import ReelCore

/// Recon: one pass over a source's file, which makes its index.
///
/// *By tables and headers*, for codecs and containers in which these describe the frames (`ProvenKinds`), recon decodes
/// the first frame, the first sound of each track and, if passthrough may be possible, one frame in a hundred. *By
/// decoding*, for all others, and if tables and headers contradict each other or a pass has proved them wrong, it
/// decodes the whole video, and the index contains the decoded frames.
package struct Recon {
    private let source: Locator
    private let reading: ReconReading

    /// Opens the source and chooses its main video and the audio tracks. Throws `.input` if nothing can be reversed:
    /// not media, no video, encrypted, no decoder. `decoding` is the reason to decode the whole video; nil to use tables
    /// and headers if possible.
    package init(_ source: Locator, decoding: DecodingCause? = nil) throws(ReelFailure) {
        self.source = source
        let found = try ReconReading(source, decoding.map(ReconMode.decode) ?? .table)
        reading = try found.isProven ? found : ReconReading(source, .decode(.unproven))
    }

    /// Opens the source, whose tables and headers are used. With `payload`, recon reads the payload even if the
    /// container's table states all that is needed.
    package init(_ source: Locator, payload: Bool) throws(ReelFailure) {
        self.source = source
        reading = try ReconReading(source, .table, payload: payload)
    }

    /// The index of a source: of its video, as `init` and `run` make it, or of its sound if it has none.
    package static func index(
        of source: Locator, decoding: DecodingCause? = nil,
        progress: (_ packets: Int, _ thousandths: Int) -> Void = { _, _ in }
    ) throws(ReelFailure) -> SourceIndex {
        do throws(ReelFailure) {
            return try Recon(source, decoding: decoding).run(progress: progress)
        } catch {
            guard case .noVideo = error.reason else { throw error }
            return try SoundRecon(source, isShown: true).run(progress: progress)
        }
    }

    package var bytesRead: Int64 { reading.bytesRead }

    /// Reads the whole file once, or little more than the container's table of packets if it has one; again if what was
    /// used has proved wrong. Calls `progress` after each packet with the number of packets read and the thousandths of
    /// the file read. Throws `.input` if the file has no frame to show.
    package consuming func run(
        progress: (_ packets: Int, _ thousandths: Int) -> Void = { _, _ in }
    ) throws(ReelFailure) -> SourceIndex {
        let source = source
        var reading = reading
        _ = consume self
        while true {
            switch try Recon.outcome(of: consume reading, progress) {
            case .index(var index):
                index.audio = try index.audio.map { (track) throws(ReelFailure) in try track.settled(in: source) }
                return index
            case .again(let mode): reading = try ReconReading(source, mode)
            }
        }
    }

    /// The index that a reading gives, or the mode in which the source has to be read instead.
    private enum Outcome {
        case index(SourceIndex)
        case again(ReconMode)
    }

    private static func outcome(
        of reading: consuming ReconReading, _ progress: (_ packets: Int, _ thousandths: Int) -> Void
    ) throws(ReelFailure) -> Outcome {
        guard let found = try reading.survey(progress) else { return .again(.scan) }
        // The demuxer's tables are as large as the tables that are made next.
        let (path, cause) = (reading.path, reading.mode.decodingCause)
        _ = consume reading
        var index = found.index
        let (track, repairs) =
            if let shown = found.shown {
                found.order.arrange(decoded: shown, of: found.scanned, stream: index.video.stream)
            } else {
                found.order.arrange(found.scanned, stream: index.video.stream, firstDecoded: found.firstDecoded)
            }
        if cause == nil {
            if repairs.contains(where: \.contradictsTables) { return .again(.decode(.contradictory)) }
            if found.isCut { return .again(.decode(.cutOff)) }
        }
        guard !track.frames.isEmpty else { throw ReelFailure(.noFrames(path: path)) }
        // Several pictures one after the other are a video; libavformat names its demuxers of pictures so.
        guard !index.format.hasSuffix("_pipe") || track.frames.count > 1 else {
            throw ReelFailure(.sourceIsPicture(path: path, codec: track.stream.codec))
        }
        let end = track.stream.timeBase.seconds(track.end)
        let said = found.subtitles.map { $0.finish(end: end) }
        index.video = track
        index.subtitles = said.map(\.track)
        index.passthrough = index.passthrough.checked(against: track)
        let decoded = cause.map { Diagnostic.sourceDecoded(why: $0, codec: track.stream.codec, format: index.format) }
        index.diagnostics =
            [decoded].compactMap(\.self) + found.damage + repairs + said.compactMap(\.lost) + index.diagnostics
        return .index(index)
    }
}

extension Diagnostic {
    /// Whether the repairs show that the container's tables do not tell when frames are shown.
    fileprivate var contradictsTables: Bool { if case .framesMoved = self { true } else { false } }
}

/// Parses "00:01:02.500000000" as seconds; nil for any other text.
func clockTime(_ text: String) -> Rational? {
    let parts = text.split(separator: ":")
    guard parts.count == 3, let hours = Int64(parts[0]), let minutes = Int64(parts[1]) else { return nil }
    let digits = parts[2].split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = Int64(digits[0]), digits.count <= 2 else { return nil }
    let fraction = digits.count == 2 ? digits[1].prefix(9) : "0"
    guard let decimals = Int64(fraction) else { return nil }
    let scale = fraction.reduce(Int64(1)) { product, _ in product * 10 }
    let seconds = Rational(hours) * Rational(3600) + Rational(minutes) * Rational(60) + Rational(whole)
    return seconds + Rational(decimals, scale)
}

func fourCharacters(_ fourCC: UInt32) -> String {
    String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: fourCC >> (8 * $0)) }, as: UTF8.self)
}

/// A codec in a container, by their libav* names.
package struct ProvenKind: Hashable, Sendable {
    package let format, codec: String

    package init(format: String, codec: String) { (self.format, self.codec) = (format, codec) }
}

/// Codecs in containers whose tables and headers tell which frames there are, in which order and when. Their sources
/// are planned without being decoded. `ProvenKindsTests` proves each kind by decoding such a source completely. Passes
/// compare their frames with the index, so a source that differs is noticed, and then decoded.
///
/// Kinds that are missing here may work as well, but no test proves it.
package enum ProvenKinds {
    private static let codecs: [String: Set<String>] = [
        "mov,mp4,m4a,3gp,3g2,mj2": ordered.union(alone).union(["mpeg4", "vp9", "qtrle"]),
        "matroska,webm": ordered.union(alone).union(["vp8", "vp9"]),
        "mpegts": ["h264", "hevc", "mpeg2video"],
        "mpeg": ["mpeg2video"],
        "mxf": ["mpeg2video", "dnxhd"],
        "avi": alone.union(["mpeg4"]),
        "flv": ["h264"],
        "h264": ["h264"],
        "hevc": ["hevc"],
        // For other codecs, nothing would show that frames at the end of such a file are cut off.
        "nut": ["rawvideo"], "ivf": ["vp8", "vp9", "av1"], "yuv4mpegpipe": ["rawvideo"],
    ]

    /// Codecs whose pictures are shown in another order than decoded, or not at all, as headers state.
    private static let ordered: Set<String> = ["h264", "hevc", "av1"]

    /// Codecs in which each packet is a picture that refers to no other, or only to the one before.
    private static let alone: Set<String> = [
        "mjpeg", "prores", "dnxhd", "ffv1", "rawvideo", "v210", "huffyuv", "ffvhuff", "utvideo", "png", "dvvideo",
    ]

    static func contain(codec: AVCodecID, format: String) -> Bool { codecs[format]?.contains(codec.name) ?? false }

    package static var all: [ProvenKind] {
        codecs.flatMap { format, codecs in codecs.map { ProvenKind(format: format, codec: $0) } }
            .sorted { ($0.format, $0.codec) < ($1.format, $1.codec) }
    }
}

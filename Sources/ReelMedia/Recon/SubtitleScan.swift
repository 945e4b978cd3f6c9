internal import CFFmpeg
internal import ReelCore

/// Collects the cues of a text subtitle track while the source is demuxed.
struct SubtitleScan {
    private let parameters: SubtitleTrack.Parameters
    private var cues: [ScannedCue] = []

    /// nil for a stream that is not text, or that libavcodec cannot read. EIA-608 captions belong to a video's packets,
    /// even in a stream of their own: their cues are known only after decoding.
    init?(_ stream: UnsafeMutablePointer<AVStream>) {
        let native = stream.pointee.codecpar.pointee
        guard let descriptor = avcodec_descriptor_get(native.codec_id),
            descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0, native.codec_id != AV_CODEC_ID_EIA_608,
            avcodec_find_decoder(native.codec_id) != nil
        else { return nil }
        parameters = SubtitleTrack.Parameters(
            index: Int(stream.pointee.index), codec: String(cString: descriptor.pointee.name),
            header: Array(native.header), isTimedText: fourCharacters(native.codec_tag) == "tx3g",
            width: Int(native.width), height: Int(native.height), timeBase: TimeBase(stream.pointee.time_base),
            details: TrackDetails(native: stream))
    }

    mutating func add(_ packet: borrowing Packet) {
        var payload = packet.withBytes { Array($0) }
        if parameters.codec == "webvtt" { payload = Self.plain(payload) }
        guard !isSilent(payload) else { return }
        cues.append(
            ScannedCue(
                start: packet.pts ?? packet.dts, duration: packet.duration,
                text: CueText(
                    payload: payload, identifier: Self.plain(packet.sideData(AV_PKT_DATA_WEBVTT_IDENTIFIER)),
                    settings: Self.plain(packet.sideData(AV_PKT_DATA_WEBVTT_SETTINGS)))))
    }

    /// The bytes without zeros and line ends after the text, which Matroska's muxer and demuxer do not keep.
    private static func plain(_ text: [UInt8]) -> [UInt8] {
        var text = text.filter { $0 != 0 }
        while let last = text.last, last == 10 || last == 13 { text.removeLast() }
        return text
    }

    /// MP4 fills the time between two cues with samples without text (3GPP TS 26.245 5.17).
    private func isSilent(_ payload: [UInt8]) -> Bool {
        guard parameters.codec == "mov_text" else { return payload.allSatisfy { $0 <= 32 } }
        return payload.count <= 2 || payload[0] == 0 && payload[1] == 0
    }

    /// The track, for a video that ends at `end` seconds, and a diagnostic for cues that are lost because they have no
    /// time.
    func finish(end: Rational) -> (track: SubtitleTrack, lost: Diagnostic?) {
        let (cues, lost) = ScannedCue.arrange(
            cues, end: Timestamp(parameters.timeBase.ticks(in: end, rounding: .nearest)))
        let diagnostic = Diagnostic.cuesWithoutTime(stream: parameters.index, cues: lost)
        return (SubtitleTrack(parameters: parameters, cues: cues), lost > 0 ? diagnostic : nil)
    }
}

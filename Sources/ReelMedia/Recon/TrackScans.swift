internal import CFFmpeg
package import ReelCore

/// Recon of a source that is only heard: its audio tracks, with no video, even if it has one.
package struct SoundRecon {
    private let demuxer: Demuxer
    private let tracks: [AudioScan]

    /// Opens the source. Throws `.input` if it is not media.
    package init(_ source: Locator) throws(ReelFailure) {
        demuxer = try Demuxer(source, purpose: .list(payload: false))
        tracks = try demuxer.streams.filter {
            $0.parameters.codec_type == AVMEDIA_TYPE_AUDIO
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
    }

    /// Reads the file once, or little more than the container's table if it has one; `progress` is that of `Recon.run`.
    /// Throws `.noSound` (`.input`) if no track can be heard.
    package consuming func run(
        progress: (_ packets: Int, _ thousandths: Int) -> Void = { _, _ in }
    ) throws(ReelFailure) -> SourceIndex {
        demuxer.select(Set(tracks.map(\.index)))
        let packet = try Packet()
        var packets = 0
        while try demuxer.read(into: packet) {
            packets += 1
            progress(packets, demuxer.thousandths(before: packet.position))
            try tracks.first { $0.index == packet.streamIndex }?.take(packet, from: demuxer)
        }
        for track in tracks { try track.finish() }
        let heard = tracks.compactMap(\.track)
        guard !heard.isEmpty else { throw ReelFailure(.noSound(path: demuxer.path)) }
        return SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime, video: .none,
            audio: heard, metadata: [],
            passthrough: .impossible(why: .interFrames(codec: VideoTrack.none.stream.codec)),
            diagnostics: [demuxer.damage].compactMap(\.self))
    }
}

/// What one pass over an audio track's packets finds. Packets are decoded until the first sound comes out.
final class AudioScan {
    let index: Int
    private let stream: NativeStream
    private let decoder: Decoder?
    private let frame: Frame
    private var interval: Interval?
    private var bytes: Int64 = 0
    private var packets: Int32 = 0
    /// Whether the rest was taken from the container's table.
    private(set) var isComplete = false
    /// Whether the table may be used: once, and as long as the packets agree with it.
    private var mayAskTable = true
    /// The format of the first sound.
    private var format: SoundFormat?
    /// Why the output cannot have the track; known when the scan is finished.
    private(set) var refusal: StreamRefusal?

    init(_ stream: NativeStream, path: String) throws(ReelFailure) {
        self.stream = stream
        index = stream.number
        frame = try Frame()
        let parameters = stream.parameters
        if reel_stream_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nil) != nil
            || ["enca", "drms"].contains(fourCharacters(parameters.codec_tag))
        {
            refusal = .encrypted
        } else if avcodec_find_decoder(parameters.codec_id) == nil {
            refusal = .noDecoder
        }
        // A decoder that rejects the stream's parameters decodes nothing of it.
        decoder = refusal == nil ? try? Decoder(stream: stream, threads: 1, path: path) : nil
    }

    /// Whether the scan needs the payload of packets: until the first sound.
    private var isListening: Bool { decoder != nil && format == nil }

    /// Takes a packet that the demuxer has read, and if possible the rest from the container's table.
    func take(_ packet: borrowing Packet, from demuxer: Demuxer) throws(ReelFailure) {
        if isListening { try demuxer.fetch(packet) }
        try add(packet)
        if !isListening, demuxer.hasWholeTable, takeRest() { demuxer.skip(index) }
    }

    private func add(_ packet: borrowing Packet) throws(ReelFailure) {
        guard !isComplete else { return }
        if entry(packets)?.timestamp != packet.pts?.ticks { mayAskTable = false }
        packets += 1
        bytes += Int64(packet.size)
        if let pts = packet.pts {
            let start = min(interval?.start ?? pts, pts)
            let end = max(interval?.end ?? pts, pts + packet.duration)
            interval = Interval(start: start, duration: end - start)
        }
        guard let decoder, format == nil else { return }
        _ = try decoder.send(packet)
        try listen(to: decoder)
    }

    /// Takes the remaining packets from the container's table; false if the table could differ from the packets.
    private func takeRest() -> Bool {
        let count = avformat_index_get_entries_count(stream)
        guard mayAskTable, let interval else { return false }
        mayAskTable = false
        var (end, rest) = (interval.end, Int64(0))
        for place in packets..<count {
            guard let entry = self.entry(place) else { return false }
            // Packets last until the next one, the last one to the end of the track.
            let following = place + 1 < count ? self.entry(place + 1)?.timestamp : stream.pointee.duration
            let next = following ?? entry.timestamp
            guard let start = Timestamp(native: entry.timestamp), start >= interval.start, next > entry.timestamp,
                let until = Timestamp(native: next)
            else { return false }
            end = max(end, until)
            rest += Int64(entry.size)
        }
        bytes += rest
        self.interval = Interval(start: interval.start, duration: end - interval.start)
        isComplete = true
        return true
    }

    private func entry(_ place: Int32) -> AVIndexEntry? { avformat_index_get_entry(stream, place)?.pointee }

    private func listen(to decoder: Decoder) throws(ReelFailure) {
        while format == nil, try decoder.receive(into: frame) == .frame {
            if frame.sampleCount > 0 { format = SoundFormat(of: frame) }
        }
    }

    /// The sample rates that sound can have. With any other rate from a damaged header, a file could seem to last for
    /// years.
    private static let soundRates = 1000...10_000_000

    func finish() throws(ReelFailure) {
        guard refusal == nil else { return }
        guard bytes > 0 else { return refusal = .empty }
        if let decoder, format == nil {
            try decoder.drain()
            try listen(to: decoder)
        }
        guard let format, format.rate > 0, !format.layout.isEmpty else { return refusal = .undecodable }
        if !Self.soundRates.contains(format.rate) { refusal = .impossibleRate(rate: format.rate) }
    }

    /// The track; nil if it was rejected.
    var track: AudioTrack? {
        guard refusal == nil, let format, let channels = try? format.channels() else { return nil }
        let parameters = stream.parameters
        let bits = decoder?.bitsPerSample ?? 0
        return AudioTrack(
            index: index, codec: parameters.codec_id.name, sampleRate: format.rate, channels: channels,
            channelLayout: format.layout, sampleFormat: known(av_get_sample_fmt_name(format.sample)) ?? "",
            bitsPerSample: bits > 0 ? bits : nil,
            profile: known(avcodec_profile_name(parameters.codec_id, parameters.profile)), timeBase: stream.timeBase,
            span: interval ?? Interval(start: Timestamp(0), duration: .zero), bytes: bytes,
            parameters: CodecParameters(native: parameters), details: TrackDetails(native: stream))
    }
}

/// Collects the cues of a text subtitle track while the source is demuxed.
struct SubtitleScan {
    private let parameters: SubtitleTrack.Parameters
    private var cues: [ScannedCue] = []

    /// nil for a stream that is not text, or that libavcodec cannot read. EIA-608 captions belong to a video's packets,
    /// even in a stream of their own: their cues are known only after decoding.
    init?(_ stream: NativeStream) {
        let native = stream.parameters
        guard let descriptor = avcodec_descriptor_get(native.codec_id),
            descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0, native.codec_id != AV_CODEC_ID_EIA_608,
            avcodec_find_decoder(native.codec_id) != nil
        else { return nil }
        parameters = SubtitleTrack.Parameters(
            index: stream.number, codec: String(cString: descriptor.pointee.name), header: Array(native.header),
            isTimedText: fourCharacters(native.codec_tag) == "tx3g", width: Int(native.width),
            height: Int(native.height), timeBase: stream.timeBase, details: TrackDetails(native: stream))
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

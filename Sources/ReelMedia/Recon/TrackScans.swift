internal import CFFmpeg
package import ReelCore

/// Recon of a source that is only heard: its audio tracks, with no video, even if it has one. Or of one that has none.
package struct SoundRecon {
    private let source: Locator
    /// Whether the job shows the source, so that it has to be known what exactly is heard.
    private let isShown: Bool
    private let demuxer: Demuxer
    private let tracks: [AudioScan]

    /// Opens the source. Throws `.input` if it is not media, and `.noVideo` if it is to be shown and has no sound either.
    package init(_ source: Locator, isShown: Bool = false) throws(ReelFailure) {
        (self.source, self.isShown) = (source, isShown)
        demuxer = try Demuxer(source, purpose: .list(payload: false))
        tracks = try demuxer.streams.filter {
            $0.parameters.codec_type == AVMEDIA_TYPE_AUDIO
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
        guard !isShown || !tracks.isEmpty else { throw ReelFailure(.noVideo(path: source.name)) }
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
        let settled = try heard.map { [source] (track) throws(ReelFailure) in try track.settled(in: source) }
        var index = SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime, video: .none,
            audio: settled, metadata: [],
            passthrough: .impossible(why: .interFrames(codec: VideoTrack.none.stream.codec)),
            diagnostics: [demuxer.damage].compactMap(\.self))
        if isShown {
            // Decoding a long song takes longer than an engine may be silent.
            try complete(&index) {
                packets += 1
                progress(packets, 1000)
            }
        }
        return index
    }

    /// Adds what an output has of a source without video: the exact length of its first track, which only decoding tells,
    /// and what belongs to the file.
    ///
    /// - Parameter progress: called for each packet.
    private func complete(_ index: inout SourceIndex, progress: () -> Void) throws(ReelFailure) {
        var track = index.audio[0]
        let gather = SoundGather(timeBase: track.timeBase, format: nil, scratch: nil)
        try gather.decode(track, of: source, progress: progress)
        guard let format = gather.format,
            let timeline = AudioTimeline(blocks: gather.blocks, sampleRate: format.rate)
        else { throw ReelFailure(.noSound(path: demuxer.path)) }
        let clock = TimeBase(1, Int64(format.rate))
        let start = Timestamp(clock.ticks(in: timeline.start, rounding: .nearest))
        var count = timeline.count
        if demuxer.formatName.hasPrefix("mov") {
            // The last packet lasts as long as its table says (ISO 14496-12 8.6.1.2); libavcodec gives all of it.
            let stated = clock.ticks(in: track.timeBase.seconds(track.span.end) - timeline.start, rounding: .nearest)
            count = min(max(stated, 1), count)
        }
        if track.steady?.count == timeline.count { track.steady?.count = count } else { track.steady = nil }
        index.audio[0] = track
        index.video = .sound(Interval(start: start, duration: Ticks(count)), clock: clock)
        index.metadata = demuxer.metadata
        // Ogg has the tags of a song beside its stream.
        let ofStream = demuxer.stream(track.index).map { entries(of: $0.pointee.metadata) } ?? []
        if index.metadata.isEmpty, ofStream.count > 0 {
            index.metadata = ofStream.filter { !["language", "encoder"].contains($0.tag) }
            index.audio[0].details.title = nil
        }
        (index.chapters, index.attachments) = (demuxer.chapters, demuxer.attachments)
    }
}

/// What one pass over an audio track's packets finds. The first packets are decoded.
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
    private var steadiness: SteadyScan
    /// Why the output cannot have the track; known when the scan is finished.
    private(set) var refusal: StreamRefusal?

    init(_ stream: NativeStream, path: String) throws(ReelFailure) {
        self.stream = stream
        steadiness = SteadyScan(clock: stream.timeBase)
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

    /// Whether the scan needs the payload of packets: until the first sound, and a few more to learn their length.
    private var isListening: Bool { decoder != nil && (format == nil || steadiness.isListening) }

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
        steadiness.add(packet.pts, samples: samples(inBytes: packet.size))
        guard let decoder, isListening else { return }
        if try decoder.send(packet) == .damaged, format != nil { steadiness.giveUp() }
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
            steadiness.add(start, samples: samples(inBytes: Int(entry.size)))
        }
        bytes += rest
        self.interval = Interval(start: interval.start, duration: end - interval.start)
        isComplete = true
        return true
    }

    /// The samples per channel of a packet, if its size says so, otherwise 0.
    private func samples(inBytes size: Int) -> Int64 {
        guard AudioEncoderTraits.isPCM(stream.parameters.codec_id.name) else { return 0 }
        return Int64(av_get_audio_frame_duration2(stream.pointee.codecpar, Int32(size)))
    }

    private func entry(_ place: Int32) -> AVIndexEntry? { avformat_index_get_entry(stream, place)?.pointee }

    private func listen(to decoder: Decoder) throws(ReelFailure) {
        while isListening, try decoder.receive(into: frame) == .frame {
            guard frame.sampleCount > 0 else { continue }
            let found = SoundFormat(of: frame)
            if format == nil { format = found }
            steadiness.hear(frame.pts ?? frame.bestTimestamp, samples: frame.sampleCount, rate: found.rate)
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
            steady: steadiness.found, parameters: CodecParameters(native: parameters),
            details: TrackDetails(native: stream))
    }
}

/// Finds out whether the packets of a track follow each other without a hole, so that it is known which samples each gives.
private struct SteadyScan {
    private let clock: TimeBase
    /// The packets that were read before the decoder had given two blocks of samples.
    private var early: [Packet] = []
    /// The first blocks of samples: the encoder's priming may be missing from the first one only.
    private var heard: [(time: Timestamp?, samples: Int)] = []
    private var rate = 0
    private var first: Timestamp?
    private var packets: Int64 = 0
    /// When the samples of the last packet end, by their number.
    private var end: Timestamp?
    /// Whether packets begin at equal distances, each of as many samples as the second block has.
    private var isEven = true
    /// Whether each packet begins where the samples of the one before end.
    private var isContinuous = true

    private typealias Packet = (time: Timestamp, samples: Int64)

    init(clock: TimeBase) { self.clock = clock }

    /// Whether the scan has to hear more of what packets decode to.
    var isListening: Bool { (isEven || isContinuous) && heard.count < 2 }

    /// The number of packets after which two blocks of samples must have been heard.
    private static let patience = 16

    mutating func giveUp() { (isEven, isContinuous, early) = (false, false, []) }

    /// Takes the next packet. `samples` is the number per channel that it has if its size says so, otherwise 0.
    mutating func add(_ time: Timestamp?, samples: Int64) {
        guard isEven || isContinuous else { return }
        guard let time else { return giveUp() }
        guard isListening else { return check((time, samples)) }
        early.append((time, samples))
        if early.count > Self.patience { giveUp() }
    }

    /// Takes the next block of samples that the decoder gave.
    mutating func hear(_ time: Timestamp?, samples: Int, rate: Int) {
        guard isListening, rate > 0 else { return }
        heard.append((time, samples))
        self.rate = rate
        guard heard.count == 2 else { return }
        // Times must tell packets from each other, or samples.
        let length = clock.secondsPerTick * Rational(Int64(rate))
        isEven = length * Rational(4) <= Rational(Int64(samples))
        isContinuous = length <= Rational(1)
        for packet in early { check(packet) }
        early = []
    }

    private mutating func check(_ packet: Packet) {
        let first = first ?? packet.time
        self.first = first
        let samples = TimeBase(1, Int64(rate))
        let due = samples.convert(packets * Int64(heard[1].samples), to: clock, rounding: .nearest)
        if (packet.time - first - Ticks(due)).count.magnitude > 1 { isEven = false }
        if packet.samples == 0 || packet.time != end ?? packet.time { isContinuous = false }
        end = packet.time + Ticks(samples.convert(packet.samples, to: clock, rounding: .nearest))
        packets += 1
    }

    /// The track's sound, as long as its packets promise; nil if it is not steady.
    var found: SteadySound? {
        guard let first, let end, packets > 2, heard.count == 2, let start = heard[0].time else { return nil }
        let samples = TimeBase(1, Int64(rate))
        if isEven {
            let step = Int64(heard[1].samples)
            let until = clock.convert((start - first).count, to: samples, rounding: .nearest) + Int64(heard[0].samples)
            let lead = (until + step / 2) / step * step - Int64(heard[0].samples)
            guard lead >= 0, packets * step > lead else { return nil }
            return SteadySound(first: first, step: Int(step), start: start, lead: lead, count: packets * step - lead)
        }
        guard isContinuous, start == first else { return nil }
        let count = clock.convert((end - start).count, to: samples, rounding: .nearest)
        return SteadySound(first: first, step: nil, start: start, lead: 0, count: count)
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

internal import CFFmpeg
internal import ReelCore

struct ShownSubtitles {
    let track: SubtitleTrack
    let clips: [Clip]
    let video: VideoTrack

    /// The cues where the clips place them, in seconds of the output.
    var placed: [SubtitleOutput.Placed] {
        let clock = track.parameters.timeBase
        return clips.flatMap { clip in
            track.cues.compactMap { cue -> SubtitleOutput.Placed? in
                let (start, end) = (clock.seconds(cue.interval.start), clock.seconds(cue.interval.end))
                guard start < end else { return nil }
                return clip.place(start..<end, in: video).map { ($0, cue.text) }
            }
        }
    }
}

/// A text track of the output: in a codec of its container, with every cue where each clip places it.
final class SubtitleOutput {
    let codec: String
    let header: [UInt8]
    let parameters: SubtitleTrack.Parameters
    /// The cues in order of time, in seconds of the output before it is shifted.
    let cues: [Placed]
    let lost: Int
    let timeBase: TimeBase

    /// Nil if the container has no codec for text. The output's track has codec, styles and description of the first
    /// track; the others are tracks of other sources with the same place among theirs. `output` is the output's clock.
    init?(
        _ first: ShownSubtitles, beside others: [ShownSubtitles] = [], container: Container, output: TimeBase
    ) throws(ReelFailure) {
        let parameters = first.track.parameters
        guard let codec = container.subtitleCodec(for: parameters.codec) else { return nil }
        (self.codec, self.parameters) = (codec, parameters)
        timeBase = container.subtitleTimeBase(video: output, text: parameters.timeBase)
        let all = [first] + others
        let placed = all.map(\.placed)
        let areAlike = others.map(\.track.parameters).allSatisfy {
            $0.codec == codec && $0.header == parameters.header && $0.isTimedText == parameters.isTimedText
        }
        if codec == parameters.codec, areAlike,
            container.traits.holdsOverlappingCues || parameters.isTimedText && !Self.overlap(placed.flatMap(\.self))
        {
            (header, cues, lost) = (parameters.header, Self.sorted(placed.flatMap(\.self)), 0)
            return
        }
        var styles: [UInt8] = []
        var events: [(span: Range<Rational>, event: String)] = []
        for (number, (shown, placed)) in zip(all, placed).enumerated() {
            let decoder = try SubtitleDecoder(shown.track.parameters)
            if number == 0 { styles = decoder.header }
            for (span, text) in placed {
                if let event = Self.joined(try decoder.events(text)) { events.append((span, event)) }
            }
        }
        var lost = placed.reduce(0) { $0 + $1.count } - events.count
        if !container.traits.holdsOverlappingCues {
            events = OverlappingSpans.flattened(events.map(\.span)).compactMap { flat in
                Self.joined(flat.members.map { events[$0].event }).map { (flat.span, $0) }
            }
        }
        let encoder = try SubtitleEncoder(codec, header: styles)
        var written: [Placed] = []
        for (span, event) in events {
            let payload = event.utf8.count < Self.longest ? try encoder.payload(event) : nil
            guard let payload, !payload.allSatisfy({ $0 == 0 }) else {
                lost += 1
                continue
            }
            written.append((span, CueText(payload: payload)))
        }
        (header, cues, self.lost) = (encoder.header, Self.sorted(written), lost)
    }

    typealias Placed = (span: Range<Rational>, text: CueText)

    /// Sorts by time; cues that start together keep the source's order.
    private static func sorted(_ cues: [Placed]) -> [Placed] {
        cues.indices.sorted { (cues[$0].span.lowerBound, $0) < (cues[$1].span.lowerBound, $1) }.map { cues[$0] }
    }

    private static func overlap(_ cues: [Placed]) -> Bool {
        let cues = sorted(cues)
        return zip(cues, cues.dropFirst()).contains { $0.span.upperBound > $1.span.lowerBound }
    }

    /// mov_text counts its bytes with 16 bits.
    private static let longest = 60_000

    /// One ASS event that combines several, one per line; nil if there are none. The text is an event's ninth field.
    private static func joined(_ events: [String]) -> String? {
        guard let first = events.first else { return nil }
        return events.dropFirst().reduce(first) { all, event in
            let fields = event.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
            return fields.count == 9 ? all + "\\N" + fields[8] : all
        }
    }

    var diagnostic: Diagnostic? {
        lost == 0 ? nil : .cuesUnwritable(stream: parameters.index, cues: lost, codec: codec)
    }

    /// The most bytes that the cues take in the tables of MP4: a sample and the one that ends it, each with size, time,
    /// chunk and its samples (ISO 14496-12 8.6, 8.7).
    var tableBytes: Int64 { Int64(header.count + 2048 + cues.count * 2 * (4 + 8 + 24)) }

    func describe(_ stream: NativeStream) throws(ReelFailure) {
        let native: NativeParameters = stream.pointee.codecpar
        native.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
        native.pointee.codec_id = avcodec_descriptor_get_by_name(codec)?.pointee.id ?? AV_CODEC_ID_NONE
        // libavformat would choose the older form of QuickTime's text in MOV, which has another header.
        native.pointee.codec_tag = codec == "mov_text" ? UInt32(fourCC: "tx3g") : 0
        native.pointee.width = Int32(clamping: parameters.width)
        native.pointee.height = Int32(clamping: parameters.height)
        try setHeader(header, of: native)
    }
}

/// The cues of one text track on the output's clock.
final class SubtitleSource: PacketSource {
    let timeBase: TimeBase
    private var cues: ArraySlice<Cue>

    /// `shift` is the time in seconds by which the whole output starts later. Both ends of a cue are rounded, so that
    /// adjacent cues stay adjacent. A cue shorter than a tick lasts one tick if cues may overlap, and is dropped if
    /// not.
    init(_ text: SubtitleOutput, shift: Rational, overlapping: Bool) {
        let base = text.timeBase
        timeBase = base
        cues =
            text.cues.compactMap { cue in
                let start = base.ticks(in: cue.span.lowerBound + shift, rounding: .nearest)
                let end = base.ticks(in: cue.span.upperBound + shift, rounding: .nearest)
                guard overlapping || start < end else { return nil }
                let interval = Interval(start: Timestamp(start), duration: Ticks(max(end - start, 1)))
                return Cue(interval: interval, text: cue.text)
            }[...]
    }

    var upcoming: Timestamp? { cues.first?.interval.start }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        guard let cue = cues.popFirst() else { throw ReelFailure(.partsEnded(parts: .cues)) }
        try packet.fill(with: cue.text.payload)
        try packet.setSideData(cue.text.identifier, AV_PKT_DATA_WEBVTT_IDENTIFIER)
        try packet.setSideData(cue.text.settings, AV_PKT_DATA_WEBVTT_SETTINGS)
        (packet.pts, packet.dts, packet.duration) = (cue.interval.start, cue.interval.start, cue.interval.duration)
        packet.native.pointee.flags = AV_PKT_FLAG_KEY
    }
}

/// Decodes cues of one codec into events of ASS, which libavcodec uses for all subtitle codecs.
final class SubtitleDecoder {
    private var native: NativeContext
    private let isTimedText: Bool

    init(_ parameters: SubtitleTrack.Parameters) throws(ReelFailure) {
        guard let descriptor = avcodec_descriptor_get_by_name(parameters.codec),
            let codec = avcodec_find_decoder(descriptor.pointee.id)
        else { throw ReelFailure(.codecAbsent(codec: parameters.codec, role: .decoder)) }
        isTimedText = descriptor.pointee.id == AV_CODEC_ID_MOV_TEXT
        native = try allocated(avcodec_alloc_context3(codec), .openDecoder)
        native.pointee.pkt_timebase = AVRational(num: 1, den: 1000)
        native.pointee.width = Int32(clamping: parameters.width)
        native.pointee.height = Int32(clamping: parameters.height)
        (native.pointee.extradata, native.pointee.extradata_size) = try padded(parameters.header)
        try check(avcodec_open2(native, codec, nil), .openDecoder, parameters.codec)
    }

    deinit {
        av_freep(&native.pointee.extradata)
        release(native, avcodec_free_context)
    }

    /// The track's styles as the head of an ASS script.
    var header: [UInt8] {
        let size = Int(native.pointee.subtitle_header_size)
        return Array(UnsafeRawBufferPointer(start: native.pointee.subtitle_header, count: size))
    }

    /// The events of a cue, "order,layer,style,…,text"; empty if the cue cannot be decoded. Bytes that are not UTF-8
    /// become U+FFFD.
    func events(_ text: CueText) throws(ReelFailure) -> [String] {
        let events = try decode(text)
        guard events.isEmpty else { return events }
        var repaired = text
        repaired.payload = repair(text.payload)
        return repaired.payload == text.payload ? [] : try decode(repaired)
    }

    private func repair(_ payload: [UInt8]) -> [UInt8] {
        guard isTimedText else { return Array(String(decoding: payload, as: UTF8.self).utf8) }
        // The payload is the text's length, the text, and styles (3GPP TS 26.245 5.17). The styles are left out, since
        // they count characters of the text before the repair.
        guard payload.count > 2 else { return payload }
        let length = Int(payload[0]) << 8 | Int(payload[1])
        let utf8 = String(decoding: payload.dropFirst(2).prefix(length), as: UTF8.self).utf8.prefix(Int(UInt16.max))
        return [UInt8(utf8.count >> 8), UInt8(utf8.count & 255)] + utf8
    }

    private func decode(_ text: CueText) throws(ReelFailure) -> [String] {
        let packet = try Packet()
        try packet.fill(with: text.payload)
        (packet.pts, packet.duration) = (Timestamp(0), Ticks(1000))
        var (subtitle, got) = (AVSubtitle(), Int32(0))
        let code = avcodec_decode_subtitle2(native, &subtitle, &got, packet.native)
        if code == reel_error_no_memory { throw mediaFailure(code, .decode, "subtitles") }
        guard code >= 0, got != 0 else { return [] }
        defer { avsubtitle_free(&subtitle) }
        return (0..<Int(subtitle.num_rects)).compactMap { number in
            subtitle.rects[number]?.pointee.ass.map { String(cString: $0) }
        }
    }
}

/// Encodes events of ASS into cues of one codec.
final class SubtitleEncoder {
    private var native: NativeContext

    /// The encoder takes styles from the decoder's header.
    init(_ name: String, header: [UInt8]) throws(ReelFailure) {
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw ReelFailure(.codecAbsent(codec: name, role: .encoder))
        }
        native = try allocated(avcodec_alloc_context3(codec), .openEncoder)
        native.pointee.time_base = AVRational(num: 1, den: 1000)
        (native.pointee.subtitle_header, native.pointee.subtitle_header_size) = try padded(header)
        try check(avcodec_open2(native, codec, nil), .openEncoder, name)
    }

    deinit { release(native, avcodec_free_context) }

    var header: [UInt8] {
        Array(UnsafeRawBufferPointer(start: native.pointee.extradata, count: Int(native.pointee.extradata_size)))
    }

    /// The payload of a cue; nil if the codec cannot hold the event.
    func payload(_ event: String) throws(ReelFailure) -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: event.utf8.count * 4 + 4096)
        let rect = try allocated(
            av_mallocz(MemoryLayout<AVSubtitleRect>.size)?.bindMemory(to: AVSubtitleRect.self, capacity: 1), .encode)
        defer {
            av_freep(&rect.pointee.ass)
            av_free(rect)
        }
        rect.pointee.type = SUBTITLE_ASS
        rect.pointee.ass = av_strdup(event)
        var list: UnsafeMutablePointer<AVSubtitleRect>? = rect
        let count = withUnsafeMutablePointer(to: &list) { list in
            var subtitle = AVSubtitle()
            (subtitle.num_rects, subtitle.rects, subtitle.end_display_time) = (1, list, 1000)
            return avcodec_encode_subtitle(native, &room, Int32(clamping: room.count), &subtitle)
        }
        if count == reel_error_no_memory { throw mediaFailure(count, .encode) }
        return count > 0 ? Array(room.prefix(Int(count))) : nil
    }
}

internal import CFFmpeg
internal import ReelCore

/// Decodes cues of one codec into events of ASS, which libavcodec uses for all subtitle codecs.
final class SubtitleDecoder {
    private var native: UnsafeMutablePointer<AVCodecContext>
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
        var context: UnsafeMutablePointer<AVCodecContext>? = native
        avcodec_free_context(&context)
    }

    /// The track's styles as the head of an ASS script.
    var header: [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: native.pointee.subtitle_header, count: Int(native.pointee.subtitle_header_size)))
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
        packet.pts = Timestamp(0)
        packet.duration = Ticks(1000)
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
    private var native: UnsafeMutablePointer<AVCodecContext>

    /// Opens the encoder.
    ///
    /// - Parameter header: the decoder's header, from which the encoder takes styles.
    init(_ name: String, header: [UInt8]) throws(ReelFailure) {
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw ReelFailure(.codecAbsent(codec: name, role: .encoder))
        }
        native = try allocated(avcodec_alloc_context3(codec), .openEncoder)
        native.pointee.time_base = AVRational(num: 1, den: 1000)
        (native.pointee.subtitle_header, native.pointee.subtitle_header_size) = try padded(header)
        try check(avcodec_open2(native, codec, nil), .openEncoder, name)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = native
        avcodec_free_context(&context)
    }

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
            subtitle.num_rects = 1
            subtitle.rects = list
            subtitle.end_display_time = 1000
            return avcodec_encode_subtitle(native, &room, Int32(clamping: room.count), &subtitle)
        }
        if count == reel_error_no_memory { throw mediaFailure(count, .encode) }
        return count > 0 ? Array(room.prefix(Int(count))) : nil
    }
}

internal import CFFmpeg
internal import ReelCore

extension Encoder {
    /// Opens the encoder for these frames of a track, at the rate that the target gives for them.
    ///
    /// - Parameter stream: that of the source whose format the output has.
    convenience init(
        _ target: VideoEncoding, stream: VideoStream, track: VideoTrack, frames: Range<Int>
    ) throws(ReelFailure) {
        let bitrate: Int64? =
            switch target.bitrate {
            case .constant(let bits): bits
            case .source: track.bitrate(of: frames)
            case nil: nil
            }
        try self.init(target, stream: stream, bitrate: bitrate)
    }

    /// Opens the encoder of a job's video. The same target, stream and rate make the same parameters on any machine.
    /// `bitrate` is in bits per second, nil for constant quality.
    convenience init(_ target: VideoEncoding, stream: VideoStream, bitrate: Int64?) throws(ReelFailure) {
        let traits = target.traits
        let stream = stream.shown(in: .encode(target))
        try self.init(target.encoder, options: target.options + Self.ownProcessor(traits)) {
            (context) throws(ReelFailure) in
            let format = av_get_pix_fmt(target.format.pixelFormat)
            context.pointee.width = Int32(target.format.width)
            context.pointee.height = Int32(target.format.height)
            context.pointee.pix_fmt = format
            context.pointee.time_base = target.format.timeBase.native
            let rate = target.format.frameRate
            context.pointee.framerate = min(rate, traits.greatestRate ?? rate).native
            context.pointee.sample_aspect_ratio = target.format.sampleAspectRatio?.native ?? AVRational(num: 0, den: 1)
            context.pointee.gop_size = Int32(target.keyFrameInterval)
            context.pointee.thread_count = Int32(target.threads)
            context.pointee.bit_rate = bitrate ?? 0
            stream.colour.converted(from: av_get_pix_fmt(stream.pixelFormat), to: format).apply(to: context)
            context.pointee.field_order = (target.format.fieldsVary ? .unknown : target.format.fieldOrder).native
            if stream.fieldOrder.isInterlaced, traits.tells.contains(.fields) {
                context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME
            }
            switch traits.rateControl {
            case .fixedQuantiserOfMPEG2:
                // The encoder takes the frame rate that it writes from here; it does not change timestamps.
                context.pointee.time_base = (Rational(1) / target.format.frameRate).native
                context.pointee.flags |= Int32(bitPattern: AV_CODEC_FLAG_CLOSED_GOP)
                // The parameters contain buffer size and maximum rate, which would follow the rate. So set them to
                // fixed values: the largest buffer of main profile (ISO 13818-2 table 8-14), and the greatest rate that
                // the field holds.
                if target.bitrate == .source {
                    context.pointee.rc_buffer_size = 9_781_248
                    context.pointee.rc_max_rate = 0x3ffff * 400
                    context.pointee.bit_rate = min(context.pointee.bit_rate, context.pointee.rc_max_rate)
                }
                fallthrough
            case .fixedQuantiser:
                guard bitrate == nil else { break }
                context.pointee.flags |= AV_CODEC_FLAG_QSCALE
                context.pointee.global_quality = 2 * FF_QP2LAMBDA
            case .bounded:
                guard target.bitrate == .source, let bitrate else { break }
                context.pointee.rc_max_rate = bitrate * 3 / 2
                context.pointee.rc_buffer_size = Int32(clamping: bitrate)
            case .ceiling:
                if bitrate == nil { context.pointee.bit_rate = Int64(target.format.width * target.format.height) * 20 }
            case .own: break
            }
        }
        if bitrate == nil { firstPictureOffset = Self.keyFrameOffset(target, traits, stream) }
    }

    /// With a constant rate factor and macroblock trees, x264 quantises the first picture of an encode like those
    /// predicted from it, and every later key frame finer by a factor of 1.4, its `ipratio`: 6·log₂ 1.4 = 2.913 steps.
    /// Each chunk is an encode of its own, so without a correction the key frames at all their starts would be too
    /// coarse for the pictures that refer to them.
    private static func keyFrameOffset(
        _ target: VideoEncoding, _ traits: EncoderTraits, _ stream: VideoStream
    ) -> Rational? {
        let preset = target.options.last { $0.name == "preset" }?.value ?? ""
        // libavcodec rejects offsets for interlaced pictures.
        guard traits.coarseFirstFrame?(preset) == true, !stream.fieldOrder.isInterlaced else { return nil }
        let range = 51 + 6 * (bitDepth(av_get_pix_fmt(target.format.pixelFormat)) - 8)
        return Rational(-2913, 1000 * range)
    }

    private static func bitDepth(_ format: AVPixelFormat) -> Int64 {
        Int64(av_pix_fmt_desc_get(format)?.pointee.comp.0.depth ?? 8)
    }

    /// Options for the processor of this machine; the plan does not contain them.
    private static func ownProcessor(_ traits: EncoderTraits) -> [MediaOption] {
        av_get_cpu_flags() & AV_CPU_FLAG_AVX512 != 0 ? traits.optionsBesideAVX512 : []
    }

    /// Opens the encoder of one audio track.
    convenience init(_ target: AudioTarget, track: AudioTrack) throws(ReelFailure) {
        let source = av_get_sample_fmt(track.sampleFormat)
        try self.init(target.encoder, options: []) { (context) throws(ReelFailure) in
            context.pointee.sample_rate = Int32(target.sampleRate)
            context.pointee.time_base = AVRational(num: 1, den: Int32(target.sampleRate))
            context.pointee.bit_rate = target.bitrate ?? 0
            context.pointee.thread_count = 1
            context.pointee.sample_fmt = Self.sampleFormat(of: target.encoder, source: source)
            try check(
                av_channel_layout_from_string(&context.pointee.ch_layout, target.channelLayout),
                .layOutChannels, target.channelLayout)
        }
    }

    /// The source's own format if the encoder takes it, interleaved or planar, else the encoder's widest.
    private static func sampleFormat(of encoder: String, source: AVSampleFormat) -> AVSampleFormat {
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.sample_fmts else { return AV_SAMPLE_FMT_FLTP }
        var offered: [AVSampleFormat] = []
        while list[offered.count] != AV_SAMPLE_FMT_NONE { offered.append(list[offered.count]) }
        let packed = av_get_packed_sample_fmt(source)
        let widest = offered.max { av_get_bytes_per_sample($0) < av_get_bytes_per_sample($1) }
        return offered.first { av_get_packed_sample_fmt($0) == packed } ?? widest ?? AV_SAMPLE_FMT_FLTP
    }
}

internal import CFFmpeg
internal import ReelCore

extension CodedVideo {
    /// The coding of a stream as libavformat knows it; no container has been tried.
    init(native parameters: AVCodecParameters) {
        self.init(
            fourCC: parameters.codec_tag, extradata: Array(parameters.header), profile: parameters.profile,
            level: parameters.level, bitsPerCodedSample: parameters.bits_per_coded_sample, containers: [])
    }

    /// Fills in a stream's parameters for the muxer with this name.
    func describe(
        _ stream: VideoStream, for muxer: String, into parameters: UnsafeMutablePointer<AVCodecParameters>
    ) throws(ReelFailure) {
        guard let descriptor = avcodec_descriptor_get_by_name(stream.codec) else {
            throw ReelFailure(.codecAbsent(codec: stream.codec, role: .codec))
        }
        // A context without a codec takes the values that an encoder would have set.
        let context = try allocated(avcodec_alloc_context3(nil), .describeStream)
        defer {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
        }
        context.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        context.pointee.codec_id = descriptor.pointee.id
        context.pointee.width = Int32(stream.width)
        context.pointee.height = Int32(stream.height)
        context.pointee.pix_fmt = av_get_pix_fmt(stream.pixelFormat)
        context.pointee.profile = profile
        context.pointee.level = level
        context.pointee.bits_per_coded_sample = bitsPerCodedSample
        context.pointee.field_order = stream.fieldOrder.native
        context.pointee.sample_aspect_ratio = stream.sampleAspectRatio?.native ?? AVRational(num: 0, den: 1)
        stream.colour.apply(to: context)
        try check(avcodec_parameters_from_context(parameters, context), .describeStream)
        parameters.pointee.codec_tag = muxerFourCC(fourCC, of: descriptor.pointee.id, muxer: muxer)
        try setHeader(extradata, of: parameters)
    }
}

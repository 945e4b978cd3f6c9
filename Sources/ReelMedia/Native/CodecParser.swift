internal import CFFmpeg
internal import ReelCore

/// libavcodec's parser for one codec. It reads from whole packets what they say of their pictures, without decoding.
final class CodecParser {
    private let native: UnsafeMutablePointer<AVCodecParserContext>
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// Nil if libavcodec has no parser for the codec.
    init?(_ parameters: AVCodecParameters) throws(ReelFailure) {
        guard let parser = av_parser_init(Int32(parameters.codec_id.rawValue)) else { return nil }
        native = parser
        native.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        do {
            context = try allocated(avcodec_alloc_context3(nil), .openParser)
        } catch {
            av_parser_close(parser)
            throw error
        }
        // From here on `deinit` frees both, even if this initialiser throws.
        var copy = parameters
        try check(avcodec_parameters_to_context(context, &copy), .openParser)
    }

    deinit {
        av_parser_close(native)
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// Parses a packet. Packets must come in the order of the file.
    func parse(_ bytes: UnsafeRawBufferPointer) -> AVCodecParserContext {
        var (output, size): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
        native.pointee.key_frame = -1
        native.pointee.pict_type = 0
        native.pointee.picture_structure = AV_PICTURE_STRUCTURE_UNKNOWN
        native.pointee.field_order = AV_FIELD_UNKNOWN
        av_parser_parse2(
            native, context, &output, &size, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            Int32(bytes.count), reel_nopts, reel_nopts, -1)
        return native.pointee
    }
}

internal import CFFmpeg
internal import ReelCore

/// A copy of what a decoder needs to know of a stream, so that decoding can go on when the file is closed. `@unchecked`
/// because it never changes.
final class CodedStream: @unchecked Sendable {
    let parameters: UnsafePointer<AVCodecParameters>
    let timeBase: TimeBase
    /// The stream's place in its file.
    let number: Int
    /// The decoder to use; nil for the one that libavcodec prefers.
    let preferred: UnsafePointer<AVCodec>?

    private let owned: UnsafeMutablePointer<AVCodecParameters>

    init(_ stream: UnsafeMutablePointer<AVStream>) throws(ReelFailure) {
        owned = try allocated(avcodec_parameters_alloc(), .describeStream)
        parameters = UnsafePointer(owned)
        timeBase = TimeBase(stream.pointee.time_base)
        number = Int(stream.pointee.index)
        preferred = Decoder.withTransparency(stream)
        try check(avcodec_parameters_copy(owned, stream.pointee.codecpar), .describeStream)
    }

    deinit {
        var owned: UnsafeMutablePointer<AVCodecParameters>? = owned
        avcodec_parameters_free(&owned)
    }
}

internal import CFFmpeg
internal import ReelCore

/// One decoded picture or block of samples, owned and freed with this value.
struct Frame: ~Copyable {
    let native: UnsafeMutablePointer<AVFrame>

    init() throws(ReelFailure) {
        native = try allocated(av_frame_alloc(), .makeFrame)
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVFrame>? = native
        av_frame_free(&pointer)
    }

    var pts: Timestamp? {
        get { Timestamp(native: native.pointee.pts) }
        nonmutating set { native.pointee.pts = newValue?.ticks ?? reel_nopts }
    }

    /// The decoder's best guess of the presentation time.
    var bestTimestamp: Timestamp? { Timestamp(native: native.pointee.best_effort_timestamp) }

    var width: Int { Int(native.pointee.width) }
    var height: Int { Int(native.pointee.height) }
    var pixelFormat: AVPixelFormat { AVPixelFormat(native.pointee.format) }
    /// Whether the decoder found errors in the frame, and shows the parts that it could decode.
    var isDamaged: Bool {
        native.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || native.pointee.decode_error_flags != 0
    }

    /// Samples of each channel.
    var sampleCount: Int { Int(native.pointee.nb_samples) }

    /// The bytes of all buffers that the frame references.
    var bytes: Int64 {
        var sum: Int64 = 0
        withUnsafeBytes(of: &native.pointee.buf) { raw in
            for case let buffer? in raw.bindMemory(to: UnsafeMutablePointer<AVBufferRef>?.self) {
                sum += Int64(buffer.pointee.size)
            }
        }
        return sum
    }

    /// Asks the encoder to change the quantiser of the whole picture from its own choice.
    ///
    /// - Parameter offset: a part of the quantiser's range; a negative one gives better quality.
    func offsetQuantiser(by offset: Rational) throws(ReelFailure) {
        let size = MemoryLayout<AVRegionOfInterest>.size
        let data = try allocated(
            av_frame_new_side_data(native, AV_FRAME_DATA_REGIONS_OF_INTEREST, size), .makeSideData)
        let region = AVRegionOfInterest(
            self_size: UInt32(size), top: 0, bottom: native.pointee.height, left: 0, right: native.pointee.width,
            qoffset: offset.native)
        UnsafeMutableRawPointer(data.pointee.data).storeBytes(of: region, as: AVRegionOfInterest.self)
    }

    /// Another reference to the same picture.
    func reference() throws(ReelFailure) -> Frame {
        let copy = try Frame()
        try check(av_frame_ref(copy.native, native), .makeFrame)
        return copy
    }

    /// Releases the picture. The frame can be filled again.
    func reset() { av_frame_unref(native) }

    /// Releases the frame's buffers and takes over everything that `other` has, which is empty afterwards.
    func take(_ other: borrowing Frame) {
        // libavutil overwrites the frame without releasing what it had.
        reset()
        av_frame_move_ref(native, other.native)
    }
}

internal import CFFmpeg
internal import ReelCore

/// One decoded picture or block of samples, owned and freed with this value.
struct Frame: ~Copyable {
    typealias Taker = (borrowing Frame) throws(ReelFailure) -> Void

    let native: UnsafeMutablePointer<AVFrame>

    init() throws(ReelFailure) { native = try allocated(av_frame_alloc(), .makeFrame) }

    deinit { release(native, av_frame_free) }

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
    var isDamaged: Bool { native.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || native.pointee.decode_error_flags != 0 }

    /// Samples of each channel.
    var sampleCount: Int { Int(native.pointee.nb_samples) }

    /// Asks the encoder to change the quantiser of the whole picture from its own choice, by a part of its range; a
    /// negative one gives better quality.
    func offsetQuantiser(by offset: Rational) throws(ReelFailure) {
        let size = MemoryLayout<AVRegionOfInterest>.size
        let data = try allocated(av_frame_new_side_data(native, AV_FRAME_DATA_REGIONS_OF_INTEREST, size), .makeSideData)
        let region = AVRegionOfInterest(
            self_size: UInt32(size), top: 0, bottom: native.pointee.height, left: 0, right: native.pointee.width,
            qoffset: offset.native)
        UnsafeMutableRawPointer(data.pointee.data).storeBytes(of: region, as: AVRegionOfInterest.self)
    }

    func reference() throws(ReelFailure) -> Frame {
        let copy = try Frame()
        try check(av_frame_ref(copy.native, native), .makeFrame)
        return copy
    }

    /// Releases the picture. The frame can be filled again.
    func reset() { av_frame_unref(native) }

    /// Releases the frame's buffers and takes over everything that `other` has, which is empty afterwards.
    func take(_ other: borrowing Frame) {
        // libavutil overwrites the frame without releasing its old content.
        reset()
        av_frame_move_ref(native, other.native)
    }
}

extension Frame {
    var unconvertible: ReelFailure { ReelFailure(.pictureUnconvertible(width: width, height: height)) }

    var size: PictureSize { PictureSize(width: width, height: height) }

    /// Gives the frame memory of its own for a picture of this size and format.
    func allocate(
        _ width: Int, _ height: Int, _ format: AVPixelFormat, _ step: MediaStep = .makeFrame
    ) throws(ReelFailure) {
        native.pointee.format = format.rawValue
        (native.pointee.width, native.pointee.height) = (Int32(width), Int32(height))
        try check(av_frame_get_buffer(native, 0), step)
    }

    /// Makes it a black picture of a format; `range` is that of its values.
    func fillBlack(_ target: OutputFormat, range: String?) throws(ReelFailure) {
        reset()
        try allocate(target.width, target.height, av_get_pix_fmt(target.pixelFormat), .convertPicture)
        try check(reel_frame_fill_black(native, range == "pc" ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG), .convertPicture)
    }

    /// Moves the picture to a new frame; this one can be filled again.
    func takingPicture() throws(ReelFailure) -> Frame {
        let taken = try Frame()
        taken.take(self)
        return taken
    }

    /// Copies the picture and gives its memory back to the decoder at once. The decoder then reuses its memory in the
    /// same order every time. That order is visible in damaged pictures, whose undecoded parts keep the memory's former
    /// contents.
    func copyingPicture() throws(ReelFailure) -> Frame {
        let copy = try Frame()
        try copy.allocate(width, height, pixelFormat)
        try check(av_frame_copy(copy.native, native), .makeFrame)
        try check(av_frame_copy_props(copy.native, native), .makeFrame)
        reset()
        return copy
    }

    /// The part of the picture, in the same memory. The part begins at an even pixel and an even line.
    func part(_ area: PictureArea) throws(ReelFailure) -> Frame {
        let part = try reference()
        part.native.pointee.crop_left = area.x
        part.native.pointee.crop_top = area.y
        part.native.pointee.crop_right = width - area.x - area.width
        part.native.pointee.crop_bottom = height - area.y - area.height
        try check(av_frame_apply_cropping(part.native, reel_crop_unaligned), .convertPicture)
        return part
    }

    /// Copies a picture of the same format onto a part of this one.
    func show(_ picture: borrowing Frame, at area: PictureArea) throws(ReelFailure) {
        // A name keeps the part until it is filled; without one it is freed before the call.
        let part = try part(area)
        try check(av_frame_copy(part.native, picture.native), .convertPicture)
    }

    /// The visible pixels of all planes, line by line.
    func pixels() throws(ReelFailure) -> [UInt8] {
        let (width, height) = (native.pointee.width, native.pointee.height)
        let size = try check(av_image_get_buffer_size(pixelFormat, width, height, 1), .readPicture)
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let planes = [plane(0), plane(1), plane(2), plane(3)].map { $0.map { UnsafePointer($0) } }
        let lines = [lineSize(0), lineSize(1), lineSize(2), lineSize(3)].map { Int32($0) }
        try check(av_image_copy_to_buffer(&bytes, size, planes, lines, pixelFormat, width, height, 1), .readPicture)
        return bytes
    }

    /// The first line of a plane; nil if the picture has no such plane.
    func plane(_ number: Int) -> UnsafeMutablePointer<UInt8>? {
        withUnsafeBytes(of: &native.pointee.data) { raw in
            let planes = raw.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)
            return planes.indices.contains(number) ? planes[number] : nil
        }
    }

    /// The number of bytes from one line of a plane to the next.
    func lineSize(_ number: Int) -> Int {
        withUnsafeBytes(of: &native.pointee.linesize) { raw in
            let sizes = raw.bindMemory(to: Int32.self)
            return sizes.indices.contains(number) ? Int(sizes[number]) : 0
        }
    }
}

/// A part of a picture, in pixels.
struct PictureArea: Equatable {
    /// Pixels on its left, and lines above it.
    var x, y: Int
    var width, height: Int

    var size: PictureSize { PictureSize(width: width, height: height) }

    func lies(in size: PictureSize) -> Bool { x + width <= size.width && y + height <= size.height }
}

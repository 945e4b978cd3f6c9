internal import CFFmpeg
internal import ReelCore

/// Converts decoded pictures of a clip for the encoder: pixel format, size, time, and the field order of the output.
final class PictureConverter {
    private let target: OutputFormat
    private let format: AVPixelFormat
    private let stream: VideoStream
    private let direction: Direction
    private let colour: ColourTags
    /// Diagnostics about data removed from pictures so far.
    private(set) var losses: [Diagnostic] = []
    private var scaler: OpaquePointer?
    private var scaled: Frame
    /// Nil if the source has the output's form.
    private let fitting: PictureFitting?
    private let isBlack: Bool

    /// - Parameters:
    ///   - target: the output's format.
    ///   - stream: that of the clip's source.
    ///   - main: that of the source whose format the output has.
    init(
        format target: OutputFormat, stream: VideoStream, main: VideoStream, clip: Clip
    ) throws(ReelFailure) {
        self.target = target
        format = av_get_pix_fmt(target.pixelFormat)
        self.stream = stream
        direction = clip.direction
        isBlack = clip.isBlack
        fitting = target.takes(stream, beside: main) ? nil : PictureFitting(stream, into: main, target)
        colour = main.colour.converted(from: av_get_pix_fmt(main.pixelFormat), to: format)
        scaled = try Frame()
    }

    deinit { sws_freeContext(scaler) }

    /// Calls `body` with the picture in the form for the encoder, shown from `start`. All of the decoder's data on
    /// which an encoder would act is removed: picture types, repeats, closed captions and other side data.
    func withPicture(
        _ picture: borrowing Frame, at start: Timestamp, _ body: (borrowing Frame) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        if isBlack {
            try scaled.fillBlack(target, range: colour.range)
            prepare(scaled, at: start)
            try body(scaled)
            scaled.reset()
        } else if let fitting {
            try fitting.fit(picture, into: scaled)
            prepare(scaled, at: start)
            try body(scaled)
            scaled.reset()
        } else if fits(picture) {
            picture.native.pointee.format = format.rawValue
            prepare(picture, at: start)
            try body(picture)
        } else {
            try scale(picture)
            prepare(scaled, at: start)
            try body(scaled)
            scaled.reset()
        }
    }

    /// Scales a picture whose size differs from the stream's, in place, so that all pictures in memory have one size: to that
    /// of the target, or of the stream if its pictures are fitted later. Returns false if there was nothing to do.
    func resize(_ picture: borrowing Frame) throws(ReelFailure) -> Bool {
        guard picture.width != stream.width || picture.height != stream.height else { return false }
        if fitting == nil {
            try scale(picture)
        } else {
            try scale(picture, width: stream.width, height: stream.height, av_get_pix_fmt(stream.pixelFormat))
        }
        picture.take(scaled)
        return true
    }

    private func fits(_ picture: borrowing Frame) -> Bool {
        let own = PixelFormatChoice.withoutRange(picture.pixelFormat) == PixelFormatChoice.withoutRange(format)
        return own && picture.width == target.width && picture.height == target.height
    }

    private func scale(_ picture: borrowing Frame) throws(ReelFailure) {
        noteFormat(of: picture)
        try scale(picture, width: target.width, height: target.height, format)
    }

    /// Fills `scaled` with the picture in another size and format.
    private func scale(
        _ picture: borrowing Frame, width: Int, height: Int, _ format: AVPixelFormat
    ) throws(ReelFailure) {
        scaler = sws_getCachedContext(
            scaler, Int32(picture.width), Int32(picture.height), PixelFormatChoice.withoutRange(picture.pixelFormat),
            Int32(width), Int32(height), PixelFormatChoice.withoutRange(format),
            SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nil, nil, nil)
        guard scaler != nil else {
            throw ReelFailure(.pictureUnconvertible(width: picture.width, height: picture.height))
        }
        scaled.reset()
        try check(av_frame_copy_props(scaled.native, picture.native), .convertPicture)
        scaled.native.pointee.format = format.rawValue
        (scaled.native.pointee.width, scaled.native.pointee.height) = (Int32(width), Int32(height))
        try check(av_frame_get_buffer(scaled.native, 0), .convertPicture)
        try check(sws_scale_frame(scaler, scaled.native, picture.native), .convertPicture)
    }

    /// A stream may change its pixel format in the middle.
    private func noteFormat(of picture: borrowing Frame) {
        let (own, first) = (picture.pixelFormat, av_get_pix_fmt(stream.pixelFormat))
        guard PixelFormatChoice.withoutRange(own) != PixelFormatChoice.withoutRange(first) else { return }
        let loss = Diagnostic.framesConverted(
            from: known(av_get_pix_fmt_name(own)) ?? "unknown", to: target.pixelFormat)
        if !losses.contains(loss) { losses.append(loss) }
    }

    private func prepare(_ frame: borrowing Frame, at start: Timestamp) {
        let fields = stream.fields(
            direction, interlaced: reel_frame_is_interlaced(frame.native) != 0,
            topFirst: reel_frame_top_field_first(frame.native) != 0)
        frame.pts = start
        frame.native.pointee.pict_type = AV_PICTURE_TYPE_NONE
        frame.native.pointee.key_frame = 0
        frame.native.pointee.repeat_pict = 0
        reel_frame_set_fields(frame.native, fields.interlaced ? 1 : 0, fields.topFirst ? 1 : 0)
        frame.native.pointee.sample_aspect_ratio = target.sampleAspectRatio?.native ?? AVRational(num: 0, den: 1)
        colour.apply(to: frame)
        for loss in DroppedSideData.of(frame) where !losses.contains(loss) { losses.append(loss) }
        DroppedSideData.strip(frame)
    }
}

extension Frame {
    /// Makes a frame that shows the same picture.
    func sharingPicture() throws(ReelFailure) -> Frame {
        let shared = try Frame()
        try check(av_frame_ref(shared.native, native), .makeFrame)
        return shared
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
        (copy.native.pointee.format, copy.native.pointee.width) = (native.pointee.format, native.pointee.width)
        copy.native.pointee.height = native.pointee.height
        try check(av_frame_get_buffer(copy.native, 0), .makeFrame)
        try check(av_frame_copy(copy.native, native), .makeFrame)
        try check(av_frame_copy_props(copy.native, native), .makeFrame)
        reset()
        return copy
    }
}

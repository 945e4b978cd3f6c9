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

/// Fits a source's pictures into the output's: turned as these are, scaled in proportion onto black, with the colours of the
/// source that gives the output its own.
final class PictureFitting {
    private let source: VideoStream
    private let main: VideoStream
    private let target: OutputFormat
    private let format: AVPixelFormat
    /// The size in which the pictures are scaled, and where they lie on the output's.
    private let area: Area
    private var graph: Graph?

    /// The filters for pictures of one size and format, and the format for which the filters take these: the output's, which
    /// differs in the name of the range alone, if they are only turned.
    private struct Graph {
        let chain: FilterGraph
        let width, height: Int
        let format, taken: AVPixelFormat
    }

    /// A rectangle of the output's picture, in pixels.
    struct Area: Equatable {
        var left: Int
        var top: Int
        var width: Int
        var height: Int
    }

    /// - Parameters:
    ///   - source: the stream whose pictures are fitted.
    ///   - main: the stream whose colours they get.
    ///   - target: the output's format.
    init(_ source: VideoStream, into main: VideoStream, _ target: OutputFormat) {
        self.source = source
        self.main = main
        self.target = target
        format = av_get_pix_fmt(target.pixelFormat)
        area = PictureFitting.area(of: source, in: target)
    }

    /// The greatest area of the output's picture with the proportions that `source` has upright; sizes and places are
    /// even, since chroma is shared by pairs of pixels.
    static func area(of source: VideoStream, in target: OutputFormat) -> Area {
        let turn = Turning(from: source.displayMatrix, to: target.displayMatrix)
        var (width, height) = (Int64(source.width), Int64(source.height))
        var aspect = source.sampleAspectRatio ?? Rational(1)
        if turn.isSideways { (width, height, aspect) = (height, width, Rational(1) / aspect) }
        // Width divided by height, in pixels of the output.
        let shape = Rational(width, max(height, 1)) * aspect / (target.sampleAspectRatio ?? Rational(1))
        let room = Rational(Int64(target.width), Int64(max(target.height, 1)))
        func even(_ length: Rational, of most: Int) -> Int {
            // A picture that fills the room but for a rounding fills it.
            let pairs = TimeBase(2, 1).ticks(in: length, rounding: .nearest)
            return pairs * 2 >= Int64(most) - 1 ? most : Int(max(pairs, 1) * 2)
        }
        var area = Area(left: 0, top: 0, width: target.width, height: target.height)
        if shape >= room {
            area.height = even(Rational(Int64(target.width)) / shape, of: target.height)
        } else {
            area.width = even(Rational(Int64(target.height)) * shape, of: target.width)
        }
        area.left = (target.width - area.width) / 4 * 2
        area.top = (target.height - area.height) / 4 * 2
        return area
    }

    /// Fills `fitted` with the picture in the output's form.
    func fit(_ picture: borrowing Frame, into fitted: borrowing Frame) throws(ReelFailure) {
        let graph = try graph(for: picture)
        let scaled = try Frame()
        let own = try picture.reference()
        own.native.pointee.format = graph.taken.rawValue
        // The chain counts pictures by their times, and gives none that comes late.
        own.pts = nil
        try graph.chain.push(own)
        guard try graph.chain.pull(into: scaled) else {
            throw ReelFailure(.pictureUnconvertible(width: picture.width, height: picture.height))
        }
        if scaled.width == target.width, scaled.height == target.height {
            fitted.take(scaled)
        } else {
            try fitted.fillBlack(target, range: main.colour.range)
            try fitted.show(scaled, at: area)
        }
        try check(av_frame_copy_props(fitted.native, picture.native), .convertPicture)
    }

    private func graph(for picture: borrowing Frame) throws(ReelFailure) -> Graph {
        let own = picture.pixelFormat
        if let graph, graph.width == picture.width, graph.height == picture.height, graph.format == own { return graph }
        let isOnlyTurned = isOnlyTurned(picture)
        var filters = turning.filters
        if !isOnlyTurned {
            filters.append(
                "scale=\(area.width):\(area.height):flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int"
                    + colours)
        }
        filters.append("format=\(target.pixelFormat)")
        let taken = isOnlyTurned ? format : own
        let chain = try FilterGraph(
            pictures: filters.joined(separator: ","), width: picture.width, height: picture.height, format: taken)
        let made = Graph(chain: chain, width: picture.width, height: picture.height, format: own, taken: taken)
        graph = made
        return made
    }

    private var turning: Turning { Turning(from: source.displayMatrix, to: target.displayMatrix) }

    /// Whether a picture has the output's size and pixels once it is turned, so that every value can stay as it is.
    private func isOnlyTurned(_ picture: borrowing Frame) -> Bool {
        let isSideways = turning.isSideways
        return area == Area(left: 0, top: 0, width: target.width, height: target.height)
            && (isSideways ? picture.height : picture.width) == target.width
            && (isSideways ? picture.width : picture.height) == target.height
            && PixelFormatChoice.withoutRange(picture.pixelFormat) == PixelFormatChoice.withoutRange(format)
            && source.colour.matrix == main.colour.matrix && source.hasFullRange == main.hasFullRange
            && (!isSideways || PixelFormatChoice.turnsExactly(format))
    }

    /// The options of the scaler that say what colours mean in both. It would take what they leave open for BT.601 in
    /// limited range.
    private var colours: String {
        let (own, shown) = (av_get_pix_fmt(source.pixelFormat), av_get_pix_fmt(main.pixelFormat))
        let sides = [
            ("in", source.colour.converted(from: own, to: own), source),
            ("out", main.colour.converted(from: shown, to: format), main),
        ]
        return sides.map { side, colour, stream in
            guard let matrix = colour.matrixOfScaler(stream) else { return "" }
            return ":\(side)_color_matrix=\(matrix):\(side)_range=\(colour.range ?? "tv")"
        }.joined()
    }
}

extension ColourTags {
    /// The matrix as libswscale names it; nil for RGB. Where nothing says it, pictures of high definition have that of BT.709
    /// and others that of BT.601, as players have it.
    fileprivate func matrixOfScaler(_ stream: VideoStream) -> String? {
        switch matrix {
        case "gbr": nil
        case "bt709", "fcc", "smpte240m": matrix
        case "bt2020nc", "bt2020c": "bt2020"
        case "smpte170m", "bt470bg": "bt601"
        default: stream.width >= 1280 || stream.height > 576 ? "bt709" : "bt601"
        }
    }
}

extension Turning {
    /// The filters that do it.
    var filters: [String] {
        switch (a, b, c, d) {
        case (1, 0, 0, 1): []
        case (-1, 0, 0, 1): ["hflip"]
        case (1, 0, 0, -1): ["vflip"]
        case (-1, 0, 0, -1): ["hflip", "vflip"]
        case (0, 1, 1, 0): ["transpose=cclock_flip"]
        case (0, 1, -1, 0): ["transpose=clock"]
        case (0, -1, 1, 0): ["transpose=cclock"]
        default: ["transpose=clock_flip"]
        }
    }
}

extension Frame {
    /// Makes it a black picture of a format; `range` is that of its values.
    func fillBlack(_ target: OutputFormat, range: String?) throws(ReelFailure) {
        reset()
        let format = av_get_pix_fmt(target.pixelFormat)
        native.pointee.format = format.rawValue
        (native.pointee.width, native.pointee.height) = (Int32(target.width), Int32(target.height))
        try check(av_frame_get_buffer(native, 0), .convertPicture)
        try check(
            reel_frame_fill_black(native, range == "pc" ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG), .convertPicture)
    }

    /// Copies a picture of the same format onto a part of this one.
    func show(_ picture: borrowing Frame, at area: PictureFitting.Area) throws(ReelFailure) {
        let part = try reference()
        part.native.pointee.crop_left = area.left
        part.native.pointee.crop_top = area.top
        part.native.pointee.crop_right = width - area.left - area.width
        part.native.pointee.crop_bottom = height - area.top - area.height
        try check(av_frame_apply_cropping(part.native, reel_crop_unaligned), .convertPicture)
        try check(av_frame_copy(part.native, picture.native), .convertPicture)
    }
}

internal import CFFmpeg
internal import ReelCore

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

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

    /// `stream` is that of the clip's source, `main` that of the source whose format the output has.
    init(format target: OutputFormat, stream: VideoStream, main: VideoStream, clip: Clip) throws(ReelFailure) {
        (self.target, self.stream, direction, isBlack) = (target, stream, clip.direction, clip.isBlack)
        format = av_get_pix_fmt(target.pixelFormat)
        fitting = target.takes(stream, beside: main) ? nil : PictureFitting(stream, into: main, target)
        let shown = target.toneMapping == nil ? main.colour : main.colour.mappedToStandardRange
        colour = shown.converted(from: av_get_pix_fmt(main.pixelFormat), to: format)
        scaled = try Frame()
    }

    deinit { sws_freeContext(scaler) }

    /// Calls `body` with the picture in the form for the encoder, shown from `start`. All of the decoder's data on
    /// which an encoder would act is removed: picture types, repeats, closed captions and other side data.
    func withPicture(
        _ picture: borrowing Frame, at start: Timestamp, _ body: (borrowing Frame) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        if !isBlack, fitting == nil, fits(picture) {
            picture.native.pointee.format = format.rawValue
            prepare(picture, at: start)
            return try body(picture)
        }
        if isBlack {
            try scaled.fillBlack(target, range: colour.range)
        } else if let fitting {
            try fitting.fit(picture, into: scaled)
        } else {
            try scale(picture)
        }
        prepare(scaled, at: start)
        try body(scaled)
        scaled.reset()
    }

    /// Scales a picture whose size differs from the stream's, in place, so that all pictures in memory have one size:
    /// to that of the target, or of the stream if its pictures are fitted later. Returns false if there was nothing to
    /// do.
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
        let own = picture.pixelFormat.withoutRange == format.withoutRange
        return own && picture.width == target.width && picture.height == target.height
    }

    private func scale(_ picture: borrowing Frame) throws(ReelFailure) {
        noteFormat(of: picture)
        try scale(picture, width: target.width, height: target.height, format)
    }

    /// Fills `scaled` with the picture in another size and format.
    private func scale(_ frame: borrowing Frame, width: Int, height: Int, _ format: AVPixelFormat) throws(ReelFailure) {
        scaler = sws_getCachedContext(
            scaler, Int32(frame.width), Int32(frame.height), frame.pixelFormat.withoutRange, Int32(width),
            Int32(height), format.withoutRange, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nil, nil, nil)
        guard scaler != nil else { throw frame.unconvertible }
        scaled.reset()
        try check(av_frame_copy_props(scaled.native, frame.native), .convertPicture)
        try scaled.allocate(width, height, format, .convertPicture)
        try check(sws_scale_frame(scaler, scaled.native, frame.native), .convertPicture)
    }

    /// A stream may change its pixel format in the middle.
    private func noteFormat(of picture: borrowing Frame) {
        let (own, first) = (picture.pixelFormat, av_get_pix_fmt(stream.pixelFormat))
        guard own.withoutRange != first.withoutRange else { return }
        let loss = Diagnostic.framesConverted(from: own.name, to: target.pixelFormat)
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
        frame.native.pointee.sample_aspect_ratio = target.sampleAspectRatio.native
        colour.apply(to: frame)
        for loss in DroppedSideData.of(frame) where !losses.contains(loss) { losses.append(loss) }
        DroppedSideData.strip(frame)
    }
}

/// Fits a source's pictures into the output: turned like the output, scaled in proportion, in the colours of the main
/// source. Where the proportions differ, as the output's `Fit` says.
final class PictureFitting {
    private let source, main: VideoStream
    private let target: OutputFormat
    private let format: AVPixelFormat
    /// The size in which the pictures are scaled, and where they lie on the output's; a place is negative if they cover
    /// more.
    private let area: PictureArea
    private var graph: Graph?
    /// How many pictures the chains have taken.
    private var taken: Int64 = 0

    /// The filters for pictures of one size and format. `taken` is the format that the filters are told: for pictures
    /// that are only turned, the output's, which differs only in the name of the range.
    private struct Graph {
        let chain: FilterGraph
        let width, height: Int
        let format, taken: AVPixelFormat
    }

    /// Fits the pictures of `source`, which get the colours of `main`, into the output's format.
    init(_ source: VideoStream, into main: VideoStream, _ target: OutputFormat) {
        (self.source, self.main, self.target) = (source, main, target)
        format = av_get_pix_fmt(target.pixelFormat)
        area = PictureFitting.area(of: source, in: target, covers: target.fit == .crop)
    }

    /// The greatest area of the output's picture with the proportions that `source` has upright, or the least that covers
    /// it; sizes and places are even, since chroma is shared by pairs of pixels.
    static func area(of source: VideoStream, in target: OutputFormat, covers: Bool = false) -> PictureArea {
        let turn = Turning(from: source.displayMatrix, to: target.displayMatrix)
        var (width, height) = (Int64(source.width), Int64(source.height))
        var aspect = source.sampleAspectRatio ?? Rational(1)
        if turn.isSideways { (width, height, aspect) = (height, width, Rational(1) / aspect) }
        // Width divided by height, in pixels of the output.
        let shape = Rational(width, max(height, 1)) * aspect / (target.sampleAspectRatio ?? Rational(1))
        let room = Rational(Int64(target.width), Int64(max(target.height, 1)))
        func even(_ length: Rational, of most: Int) -> Int {
            // A length that misses the full one only by rounding becomes the full one.
            let pairs = TimeBase(2, 1).ticks(in: length, rounding: .nearest)
            let isFull = abs(pairs * 2 - Int64(most)) <= 1 || !covers && pairs * 2 > Int64(most)
            return isFull ? most : Int(min(max(pairs, 1) * 2, 1 << 16))
        }
        var area = PictureArea(x: 0, y: 0, width: target.width, height: target.height)
        if (shape >= room) != covers {
            area.height = even(Rational(Int64(target.width)) / shape, of: target.height)
        } else {
            area.width = even(Rational(Int64(target.height)) * shape, of: target.width)
        }
        area.x = (target.width - area.width) / 4 * 2
        area.y = (target.height - area.height) / 4 * 2
        return area
    }

    /// Fills `fitted` with the picture in the output's form.
    func fit(_ picture: borrowing Frame, into fitted: borrowing Frame) throws(ReelFailure) {
        let graph = try graph(for: picture)
        let scaled = try Frame()
        let own = try picture.reference()
        own.native.pointee.format = graph.taken.rawValue
        // The chain orders pictures by time and drops late ones.
        own.pts = Timestamp(taken)
        taken += 1
        try graph.chain.push(own)
        guard try graph.chain.pull(into: scaled) else { throw picture.unconvertible }
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
        let taken = isOnlyTurned ? format : own
        let chain = try FilterGraph(
            pictures: filters(isOnlyTurned: isOnlyTurned), width: picture.width, height: picture.height, format: taken)
        let made = Graph(chain: chain, width: picture.width, height: picture.height, format: own, taken: taken)
        graph = made
        return made
    }

    private func filters(isOnlyTurned: Bool) -> String {
        let made = "format=\(target.pixelFormat)"
        guard !isOnlyTurned else { return (turning.filters + [made]).joined(separator: ",") }
        func chain(_ area: PictureArea) -> String {
            (turning.filters + scaling(to: area) + [made]).joined(separator: ",")
        }
        let (width, height) = (target.width, target.height)
        switch target.fit ?? .standard {
        case .blur where area.width != width || area.height != height:
            // Small pictures are blurred as well as large ones, in less time.
            let small = 4
            let behind = PictureFitting.area(of: source, in: target, covers: true)
            let sides = (max(behind.width / small, 2), max(behind.height / small, 2))
            let cut = (min(max(width / small, 2), sides.0), min(max(height / small, 2), sides.1))
            return "[in]split[a][b];[a]" + chain(PictureArea(x: 0, y: 0, width: sides.0, height: sides.1))
                + ",crop=\(cut.0):\(cut.1),gblur=sigma=\(max(max(cut.0, cut.1) / 40, 1))"
                + ",scale=\(width):\(height):flags=bicubic+accurate_rnd,\(made)[behind];[b]\(chain(area))[before];"
                + "[behind][before]overlay=x=\(area.x):y=\(area.y):format=auto,\(made)"
        case .crop: return chain(area) + ",crop=\(width):\(height):\(-area.x):\(-area.y)"
        case .bars, .blur: return chain(area)
        }
    }

    private var turning: Turning { Turning(from: source.displayMatrix, to: target.displayMatrix) }

    /// Whether a picture has the output's size and pixels once it is turned, so that every value can stay as it is.
    private func isOnlyTurned(_ picture: borrowing Frame) -> Bool {
        let isSideways = turning.isSideways
        return !mapsTones && area == PictureArea(x: 0, y: 0, width: target.width, height: target.height)
            && (isSideways ? picture.height : picture.width) == target.width
            && (isSideways ? picture.width : picture.height) == target.height
            && picture.pixelFormat.withoutRange == format.withoutRange && source.colour.matrix == main.colour.matrix
            && source.hasFullRange == main.hasFullRange && (!isSideways || format.turnsExactly)
    }

    private var mapsTones: Bool { target.toneMapping != nil && source.colour.dynamicRange != .standard }

    private func scaling(to area: PictureArea) -> [String] {
        guard !mapsTones else { return toneMapping(area) }
        return [
            "scale=\(area.width):\(area.height):flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int" + colours
        ]
    }

    /// Scales the pictures, and maps their light to the standard range.
    private func toneMapping(_ area: PictureArea) -> [String] {
        let colour = source.colour
        let shown = main.colour.mappedToStandardRange.converted(from: av_get_pix_fmt(main.pixelFormat), to: format)
        // zimg takes no picture whose sides its chroma does not divide.
        let isRGB = av_get_pix_fmt(source.pixelFormat).isRGB
        let light = colour.dynamicRange == .perceptual ? "smpte2084" : "arib-std-b67"
        let input = [
            "primariesin=\(Zimg.primaries(colour, or: "bt2020"))", "transferin=\(light)",
            "matrixin=\(isRGB ? "gbr" : Zimg.matrix(colour, or: "bt2020nc"))",
            "rangein=\(source.hasFullRange || isRGB ? "full" : "limited")",
        ]
        let output =
            format.isRGB
            ? ["matrix=gbr:range=full", "format=gbrp"]
            : [
                "matrix=\(Zimg.matrix(shown, or: shown.matrixOfScaler(main) == "bt601" ? "smpte170m" : "bt709"))"
                    + ":range=\(shown.range == "pc" ? "full" : "limited")", "format=yuv444p16le",
            ]
        let convert = "scale=flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int"
        return [
            convert, "format=\(isRGB ? "gbrp16le" : "yuv444p16le")",
            "zscale=w=\(area.width):h=\(area.height):filter=bicubic:\(input.joined(separator: ":")):transfer=linear:npl=100",
            "format=gbrpf32le", "zscale=primaries=\(Zimg.primaries(shown, or: "bt709"))",
            "tonemap=tonemap=hable:desat=0:peak=\(peak)", "zscale=transfer=bt709:\(output[0])", output[1], convert,
        ]
    }

    /// The brightest light of the source, where 1 is that of standard white. The same for all passes: a decoder that begins
    /// in the middle may not meet what the stream says of it.
    private var peak: Double {
        let pixel = source.contentLight.map { Double($0.pixel) } ?? 0
        let display = source.masteringDisplay?.luminance?.most.approximate ?? 0
        return [pixel, display, 1000].first { $0 > 100 }.map { $0 / 100 } ?? 10
    }

    /// The options that tell the scaler the matrix and range of both. Without them it assumes BT.601 in limited range.
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

/// Colours as zimg's filter names them.
private enum Zimg {
    private static let allPrimaries: Set = [
        "bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431", "smpte432",
    ]
    private static let matrices: Set = [
        "bt709", "fcc", "bt470bg", "smpte170m", "bt2020nc", "bt2020c", "ictcp", "chroma-derived-nc",
    ]

    static func primaries(_ colour: ColourTags, or usual: String) -> String {
        colour.primaries.flatMap { allPrimaries.contains($0) ? $0 : nil } ?? usual
    }

    static func matrix(_ colour: ColourTags, or usual: String) -> String {
        colour.matrix.flatMap { matrices.contains($0) ? $0 : nil } ?? usual
    }
}

extension ColourTags {
    /// The matrix as libswscale names it; nil for RGB. If it is unspecified, pictures of high definition have the
    /// matrix of BT.709 and others the matrix of BT.601, as in players.
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

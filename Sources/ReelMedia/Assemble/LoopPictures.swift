internal import CFFmpeg
internal import ReelCore

/// The pictures of a loop, decoded from the segments of a job and drawn in the colours of its format.
///
/// The segments are lossless. If the format has a palette, they are read once to choose its colours and once more to be
/// drawn in them, so that no picture is held.
struct LoopPictures {
    private let sources: [IndexedSource]
    private let segments: SegmentList
    let plan: Plan
    let traits: LoopTraits
    let options: LoopOptions
    /// By how much they are smaller and fewer than planned; nil for as planned.
    private let reduction: LoopReduction?
    /// The delays of all pictures, in ticks of the format.
    let delays: [Int64]

    init?(
        sources: [IndexedSource], plan: Plan, segments: SegmentList, reduction: LoopReduction? = nil
    ) {
        guard let traits = plan.container.traits.loops else { return nil }
        (self.sources, self.plan, self.segments, self.traits) = (sources, plan, segments, traits)
        var options = plan.loop ?? LoopOptions()
        if let colours = reduction?.colours { options.colours = colours }
        (self.options, self.reduction) = (options, reduction)
        let order = FrameOrder(plan)
        let clock = plan.video.format.timeBase
        let tracks = sources.map(\.index.video)
        let starts = stride(from: 0, to: order.count, by: reduction?.step ?? 1).map {
            clock.seconds(order.interval(at: $0, in: tracks).start)
        }
        let least = max(traits.clock.ticks(in: LoopTraits.leastDelay, rounding: .up), 1)
        let end = clock.seconds(plan.end(in: sources.map(\.index)))
        delays = LoopTraits.delays(starts: starts, end: end, clock: traits.clock, least: least)
    }

    private var plannedSize: PictureSize {
        PictureSize(width: plan.video.format.width, height: plan.video.format.height)
    }

    var size: PictureSize { reduction?.size ?? plannedSize }

    /// The same pictures, reduced from what is planned.
    func reduced(_ reduction: LoopReduction) -> LoopPictures? {
        LoopPictures(sources: sources, plan: plan, segments: segments, reduction: reduction)
    }

    var isTransparent: Bool { plan.video.format.pixelFormat == "bgra" }

    /// The pixel format in which the encoder takes the pictures.
    var drawnFormat: String {
        if options.isLossless, let format = traits.losslessFormat { return format }
        return isTransparent ? traits.transparentFormat ?? traits.pixelFormat : traits.pixelFormat
    }

    /// How many frames are decoded to draw all pictures: all of them once more to choose a palette.
    var decodings: Int { plan.frameCount * (traits.hasPalette ? 2 : 1) }

    /// Hands out all pictures in the output's order, as the format shows them. Returns what each shows. Calls `progress` with
    /// the number of frames decoded.
    func drawn(_ take: Frame.Taker, progress: (_ decoded: Int) -> Void) throws(ReelFailure) -> [DecodedPicture] {
        if traits.hasPalette { return try drawnInPalette(take, progress: progress) }
        let chain = try FilterGraph(
            pictures: "format=\(drawnFormat)", width: size.width, height: size.height,
            format: av_get_pix_fmt(plan.video.format.pixelFormat))
        let digest = try LoopDigest()
        var pictures: [DecodedPicture] = []
        let made = try Frame()
        func pull() throws(ReelFailure) {
            while try chain.pull(into: made) {
                pictures.append(try digest.describe(made))
                try take(made)
            }
        }
        try eachPicture(
            { (picture) throws(ReelFailure) in
                try chain.push(picture)
                try pull()
            }, progress: progress)
        try chain.finish()
        try pull()
        return pictures
    }

    private func drawnInPalette(
        _ take: Frame.Taker, progress: (_ decoded: Int) -> Void
    ) throws(ReelFailure) -> [DecodedPicture] {
        let dither =
            switch options.dither ?? .standard {
            case .none: "none"
            case .bayer: "bayer"
            case .sierra: "sierra2_4a"
            case .floydSteinberg: "floyd_steinberg"
            }
        let chain = try FilterGraph(
            pictures: "[in][palette]paletteuse=dither=\(dither):diff_mode=rectangle", width: size.width,
            height: size.height, format: AV_PIX_FMT_BGRA, palette: try palette(progress: progress))
        let (converter, digest) = (LoopConverter(), try LoopDigest())
        let steady = try SteadyColours()
        var pictures: [DecodedPicture] = []
        let made = try Frame()
        try eachPicture(
            { (picture) throws(ReelFailure) in
                let source = try converter.shown(picture)
                try chain.push(source)
                guard try chain.pull(into: made) else { throw source.unconvertible }
                try steady.steady(made, source: source)
                pictures.append(try digest.describe(made))
                try take(made)
            }, progress: { progress(plan.frameCount + $0) })
        return pictures
    }

    /// The palette of all pictures: 256 colours in a picture of 16 by 16.
    private func palette(progress: (_ decoded: Int) -> Void) throws(ReelFailure) -> Frame {
        let chain = try FilterGraph(
            pictures: "palettegen=max_colors=\(options.colours ?? LoopOptions.coloursAllowed.upperBound)",
            width: size.width, height: size.height, format: av_get_pix_fmt(plan.video.format.pixelFormat))
        let palette = try Frame()
        try eachPicture(
            { (picture) throws(ReelFailure) in
                try chain.push(picture)
                // The graph keeps pictures until its output is asked for, although that comes at the end.
                _ = try chain.pull(into: palette)
            }, progress: progress)
        try chain.finish()
        guard try chain.pull(into: palette) else { throw ReelFailure(.nothingToEncode) }
        return palette
    }

    private func eachPicture(_ take: Frame.Taker, progress: (_ decoded: Int) -> Void) throws(ReelFailure) {
        guard let reduction else { return try eachPlanned(take, progress: progress) }
        let format = av_get_pix_fmt(plan.video.format.pixelFormat)
        let (size, step) = (reduction.size, reduction.step)
        let chain =
            size == plannedSize
            ? nil
            : try FilterGraph(
                pictures: "scale=\(size.width):\(size.height):flags=lanczos", width: plannedSize.width,
                height: plannedSize.height, format: format)
        let made = try Frame()
        var count = 0
        try eachPlanned(
            { (picture) throws(ReelFailure) in
                defer { count += 1 }
                guard count.isMultiple(of: step) else { return }
                picture.pts = Timestamp(Int64(count / step))
                guard let chain else { return try take(picture) }
                try chain.push(picture)
                guard try chain.pull(into: made) else { throw picture.unconvertible }
                try take(made)
            }, progress: progress)
    }

    private func eachPlanned(_ take: Frame.Taker, progress: (_ decoded: Int) -> Void) throws(ReelFailure) {
        let streams = try OutputStreams(plan: plan, sources: sources, heard: [])
        guard let video = streams.video else { throw ReelFailure(.planLacks(part: .videoPass, number: 0)) }
        let source = VideoSource(
            segments: segments, plan: plan, indexes: sources.map(\.index), parameters: video,
            depth: streams.reorderDepth, shift: .zero)
        let decoder = try Decoder(
            parameters: video, timeBase: source.timeBase, threads: 1, path: plan.container.rawValue)
        let packet = try Packet()
        let frame = try Frame()
        var count = 0
        while source.upcoming != nil {
            try source.take(into: packet)
            _ = try decoder.send(packet)
            packet.reset()
            while try decoder.receive(into: frame) == .frame {
                // Two frames of a source may share a time; pictures are counted, not timed, here.
                frame.pts = Timestamp(Int64(count))
                count += 1
                do throws(ReelFailure) { try take(frame) } catch { throw source.judged(error) }
                progress(count)
            }
        }
        try source.finish()
        guard count == plan.frameCount else {
            throw source.judged(unverified(.frameCount(found: count, planned: plan.frameCount)))
        }
    }
}

/// Compares pictures by their visible pixels: transparent pixels are equal, whatever their colour.
final class LoopDigest {
    private let digest: PictureDigest
    private let converter = LoopConverter()

    init() throws(ReelFailure) { digest = try PictureDigest() }

    func describe(_ picture: borrowing Frame) throws(ReelFailure) -> DecodedPicture {
        let shown = try converter.shown(picture)
        try check(av_frame_make_writable(shown.native), .convertPicture)
        if let pixels = shown.plane(0) {
            for row in 0..<shown.height {
                let line = UnsafeMutableRawPointer(mutating: pixels + row * shown.lineSize(0))
                    .assumingMemoryBound(to: UInt32.self)
                for pixel in 0..<shown.width where line[pixel] >> 24 == 0 { line[pixel] = 0 }
            }
        }
        return digest.describe(shown)
    }
}

/// Converts pictures to four bytes for each pixel: blue, green, red and opacity.
final class LoopConverter {
    private var chain: (graph: FilterGraph, format: AVPixelFormat, size: PictureSize)?

    func shown(_ picture: borrowing Frame) throws(ReelFailure) -> Frame {
        let shown = try Frame()
        let graph = try graph(for: picture)
        try graph.push(picture)
        guard try graph.pull(into: shown) else { throw picture.unconvertible }
        return shown
    }

    private func graph(for picture: borrowing Frame) throws(ReelFailure) -> FilterGraph {
        if let chain, chain.format == picture.pixelFormat, chain.size == picture.size { return chain.graph }
        let graph = try FilterGraph(
            pictures: "format=bgra", width: picture.width, height: picture.height, format: picture.pixelFormat)
        chain = (graph, picture.pixelFormat, picture.size)
        return graph
    }
}

/// Keeps the colour of every pixel whose source has not changed since the picture before.
///
/// Dithering passes errors from line to line, so a change at one place draws other noise over still parts. A GIF codes
/// only changes: an unchanged part costs no bytes and does not flicker.
final class SteadyColours {
    /// The picture before, as it is shown, and its source.
    private let shown, seen: Frame

    init() throws(ReelFailure) {
        shown = try Frame()
        seen = try Frame()
    }

    /// Changes a picture with a palette, which was drawn from this source of four bytes a pixel.
    func steady(_ picture: borrowing Frame, source: borrowing Frame) throws(ReelFailure) {
        try check(av_frame_make_writable(picture.native), .convertPicture)
        if let drawn = picture.plane(0), let new = source.plane(0), let past = shown.plane(0), let old = seen.plane(0) {
            for row in 0..<picture.height {
                let line = drawn + row * picture.lineSize(0)
                let kept = past + row * shown.lineSize(0)
                let wanted = UnsafeRawPointer(new + row * source.lineSize(0)).assumingMemoryBound(to: UInt32.self)
                let had = UnsafeRawPointer(old + row * seen.lineSize(0)).assumingMemoryBound(to: UInt32.self)
                for x in 0..<picture.width where wanted[x] == had[x] { line[x] = kept[x] }
            }
        }
        shown.reset()
        seen.reset()
        try check(av_frame_ref(shown.native, picture.native), .makeFrame)
        try check(av_frame_ref(seen.native, source.native), .makeFrame)
    }
}

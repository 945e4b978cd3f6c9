internal import CFFmpeg
internal import ReelCore

/// Tells pictures apart by what they show: pixels that are transparent are equal, whatever colour they would have.
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
        guard try graph.pull(into: shown) else {
            throw ReelFailure(.pictureUnconvertible(width: picture.width, height: picture.height))
        }
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

/// Keeps the colour of every pixel whose source is the same as in the picture before.
///
/// Dithering passes the errors of a line on, so a change at one place draws other noise over parts that stand still.
/// A GIF codes only what changes: what stays costs no bytes and does not flicker.
final class SteadyColours {
    /// The picture before, as it is shown.
    private let shown: Frame
    /// Its source.
    private let seen: Frame

    init() throws(ReelFailure) {
        shown = try Frame()
        seen = try Frame()
    }

    /// Changes a picture with a palette, which was drawn from this source of four bytes a pixel.
    func steady(_ picture: borrowing Frame, source: borrowing Frame) throws(ReelFailure) {
        try check(av_frame_make_writable(picture.native), .convertPicture)
        if let drawn = picture.plane(0), let new = source.plane(0), let past = shown.plane(0),
            let old = seen.plane(0)
        {
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

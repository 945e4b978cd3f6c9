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

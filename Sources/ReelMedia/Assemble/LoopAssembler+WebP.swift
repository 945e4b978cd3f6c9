internal import CFFmpeg
internal import Crypto
internal import ReelCore

extension LoopAssembler {
    private var layout: WebPLayout {
        WebPLayout(size: size, count: plan.frameCount, plays: options.plays ?? 0)
    }

    /// Writes all pictures as a WebP file. Returns its size in bytes, too.
    func writeWebP(
        to sink: any ByteSink, _ delays: [Int64], progress: (_ packets: Int, _ frames: Int) -> Void
    ) throws(ReelFailure) -> (expected: Expected, bytes: Int64) {
        let file = WebPWriter(sink, layout)
        var written = 0
        let expected = try codedWebP(delays) { (bytes) throws(ReelFailure) in
            try file.add(bytes)
            written += 1
            progress(written, written)
        }
        return (expected, try file.finish())
    }

    /// Draws and encodes all pictures, and hands out the bytes of each in the file.
    func codedWebP(
        _ delays: [Int64], _ take: ([UInt8]) throws(ReelFailure) -> Void
    ) throws(ReelFailure) -> Expected {
        let encoder = try WebPEncoder(
            traits.encoder, format: av_get_pix_fmt(drawnFormat), isLossless: options.isLossless,
            isOpaque: !isTransparent)
        let layout = layout
        var coded: [SHA256Digest] = []
        let pictures = try drawn { (picture) throws(ReelFailure) in
            let bytes = layout.bytes(of: try encoder.code(picture, delay: delays[coded.count]))
            coded.append(SHA256.hash(data: bytes))
            try take(bytes)
        }
        return Expected(pictures: pictures, coded: coded)
    }

    /// Compares the bytes of a finished file with the ones that were encoded, and what a decoder shows of them with what was
    /// drawn: without loss every pixel, else the likeness. Returns the file's SHA-256 in hexadecimal.
    func verifyWebP(
        _ output: any ByteSource, _ expected: Expected, _ delays: [Int64], progress: (Int) -> Void
    ) throws(ReelFailure) -> String {
        let bytes = try ByteReader(output, .output)
        var file = try WebPReader(bytes, layout)
        let canvas = try WebPCanvas(size, name: output.name)
        let digest = try LoopDigest()
        var count = 0
        while let coded = try file.next() {
            guard count < delays.count else { throw wrong(.frameCount(found: count + 1, planned: delays.count)) }
            guard let picture = layout.picture(in: coded) else { throw wrong(.payload) }
            guard picture.delay == delays[count] || layout.count == 1 else {
                let (found, planned) = (picture.delay, delays[count])
                throw wrong(
                    .packetDuration(
                        packet: count, found: traits.clock.seconds(Ticks(found)),
                        planned: traits.clock.seconds(Ticks(planned))))
            }
            guard SHA256.hash(data: coded) == expected.coded[count] else { throw wrong(.payload) }
            guard try canvas.show(picture) else { throw wrong(.undecodable) }
            let (shown, drawn) = (try digest.describe(canvas.shown), expected.pictures[count])
            let isSame =
                options.isLossless
                ? shown.hash == drawn.hash
                : shown.likeness.distance(to: drawn.likeness) <= PictureCheck.tolerance
            guard isSame else { throw wrong(.framePicture(frame: count)) }
            count += 1
            progress(count)
        }
        guard count == delays.count else { throw wrong(.frameCount(found: count, planned: delays.count)) }
        return try bytes.checksum()
    }
}

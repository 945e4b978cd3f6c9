import Foundation
import ReelRandom

/// MPEG-2 whose frames are two field pictures each, which FFmpeg does not encode: blocks of random brightness and colour.
enum FieldPictures {
    private static let (width, height) = (352, 288)

    /// Writes the frames, each a group of its own, into a transport stream at 25 frames per second.
    static func make(_ name: String, in folder: ScratchFolder, frames: Int) throws -> String {
        var random = SplitMix64(seed: 5)
        var bytes: [UInt8] = []
        for frame in 0..<frames {
            bytes += header(frame)
            for structure in [1, 2] { bytes += field(structure, &random) }
        }
        let (stream, path) = (folder.path + "/fields.m2v", folder.path + "/" + name)
        try Data(bytes).write(to: URL(fileURLWithPath: stream))
        try run(
            "ffmpeg", "-v", "quiet", "-nostdin", "-y", "-f", "mpegvideo", "-framerate", "25", "-i", stream, "-c",
            "copy",
            "-bsf:v", "setts=pts=N*3600:dts=N*3600", "-f", "mpegts", path)
        return path
    }

    /// ISO 13818-2 6.2.2.1, 6.2.2.3 and 6.2.2.6: the headers of a sequence and of a group of pictures.
    private static func header(_ frame: Int) -> [UInt8] {
        var sequence = Bits()
        sequence.add([(width, 12), (height, 12), (1, 4), (3, 4), (5000, 18), (1, 1), (112, 10), (0, 3)])
        var fields = Bits()
        fields.add([(1, 4), (0x48, 8), (0, 1), (1, 2), (0, 16), (1, 1), (0, 16)])
        var group = Bits()
        group.add([(1 << 12 | frame, 25), (1, 1), (0, 6)])
        return [0, 0, 1, 0xb3] + sequence.bytes + [0, 0, 1, 0xb5] + fields.bytes + [0, 0, 1, 0xb8] + group.bytes
    }

    /// 6.2.3 to 6.2.6: an intra field of this picture_structure. Each block has its mean alone.
    private static func field(_ structure: Int, _ random: inout SplitMix64) -> [UInt8] {
        var picture = Bits()
        picture.add([(0, 10), (1, 3), (0xffff, 16), (0, 3)])
        var coding = Bits()
        coding.add([(8, 4), (0xffff, 16), (0, 2), (structure, 2), (0, 16)])
        var bytes: [UInt8] = [0, 0, 1, 0] + picture.bytes + [0, 0, 1, 0xb5] + coding.bytes
        for row in 1...UInt8(height / 32) {
            var slice = Bits()
            slice.add([(2, 5), (0, 1)])
            var means = [128, 128, 128]
            for _ in 0..<width / 16 {
                slice.add([(0b11, 2)])
                for component in [0, 0, 0, 0, 1, 2] {
                    let mean = Int.random(in: 40..<210, using: &random)
                    slice.add(difference: mean - means[component], isColour: component > 0)
                    slice.add([(0b10, 2)])
                    means[component] = mean
                }
            }
            bytes += [0, 0, 1, row] + slice.bytes
        }
        return bytes
    }

    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var free = 0

        mutating func add(_ fields: [(value: Int, length: Int)]) {
            for field in fields {
                for place in (0..<field.length).reversed() {
                    if free == 0 { (bytes, free) = (bytes + [0], 8) }
                    free -= 1
                    bytes[bytes.count - 1] |= UInt8(field.value >> place & 1) << UInt8(free)
                }
            }
        }

        /// Tables B.12 and B.13: the size of the difference of a mean to the one before, and the difference.
        mutating func add(difference: Int, isColour: Bool) {
            let codes =
                isColour
                ? [(0, 2), (1, 2), (2, 2), (6, 3), (14, 4), (30, 5), (62, 6), (126, 7), (254, 8)]
                : [(4, 3), (0, 2), (1, 2), (5, 3), (6, 3), (14, 4), (30, 5), (62, 6), (126, 7)]
            let size = Int.bitWidth - abs(difference).leadingZeroBitCount
            add([codes[size], (difference > 0 ? difference : difference + 1 << size - 1, size)])
        }
    }
}

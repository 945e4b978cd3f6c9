import Foundation
import ReelCore
import ReelMedia
import Testing

/// Pictures of other proportions than the output's.
@Suite("How pictures fill others of other proportions")
struct FitTests {
    private let folder = ScratchFolder()

    /// Three stripes across the longer side: red, green, blue.
    private func stripes(_ name: String, _ size: String, turned: Bool) throws -> String {
        let path = folder.path + "/" + name
        let parts = ["red", "lime", "blue"].map { "color=\($0):s=\(turned ? "96x48" : "48x96"):r=25:d=0.4" }
        let inputs = parts.flatMap { ["-f", "lavfi", "-i", $0] }
        try ffmpeg(
            inputs + ["-filter_complex", "[0][1][2]\(turned ? "v" : "h")stack=3,scale=\(size):flags=neighbor,setsar=1"]
                + ["-c:v", "libx264", "-qp", "1", "-pix_fmt", "yuv444p", path])
        return path
    }

    /// The colours of places in the last picture: red, green and blue, 0 to 255.
    private func colours(_ path: String, at places: [(x: Int, y: Int)], width: Int, height: Int) throws -> [[Int]] {
        let raw = folder.path + "/raw"
        try ffmpeg(["-i", path, "-pix_fmt", "rgb24", "-f", "rawvideo", raw])
        let bytes = try contents(of: raw).suffix(width * height * 3)
        return places.map { place in
            let start = bytes.startIndex + (place.y * width + place.x) * 3
            return bytes[start..<start + 3].map { Int($0) }
        }
    }

    private func isNear(_ one: [Int], _ other: [Int], _ most: Int = 12) -> Bool {
        zip(one, other).allSatisfy { abs($0 - $1) <= most }
    }

    private let red = [255, 0, 0]
    private let green = [0, 255, 0]
    private let blue = [0, 0, 255]

    @Test("in a stitch, a wide output shows a tall source with bars, cut, or before itself", arguments: Fit.allCases)
    func stitched(fit: Fit) throws {
        // Of the tall one, the stripes lie above each other.
        let (wide, tall) = (
            try stripes("wide.mkv", "288x192", turned: false), try stripes("tall.mkv", "96x192", turned: true)
        )
        var spec = JobSpec(
            container: .mkv, lossless: true,
            edit: Edit(clips: [EditClip(source: 0, play: .forward), EditClip(source: 1, play: .forward)]))
        spec.fit = fit
        let job = try MediaJob([wide, tall], spec: spec, folder: folder.path)
        let places = [(10, 96), (144, 10), (144, 96), (144, 182), (10, 10)]
        let found = try colours(job.output, at: places, width: 288, height: 192)
        switch fit {
        case .bars:
            #expect(isNear(found[0], [0, 0, 0]) && isNear(found[4], [0, 0, 0]))
            #expect(isNear(found[1], red) && isNear(found[2], green) && isNear(found[3], blue), "\(found)")
        case .crop:
            // A third of its height is left, which is the middle stripe.
            for colour in found { #expect(isNear(colour, green), "\(found)") }
        case .blur:
            #expect(isNear(found[1], red) && isNear(found[2], green) && isNear(found[3], blue), "\(found)")
            #expect(isNear(found[0], green, 40), "\(found)")
        }
    }

    @Test("with a size, too; a source of the same proportions is only scaled", arguments: [Fit.crop, .blur])
    func sized(fit: Fit) throws {
        let tall = try stripes("tall.mkv", "96x192", turned: true)
        var spec = JobSpec(container: .mkv, lossless: true, size: PictureSize(width: 96, height: 96))
        spec.fit = fit
        let job = try MediaJob(tall, spec: spec, folder: folder.path)
        let found = try colours(job.output, at: [(48, 4), (48, 48), (4, 48)], width: 96, height: 96)
        #expect(isNear(found[0], red) && isNear(found[1], green), "\(found)")
        #expect(isNear(found[2], green, 40), "\(found)")
        spec.size = PictureSize(width: 48, height: 96)
        let same = try MediaJob(tall, spec: spec, folder: folder.path)
        spec.fit = nil
        let other = ScratchFolder()
        let plain = try MediaJob(tall, spec: spec, folder: other.path)
        #expect(try Decoded(same.output).hashes == Decoded(plain.output).hashes)
    }
}

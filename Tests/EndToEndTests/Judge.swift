import Foundation
import ReelCore
import Testing

/// A frame as an independent decoder shows it: exact time and the hash of its pixels.
struct SeenFrame: Equatable, Sendable {
    var start: Rational
    var duration: Rational
    var hash: String
}

/// Reads files with ffmpeg, and judges whether one is the other reversed.
extension ProcessFixture {
    /// The frames of the main video, in the order in which they are shown.
    func frames(of file: String) async throws -> [SeenFrame] {
        let outcome = try await run(
            .ffmpeg,
            ["-v", "error", "-copyts", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "-1"]
                + ["-f", "framehash", "-hash", "sha256", "-"])
        try #require(outcome.code == 0, "\(outcome.error)")
        var timeBase = Rational(0)
        var frames: [SeenFrame] = []
        for line in outcome.output.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#tb 0:") {
                timeBase = try #require(Rational(line.dropFirst(6).trimmingCharacters(in: .whitespaces)))
            }
            guard !line.hasPrefix("#") else { continue }
            let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(fields.count == 6)
            let (start, duration) = (try #require(Int64(fields[2])), try #require(Int64(fields[3])))
            frames.append(
                SeenFrame(start: Rational(start) * timeBase, duration: Rational(duration) * timeBase, hash: fields[5]))
        }
        return frames
    }

    /// Small grey pictures of the main video, 32 by 18 bytes each: enough to tell one frame from another after a lossy
    /// encoder.
    func thumbnails(of file: String) async throws -> [[UInt8]] {
        let raw = path("thumbnails.raw")
        let outcome = try await run(
            .ffmpeg,
            ["-v", "error", "-y", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough"]
                + ["-vf", "scale=32:18:flags=area,format=gray", "-f", "rawvideo", raw])
        try #require(outcome.code == 0, "\(outcome.error)")
        defer { try? FileManager.default.removeItem(atPath: raw) }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        return stride(from: 0, to: bytes.count, by: 32 * 18).map { Array(bytes[$0..<$0 + 32 * 18]) }
    }

    /// The samples of the first audio track as 32-bit floats, one array a channel.
    func samples(of file: String, channels: Int) async throws -> [[Float]] {
        let raw = path("samples.raw")
        let outcome = try await run(
            .ffmpeg, ["-v", "error", "-y", "-i", file, "-map", "0:a:0", "-f", "f32le", "-c:a", "pcm_f32le", raw])
        try #require(outcome.code == 0, "\(outcome.error)")
        defer { try? FileManager.default.removeItem(atPath: raw) }
        let data = try Data(contentsOf: URL(fileURLWithPath: raw))
        let all = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (0..<channels).map { channel in stride(from: channel, to: all.count, by: channels).map { all[$0] } }
    }

    /// Whether `output` shows the frames of `source` from the last to the first, bit for bit, each exactly as long as
    /// it was shown there.
    func expectExactlyReversed(
        _ source: String, _ output: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (before, after) = (try await frames(of: source), try await frames(of: output))
        let first = try #require(before.first?.start)
        let last = try #require(before.last)
        #expect(after.count == before.count, sourceLocation: sourceLocation)
        #expect(Set(before.map(\.hash)).count == before.count, "the source must tell its frames apart")
        let mirrored = before.reversed().map { frame in
            SeenFrame(
                start: last.start + last.duration - frame.start - frame.duration, duration: frame.duration,
                hash: frame.hash)
        }
        #expect(first >= Rational(0))
        #expect(after.map(\.hash) == mirrored.map(\.hash), sourceLocation: sourceLocation)
        #expect(after.map(\.start) == mirrored.map(\.start), sourceLocation: sourceLocation)
        #expect(after.map(\.duration) == mirrored.map(\.duration), sourceLocation: sourceLocation)
    }
}

/// The place in `candidates` of the picture that is nearest to each of `pictures`.
func nearest(_ pictures: [[UInt8]], among candidates: [[UInt8]]) -> [Int?] {
    pictures.map { picture in
        candidates.indices.min { distance(picture, candidates[$0]) < distance(picture, candidates[$1]) }
    }
}

private func distance(_ a: [UInt8], _ b: [UInt8]) -> Int { zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } }

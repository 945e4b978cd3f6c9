import Foundation
import ReelCore
import ReelMedia

/// Compares a reversed source with what a decoder shows that reads it from its start to its end, by one thread.
struct DifferJudge {
    let source: String
    let made: DifferSource
    /// The decoder; nil for FFmpeg's choice.
    let decoder: String?
    let before: Decoded

    /// Nil if nothing of the source decodes.
    init?(_ source: String, _ made: DifferSource) throws {
        self.source = source
        self.made = made
        decoder = try Self.otherDecoder(of: source, made)
        before = try Decoded(whole: source, decoder: decoder)
        if before.hashes.isEmpty { return nil }
    }

    /// Libavcodec's own decoders of VP8 and VP9 do not see transparency, those of libvpx do. That of dav1d shows what
    /// an edit list hides, that of libaom does not.
    private static func otherDecoder(of source: String, _ made: DifferSource) throws -> String? {
        let probe = { (entries: String) in
            try run(
                "ffprobe", "-v", "quiet", "-select_streams", "v:0", "-show_entries", entries, "-of", "csv=p=0", source)
        }
        if made.kind.encoder.hasPrefix("libvpx") {
            return try probe("stream_tags=alpha_mode").hasPrefix("1") ? made.kind.encoder : nil
        }
        guard made.kind.encoder.contains("av1"), source.hasSuffix(".mp4") else { return nil }
        return try probe("packet=flags").contains("D") ? "libaom-av1" : nil
    }

    /// The differences found, a sentence each.
    func complaints(about job: MediaJob) throws -> [String] { try frames(job) + (made.sound == nil ? [] : sound(job)) }

    /// Every frame that the decoder shows has to be there, once, with the same samples. There is one exception: the
    /// decoder leaves what it cannot decode of a damaged frame as its memory was, so the frame may look different if
    /// reel reports it as damaged. It must not be missing; and frames beside it, also the ones that refer to it, must
    /// not differ.
    private func frames(_ job: MediaJob) throws -> [String] {
        let held = job.plan.video.format.pixelFormat
        let stated = job.index.video.stream.pixelFormat
        // The fourth byte of a pixel means nothing in some formats.
        let format = ["bgr0", "rgb0", "0rgb", "0bgr"].contains(held) ? "rgb24" : held
        // The range in a format's name is a tag beside it, too.
        let own = stated.replacing("yuvj", with: "yuv")
        let isCarried = held != own || format != held
        let after = try Decoded(job.output, pixelFormat: isCarried ? format : nil)
        guard after.hashes.count == before.hashes.count else {
            return ["\(after.hashes.count) frames instead of \(before.hashes.count)"]
        }
        var others = isCarried ? Array(before.hashes.indices) : differing(after, before)
        if !others.isEmpty {
            // Frames are brought to the first one's size and to a format that the encoder holds.
            let video = job.plan.video
            let isScaled = job.diagnostics.contains { if case .framesScaled = $0 { true } else { false } }
            let size = isScaled ? "\(video.format.width):\(video.format.height):" : ""
            let scale = "scale=\(size)flags=bicubic+accurate_rnd+full_chroma_inp"
            // ffmpeg may change the colour range if it is asked for a format whose name does not state one.
            for format in Set([format, format == own ? stated : format]) {
                let carried = try Decoded(whole: source, decoder: decoder, pixelFormat: format, filter: scale)
                let converted = try Decoded(job.output, pixelFormat: format)
                others = others.filter(Set(differing(converted, carried)).contains)
            }
        }
        let frames = job.plan.clips[0].frames
        let excused = others.filter { job.index.video.picture(of: frames.lowerBound + $0)?.isDamaged == true }
        let named = job.diagnostics.reduce(0) {
            if case .framesConcealed(let frames) = $1 { $0 + frames.count } else { $0 }
        }
        var complaints = named < excused.count ? ["\(excused.count) damaged frames, \(named) named"] : []
        var wrong = others.filter { !excused.contains($0) }
        if !wrong.isEmpty {
            // Decoders that read memory which they never wrote show something else each time.
            let again = try Decoded(whole: source, decoder: decoder, filler: 85)
            wrong = wrong.filter { again.hashes.indices.contains($0) && again.hashes[$0] == before.hashes[$0] }
        }
        if !wrong.isEmpty {
            complaints.append(
                "\(own) as \(held): of \(before.hashes.count) frames of the source others are shown: \(try places(wrong))"
            )
        }
        return try complaints + times(after, job)
    }

    /// The source's frames that look different in the output.
    private func differing(_ after: Decoded, _ due: Decoded) -> [Int] {
        guard after.hashes.count == due.hashes.count else { return Array(after.hashes.indices) }
        return due.hashes.indices.filter { due.hashes[$0] != after.hashes[after.hashes.count - 1 - $0] }
    }

    /// Which, and whether they look the same at all when a decoder that holds all of them has other memory.
    private func places(_ frames: [Int]) throws -> String {
        let held = Array(try Decoded(whole: source, decoder: decoder, filter: "reverse").hashes.reversed())
        let undefined = frames.filter { held.indices.contains($0) && held[$0] != before.hashes[$0] }
        return "\(frames)" + (undefined.isEmpty ? "" : ", by what is left in memory: \(undefined)")
    }

    /// From the end of a frame to the end of the next, as from the start of its image to that of the image before;
    /// unless reel says that the source's times are not such as can be kept.
    private func times(_ after: Decoded, _ job: MediaJob) throws -> [String] {
        let isRepaired = job.diagnostics.contains {
            switch $0 {
            case .clockRestarts, .noTimestamps, .timesDerived, .framesMoved: true
            default: false
            }
        }
        guard !isRepaired else { return [] }
        let clocked = try Decoded(whole: source, decoder: decoder, clock: true)
        let due = clocked.gaps.count == before.gaps.count ? clocked.gaps : before.gaps
        // ffmpeg's own clock ends at 2⁴⁷, and stands still there.
        guard due.contains(where: { $0 > Rational(0) }) else { return [] }
        let gaps = zip(after.gaps.dropFirst(), due.dropFirst().reversed())
        let off = gaps.map { $0 > $1 ? $0 - $1 : $1 - $0 }
        // Matroska counts in milliseconds.
        guard let most = off.max(), most > Rational(21, 10_000), let place = off.firstIndex(of: most) else { return [] }
        return ["times off by \(most) s, most at frame \(due.count - 1 - place) of the source"]
    }

    /// Every sample that a decoder gives, from the last to the first, where the mirror puts it.
    private func sound(_ job: MediaJob) throws -> [String] {
        // A container may have been changed to one that holds no sound.
        let streams = try run("ffprobe", "-v", "quiet", "-show_entries", "stream=codec_type", "-of", "csv=p=0", source)
        guard streams.contains("audio"), try !samples(of: source, channels: 1).isEmpty else { return [] }
        guard let track = job.index.audio.first, job.plan.audio.count == 1 else { return ["no sound"] }
        // What has changed is resampled, by each in its own way.
        let isUnified = job.diagnostics.contains { if case .soundUnified = $0 { true } else { false } }
        guard !isUnified else { return [] }
        let (before, after) = (
            try Sound(source, channels: track.channels), try Sound(job.output, channels: track.channels)
        )
        // FFmpeg's command line leaves holes out, reel fills them with silence, and says so.
        let hasHoles = job.diagnostics.contains {
            switch $0 {
            case .holesSilent, .packetsSilent: true
            default: false
            }
        }
        let heard = { (samples: [[Float]]) in hasHoles ? samples.filter { $0.contains { $0 != 0 } } : samples }
        let (shown, reversed) = (heard(after.samples), heard(before.samples).reversed() as [[Float]])
        guard shown == reversed else {
            let first = zip(shown, reversed).enumerated().first { $0.element.0 != $0.element.1 }
            return [
                "\(shown.count) samples instead of \(reversed.count), first other: "
                    + (first.map { "\($0.offset)" } ?? "none")
            ]
        }
        // An edit list may hide the first packets: what is shown first is not what they say.
        let end = job.plan.video.format.timeBase.seconds(job.plan.clips[0].map.end).approximate
        let place = end - (before.zero + before.end)
        guard made.isUntouched, abs(after.start - place) > 0.003 else { return [] }
        return ["sound begins at \(after.start) s instead of \(place) s"]
    }
}

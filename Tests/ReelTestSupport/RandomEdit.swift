package import Foundation
package import ReelCore
internal import ReelRandom

/// An edit of two to eight clips of several sources, with gaps, stills, speeds and trims. A seed decides all of it.
package struct RandomEdit {
    /// Its sources, in the order in which the clips count them.
    package let sources: [EditSource]
    /// The clips.
    package let edit: Edit
    /// Whether one source has pictures of another size, so that a judge can only compare likenesses.
    package let isScaled: Bool
    /// The most frames of a pass; nil for no limit.
    package let passFrames: Int?
    /// The container of the output.
    package let container: Container

    /// The edit of a seed.
    package init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let kinds = EditSource.kinds.shuffled(using: &random).prefix(Int.random(in: 2...4, using: &random))
        let isScaled = Int.random(in: 0..<4, using: &random) == 0
        let sources = kinds.enumerated().map { number, kind in
            var source = kind
            source.shift = Double.random(in: 0...0.2, using: &random)
            if isScaled, number == 1 { source.size = "240x144" }
            return source
        }
        var edit = Edit(clips: [], turn: Bool.random(using: &random) ? .once : .twice)
        edit.trim = Int.random(in: 0..<3, using: &random) == 0 ? .shared : .none
        for number in 0..<Int.random(in: 2...8, using: &random) {
            let still = Rational(Int64.random(in: 20...900, using: &random), 1000)
            // The judge takes the output's format from the first clip. Crossfades stay within what each source has: the
            // judge takes times of blocks that Matroska rounds to milliseconds as exact.
            switch number == 0 ? 9 : Int.random(in: 0...9, using: &random) {
            case 0: edit.clips.append(.gap(still))
            case 1:
                edit.clips.append(
                    EditClip(
                        source: Int.random(in: 0..<sources.count, using: &random),
                        from: .seconds(Rational(Int64.random(in: 0...2000, using: &random), 1000)), play: .forward,
                        still: still))
            default:
                let from = Int64.random(in: 400..<2200, using: &random)
                let to = Int64.random(in: from + 600...3300, using: &random)
                edit.clips.append(
                    EditClip(
                        source: number == 0 ? 0 : Int.random(in: 0..<sources.count, using: &random),
                        from: .seconds(Rational(from, 1000)), to: .seconds(Rational(min(to, 3000), 1000)),
                        play: Play.allCases.randomElement(using: &random) ?? .forward,
                        times: Int.random(in: 1...2, using: &random),
                        speed: [Rational(1), Rational(1), Rational(3, 2), Rational(2, 5)].randomElement(using: &random)
                            ?? Rational(1),
                        sound: Int.random(in: 0..<5, using: &random) > 0))
            }
        }
        edit.crossfade = [nil, Rational(0), Rational(1, 20), Rational(3, 10)].randomElement(using: &random) ?? nil
        self.edit = edit
        self.sources = sources
        self.isScaled = isScaled
        passFrames = Bool.random(using: &random) ? 20 : nil
        container = Bool.random(using: &random) ? .mkv : .nut
    }
}

/// A source of 3.3 seconds, as ffmpeg makes it.
package struct EditSource: Sendable {
    /// The name of its file.
    package var name: String
    /// Frames a second.
    package var rate: String
    /// What ffmpeg is told of codecs and tracks.
    package var arguments: [String]
    /// By how many seconds the sound begins after the video.
    package var shift = 0.0
    /// Width and height of the pictures.
    package var size = "160x96"

    /// Sources of many kinds. The clocks are such that a block of sound lasts a whole number of ticks: the judge takes each
    /// block's time as exact.
    package static let kinds = [
        EditSource(
            name: "b.mp4", rate: "30000/1001",
            arguments: ["-c:v", "libx264", "-g", "24", "-bf", "3", "-c:a", "aac", "-ar", "44100"]),
        EditSource(
            name: "open.ts", rate: "25",
            arguments: ["-c:v", "libx264", "-x264-params", "open-gop=1:keyint=20", "-bf", "2", "-c:a", "mp2"]
                + ["-ar", "48000", "-ac", "1"]),
        EditSource(
            name: "pcm.mov", rate: "24000/1001",
            arguments: ["-c:v", "libx264", "-bf", "2", "-c:a", "pcm_s16le", "-ar", "48000"]),
        EditSource(
            name: "vp9.webm", rate: "30",
            arguments: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "40", "-c:a", "libopus"]),
        EditSource(
            name: "mpeg2.mov", rate: "25",
            arguments: ["-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-c:a", "alac", "-ac", "1"]),
        EditSource(
            name: "one.mp4", rate: "60000/1001",
            arguments: ["-c:v", "libx264", "-g", "999", "-c:a", "aac", "-ar", "48000"]),
        EditSource(
            name: "vfr.mkv", rate: "25",
            arguments: ["-vf", "setpts='(N*40+mod(N*N*7,31))/1000/TB',settb=1/1000", "-fps_mode", "passthrough"]
                + ["-c:v", "libx264", "-bf", "2", "-c:a", "libopus"]),
        EditSource(name: "mute.mp4", rate: "15", arguments: ["-an", "-c:v", "libx264", "-bf", "2"]),
    ]

    /// The arguments by which ffmpeg makes it at a path.
    package func command(path: String) -> [String] {
        ["-v", "error", "-f", "lavfi", "-i", "testsrc2=r=\(rate):s=\(size):d=3.3", "-itsoffset", "\(shift)"]
            + ["-f", "lavfi", "-i", "aevalsrc=0.5*sin(600*t*(1+t))|0.4*sin(900*t*(1+t)):d=3.6"] + arguments + [path]
    }
}

extension Edit {
    /// The edit as a file has it; `sources` are the paths of the sources.
    package func file(_ sources: [String]) throws -> Data {
        let clips = clips.map { clip -> [String: Any] in
            guard let source = clip.source else { return ["gap": "\(clip.still ?? Rational(0))"] }
            var fields: [String: Any] = ["source": sources[source], "sound": clip.sound]
            if let from = clip.from { fields["from"] = "\(from)" }
            if let to = clip.to { fields["to"] = "\(to)" }
            if let still = clip.still {
                fields.merge(["play": "freeze", "duration": "\(still)"]) { $1 }
            } else {
                fields.merge(["play": clip.play.rawValue, "times": clip.times, "speed": "\(clip.speed)"]) { $1 }
            }
            return fields
        }
        var fields: [String: Any] = ["clips": clips, "turn": turn.rawValue, "trim": trim.rawValue]
        if let crossfade { fields["crossfade"] = "\(crossfade)" }
        return try JSONSerialization.data(withJSONObject: fields)
    }
}

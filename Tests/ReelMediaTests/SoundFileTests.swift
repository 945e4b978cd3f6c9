import Foundation
import ReelCore
import ReelMedia
import ReelRandom
import Testing

/// Files of sound: reversed by the sample, with tags and cover.
@Suite struct SoundFileTests {
    private let folder = ScratchFolder()

    /// A codec in a container, and the sound that is made with it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let codec: [String]
        var rate = 48_000
        var layout = "stereo"
        /// The greatest difference from the source's reversal; nil for none.
        var limit: Float?

        var container: Container {
            Container(fileExtension: name.split(separator: ".").last.map(String.init) ?? "") ?? .mkv
        }
        var channels: Int { ["mono": 1, "stereo": 2, "5.1": 6][layout] ?? 0 }
        var testDescription: String { "\(name) \(codec.joined(separator: " ")) \(layout) \(rate)" }
    }

    static let lossless = [
        Kind(name: "s.wav", codec: ["pcm_s16le"]),
        Kind(name: "s.wav", codec: ["pcm_s24le"], rate: 44_100, layout: "5.1"),
        Kind(name: "s.wav", codec: ["pcm_f32le"], rate: 96_000, layout: "mono"), Kind(name: "s.wav", codec: ["pcm_u8"]),
        Kind(name: "s.flac", codec: ["flac", "-sample_fmt", "s16"], rate: 44_100),
        Kind(name: "s.flac", codec: ["flac", "-sample_fmt", "s32"], rate: 96_000, layout: "5.1"),
        Kind(name: "s.m4a", codec: ["alac"], rate: 44_100), Kind(name: "s.ogg", codec: ["flac"], layout: "mono"),
    ]

    static let lossy = [
        Kind(name: "s.mp3", codec: ["libmp3lame", "-b:a", "192k"], rate: 44_100, limit: 0.1),
        Kind(name: "s.mp3", codec: ["libmp3lame"], rate: 22_050, layout: "mono", limit: 0.1),
        Kind(name: "s.m4a", codec: ["aac", "-b:a", "192k"], rate: 44_100, limit: 0.1),
        Kind(name: "s.ogg", codec: ["libvorbis", "-q:a", "6"], rate: 44_100, limit: 0.1),
        Kind(name: "s.opus", codec: ["libopus", "-b:a", "160k"], limit: 0.1),
        Kind(name: "s.opus", codec: ["libopus", "-b:a", "320k"], layout: "5.1", limit: 0.1),
    ]

    /// A sound of 2.3 s, in which no two moments are alike: a tone that rises, or noise.
    private func source(_ kind: Kind, more: [String] = []) throws -> String {
        let path = folder.path + "/" + kind.name
        let tones = (0..<kind.channels).map { "0.4*sin(2*PI*(200+\(40 * $0)+300*t)*t)" }.joined(separator: "|")
        let noise = (0..<kind.channels).map { _ in "random(0)-0.5" }.joined(separator: "|")
        try ffmpeg(
            [
                "-f", "lavfi", "-i",
                "aevalsrc=\(kind.limit == nil ? noise : tones):c=\(kind.layout):s=\(kind.rate):d=2.3",
            ] + more + ["-c:a"] + kind.codec + [path])
        return path
    }

    private func reversed(_ source: String, _ spec: JobSpec) throws -> MediaJob {
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.warnings == [])
        return job
    }

    @Test("each sample of a lossless file is there, in the other order", arguments: lossless)
    func exact(kind: Kind) throws {
        let source = try source(kind)
        let job = try reversed(source, JobSpec(container: kind.container))
        let (before, after) = (
            try samples(of: source, channels: kind.channels), try samples(of: job.output, channels: kind.channels)
        )
        #expect(before.count == Int((2.3 * Double(kind.rate)).rounded()))
        #expect(after == before.reversed())
        let form = "stream=codec_name,channels,sample_rate"
        #expect(try probe(job.output, form) == probe(source, form))
    }

    @Test("of a lossy file as many samples are heard, each at its time", arguments: lossy)
    func heard(kind: Kind) throws {
        let source = try source(kind)
        let job = try reversed(source, JobSpec(container: kind.container))
        let decoded = try samples(of: source, channels: kind.channels)
        // ffmpeg also gives what MP4 says is not heard at the end.
        let count = kind.container == .m4a ? Int((2.3 * Double(kind.rate)).rounded()) : decoded.count
        let before = decoded.prefix(count)
        let after = try samples(of: job.output, channels: kind.channels)
        if kind.container == .m4a {
            #expect(try probe(job.output, "stream=duration_ts").hasPrefix("\(count)"))
        } else {
            #expect(after.count == count, "\(kind)")
        }
        let mirrored = Array(before.reversed())
        let edge = kind.rate / 10
        let worst = (edge..<count - edge).reduce(Float(0)) { worst, place in
            zip(after[place], mirrored[place]).reduce(worst) { max($0, abs($1.0 - $1.1)) }
        }
        #expect(worst < (kind.limit ?? 0), "\(kind)")
        #expect(lag(of: after, behind: mirrored) == 0)
    }

    @Test("sound with hits, for which Vorbis changes the length of its blocks, is written and complete")
    func hits() throws {
        let source = folder.path + "/s.ogg"
        let hits = "0.3*sin(500*t)+0.6*(random(0)-0.5)*exp(-30*mod(t\\,0.4))"
        try ffmpeg([
            "-f", "lavfi", "-i", "aevalsrc=\(hits)|\(hits):s=44100:d=3", "-c:a", "libvorbis", "-q:a", "5", source,
        ])
        let job = try reversed(source, JobSpec(container: .ogg))
        #expect(try samples(of: job.output).count == 3 * 44_100)
    }

    @Test("songs are stitched as they are, and a range without a sample is refused")
    func stitched() throws {
        let source = try source(Self.lossless[0])
        let all = try samples(of: source)
        var edit = Edit(
            clips: [EditClip(play: .forward), EditClip(play: .forward)], crossfade: Rational(0), trim: .shared)
        let hard = try reversed(source, JobSpec(container: .wav, edit: edit))
        #expect(try samples(of: hard.output) == all + all)
        edit.crossfade = nil
        let soft = try reversed(source, JobSpec(container: .wav, edit: edit))
        #expect(try samples(of: soft.output).count == 2 * all.count)
        let spec = JobSpec(container: .opus, from: .seconds(Rational(1)), duration: .seconds(Rational(1, 1_000_000)))
        let failure = #expect(throws: ReelFailure.self) { try MediaJob(source, spec: spec, folder: folder.path) }
        #expect(failure?.kind == .input || failure?.kind == .usage, "\(String(describing: failure))")
    }

    @Test("without loss: FLAC, ALAC or PCM, whatever the source has", arguments: [Container.flac, .m4a, .wav])
    func withoutLoss(container: Container) throws {
        let source = try source(Self.lossy[0])
        var spec = JobSpec(container: container, lossless: true)
        guard container == .wav else {
            // Samples of floating point.
            let failure = #expect(throws: ReelFailure.self) { try MediaJob(source, spec: spec, folder: folder.path) }
            #expect(failure?.reason == .losslessNotHeld(container: container))
            let whole = try self.source(Self.lossless[0])
            spec.lossless = true
            let job = try reversed(whole, spec)
            #expect(try samples(of: job.output) == samples(of: whole).reversed())
            return
        }
        let job = try reversed(source, spec)
        #expect(try samples(of: job.output) == samples(of: source).reversed())
    }

    /// By how many samples the first channel of one sound is behind that of another: where their product is greatest.
    private func lag(of one: [[Float]], behind other: [[Float]]) -> Int? {
        let middle = min(one.count, other.count) / 2
        return (-40...40).max { first, second in product(first) < product(second) }

        func product(_ lag: Int) -> Float {
            (middle..<middle + 8000).reduce(0) { $0 + one[$1][0] * other[$1 - lag][0] }
        }
    }

    @Test("ranges begin and end with a sample; loops and speeds are those of videos")
    func edits() throws {
        let kind = Self.lossless[0]
        let source = try source(kind)
        let all = try samples(of: source)
        func clip(_ from: Rational, _ to: Rational) -> [[Float]] {
            let clock = TimeBase(1, 48_000)
            let (start, end) = (clock.ticks(in: from, rounding: .up), clock.ticks(in: to, rounding: .up))
            return Array(all[Int(start)..<Int(end)])
        }
        let (from, to) = (Rational(12345, 48_000), Rational(100_003, 96_000))
        var spec = JobSpec(container: .wav, from: .seconds(from), to: .seconds(to))
        #expect(try samples(of: reversed(source, spec).output) == clip(from, to).reversed())

        spec = JobSpec(
            container: .wav, edit: Edit(clips: [EditClip(from: .seconds(from), to: .seconds(to), play: .pingPong)]))
        let forth = clip(from, to)
        #expect(try samples(of: reversed(source, spec).output) == forth + forth.reversed())

        spec = JobSpec(
            container: .wav,
            edit: Edit(clips: [EditClip(to: .seconds(Rational(1)), play: .forward, speed: Rational(2))]))
        #expect(try samples(of: reversed(source, spec).output).count == 24_000)

        // A moment that plays forward, backward and forward again, in the middle of the sound.
        let third = [Rational(0), Rational(7, 10), Rational(9, 10), Rational(23, 10)]
        spec = JobSpec(
            container: .wav,
            edit: Edit(
                clips: [
                    EditClip(to: .seconds(third[2]), play: .forward),
                    EditClip(from: .seconds(third[1]), to: .seconds(third[2]), play: .reverse),
                    EditClip(from: .seconds(third[1]), play: .forward),
                ], crossfade: Rational(0)))
        let expected =
            clip(third[0], third[2]) + clip(third[1], third[2]).reversed() + clip(third[1], third[3])
        #expect(try samples(of: reversed(source, spec).output) == expected)
        let inFrames = JobSpec(container: .wav, from: .frames(3))
        let failure = #expect(throws: ReelFailure.self) { try MediaJob(source, spec: inFrames, folder: folder.path) }
        #expect(failure?.reason == .soundHasNoFrames(position: .frames(3)))
    }

    static let containers = Container.ofSound

    @Test("tags and cover are in every container that has them, and a warning names the others", arguments: containers)
    func tags(container: Container) throws {
        let cover = folder.path + "/cover.png"
        try ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=64x48", "-frames:v", "1", cover])
        let path = folder.path + "/s.mp3"
        let tags = [("title", "A Song"), ("artist", "Someone"), ("album", "Songs"), ("track", "3"), ("lyrics", "la")]
        try ffmpeg(
            ["-f", "lavfi", "-i", "sine=d=1:r=48000", "-i", cover, "-map", "0", "-map", "1", "-c:v", "copy"]
                + ["-disposition:v", "attached_pic", "-metadata:s:v", "comment=Cover (front)"]
                + tags.flatMap { ["-metadata", "\($0.0)=\($0.1)"] } + [path])
        let job = try MediaJob(path, spec: JobSpec(container: container), folder: folder.path)
        let entries = "format_tags:stream_tags:stream=codec_type,codec_name"
        let found = try probe(job.output, entries).lowercased()
        var left = Set(
            job.diagnostics.flatMap { diagnostic in
                if case .tagsLeftOut(container, let names) = diagnostic { names } else { [String]() }
            })
        for (name, value) in tags where left.remove(name) == nil {
            #expect(found.contains(value.lowercased()), "\(name)")
        }
        #expect(left == [])
        let hasCover = found.contains("png,video")
        let isNamed = job.diagnostics.contains { if case .attachmentsLeftOut = $0 { true } else { false } }
        #expect(hasCover != isNamed, "\(job.warnings) \(found)")
        #expect(hasCover == (container != .wav))
    }

    @Test("a long song in parts is the same as in one", arguments: [Self.lossy[0], lossless[4], lossy[4]])
    func parts(kind: Kind) throws {
        let source = folder.path + "/" + kind.name
        try ffmpeg(
            ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*(200+3*t)*t)|0.3*sin(700*t):s=\(kind.rate):d=130"]
                + ["-c:a"] + kind.codec + [source])
        let whole = try samples(of: source)
        let job = try MediaJob(source, spec: JobSpec(container: kind.container), folder: folder.path, slots: 16)
        let made = try samples(of: job.output)
        #expect(made.count == whole.count)
        if kind.limit == nil { #expect(made == whole.reversed()) }
        #expect(job.plan.passes.count > 1 || kind.container == .mp3)
    }

    @Test("of a video, a file of sound has the sound alone, and says so")
    func ofVideo() throws {
        let source = folder.path + "/v.mkv"
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:a",
                "flac", source,
            ])
        let job = try MediaJob(source, spec: JobSpec(container: .flac), folder: folder.path)
        #expect(job.diagnostics.contains(.picturesLeftOut(container: .flac)))
        #expect(try samples(of: job.output, channels: 1) == samples(of: source, channels: 1).reversed())
    }

    @Test("what has neither video nor sound is refused as before; options of pictures are refused")
    func refusals() throws {
        let text = folder.path + "/t.srt"
        try "1\n00:00:00,000 --> 00:00:01,000\nHello\n".write(toFile: text, atomically: true, encoding: .utf8)
        let failure = #expect(throws: ReelFailure.self) { try Recon.index(of: .file(text)) }
        #expect(failure?.reason == .noVideo(path: text))
        let source = try source(Self.lossless[0])
        for (spec, option) in [
            (JobSpec(container: .wav, crf: 20), JobSpec.Option.crf), (JobSpec(container: .wav, audio: .none), .audio),
            (JobSpec(container: .mp3, mostBytes: 1 << 20), .maxSize),
        ] {
            let failure = #expect(throws: ReelFailure.self) { try MediaJob(source, spec: spec, folder: folder.path) }
            #expect(failure?.reason == .optionNotOfContainer(option: option, container: spec.container))
        }
    }
}

import Foundation
import ReelCore
import ReelMedia
import Testing

/// Edits of several sources, as files.
@Suite("Edits of several sources as files")
struct EditSourcesMediaTests {
    private let folder = ScratchFolder()

    private func job(
        _ sources: [String], _ clips: [EditClip], crossfade: Rational? = nil, container: Container = .nut,
        lossless: Bool = true
    ) throws -> MediaJob {
        let edit = Edit(clips: clips, crossfade: crossfade)
        let spec = JobSpec(container: container, lossless: lossless, edit: edit, passFrames: lossless ? 12 : nil)
        return try MediaJob(sources, spec: spec, folder: folder.path)
    }

    @Test("every frame of every clip comes in its order, at its exact time")
    func frames() throws {
        let a = try Fixture.make(
            "a.mp4", in: folder, frames: 40, rate: "30000/1001", video: Fixture.x264 + ["-bf", "2", "-g", "15"])
        let b = try Fixture.make("b.mkv", in: folder, frames: 30, rate: "25", video: Fixture.x264)
        let clips = [
            EditClip(source: 1, from: .seconds(Rational(2, 5)), play: .reverse, speed: Rational(1, 2)),
            .gap(Rational(1, 4)), EditClip(source: 0, to: .seconds(Rational(1)), play: .pingPong, times: 2),
            EditClip(source: 1, from: .seconds(Rational(1)), play: .forward, still: Rational(3, 4)),
        ]
        let job = try job([a, b], clips)
        let (first, second, made) = (try Decoded(a), try Decoded(b), try Decoded(job.output))
        let forth = Array(first.hashes[..<30])
        let loop = forth + forth[1..<29].reversed()
        #expect(made.hashes.count == 20 + 1 + 116 + 1)
        #expect(Array(made.hashes[..<20]) == second.hashes[10...].reversed())
        #expect(Array(made.hashes[21..<137]) == loop + loop)
        #expect(made.hashes[137] == second.hashes[25])
        #expect(!(first.hashes + second.hashes).contains(made.hashes[20]))
        let frame = Rational(1001, 30000)
        var expected = (0..<20).map { Rational(Int64($0) * 2, 25) } + [Rational(8, 5)]
        expected += (0..<117).map { Rational(37, 20) + Rational(Int64($0)) * frame }
        #expect(made.times == expected)
        #expect(job.diagnostics.isEmpty)
    }

    @Test(
        "stills become frames at the rate of --fps, and at that of the first clip where the codec wants a constant rate"
    ) func stillFrames() throws {
        let source = try Fixture.make(
            "a.mp4", in: folder, frames: 30, rate: "30000/1001", size: "320x240",
            video: ["-c:v", "mpeg2video", "-q:v", "2"])
        let clips: [EditClip] = [
            EditClip(to: .seconds(Rational(1, 2)), play: .forward), .gap(Rational(1, 2)),
            EditClip(from: .seconds(Rational(1, 2)), play: .forward, still: Rational(1001, 3000)),
        ]
        let edit = Edit(clips: clips)
        let made = try MediaJob(
            [source], spec: JobSpec(container: .nut, videoCodec: "ffv1", edit: edit, mostFrames: Rational(15)),
            folder: folder.path)
        let (own, shown) = (try Decoded(source), try Decoded(made.output))
        // Of 15 frames every second; 7 in half a second at 15 a second; 5 in a third.
        #expect(shown.hashes.count == 8 + 7 + 5)
        #expect(Array(shown.hashes[..<8]) == stride(from: 0, to: 15, by: 2).map { own.hashes[$0] })
        #expect(Set(shown.hashes[8..<15]).count == 1 && !own.hashes.contains(shown.hashes[8]))
        #expect(shown.hashes[15...].allSatisfy { $0 == own.hashes[15] })
        let half = Rational(15 * 1001, 30000)
        for place in 0..<7 { #expect(shown.times[8 + place] == half + Rational(Int64(place), 15)) }
        #expect(shown.times[15] == half + Rational(1, 2))

        let mpeg = try MediaJob([source], spec: JobSpec(container: .mkv, edit: edit), folder: folder.path)
        #expect(mpeg.plan.video.encoder == "mpeg2video")
        let times = try Decoded(mpeg.output).times
        #expect(times.count == 15 + 14 + 10)
        for (one, next) in zip(times, times.dropFirst()) {
            // The last frame of the gap lasts nearly two; Matroska counts milliseconds.
            #expect(next - one < Rational(2 * 1001, 30000) + Rational(1, 1000) && next > one)
        }
        let plain = try MediaJob(
            [source], spec: JobSpec(container: .mkv, videoCodec: "ffv1", edit: edit), folder: folder.path)
        #expect(try Decoded(plain.output).hashes.count == 15 + 1 + 1)
    }

    @Test("ranges whose bounds are rounded show whole frames, and the output begins at the timecode of the edit")
    func roundedRanges() throws {
        let source = try Fixture.make(
            "a.mov", in: folder, frames: 60, rate: "30000/1001",
            video: Fixture.x264 + ["-bf", "2", "-g", "12", "-timecode", "01:00:00:00"])
        // Frames 10 to 29, and 40, in seconds as a rate of 29.95 would have them.
        let (from, to) = (Position.seconds(Rational(1000, 2995)), Position.seconds(Rational(3000, 2995)))
        let clips = [
            EditClip(from: from, to: to, rule: .middle, play: .forward),
            EditClip(from: from, to: to, rule: .middle, play: .reverse), .gap(Rational(1, 3)),
            EditClip(from: .seconds(Rational(4000, 2995)), rule: .middle, play: .forward, still: Rational(1)),
        ]
        for container in [Container.mkv, .mov] {
            let edit = Edit(clips: clips, timecode: "10:00:00;00")
            let spec = JobSpec(container: container, lossless: true, edit: edit)
            let job = try MediaJob([source], spec: spec, folder: folder.path)
            let (first, made) = (try Decoded(source), try Decoded(job.output))
            let forth = Array(first.hashes[10..<30])
            #expect(made.hashes.count == 42 && Array(made.hashes[..<40]) == forth + forth.reversed())
            #expect(made.hashes[41] == first.hashes[40])
            let tags = try run("ffprobe", "-v", "error", "-show_entries", "format_tags", job.output).lowercased()
            #expect(tags.contains("timecode=10:00:00;00") && !tags.contains("01:00:00:00"))
        }
    }

    @Test(
        "packets of whole frames of several files are written in the order of the clips, in both directions, bit for bit"
    ) func passthrough() throws {
        let mjpeg = ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p", "-huffman", "default"]
        let a = try Fixture.make("a.mov", in: folder, frames: 20, rate: "25", video: mjpeg)
        let b = try Fixture.make("b.mov", in: folder, frames: 30, rate: "25", filter: "negate", video: mjpeg)
        let clips = [
            EditClip(source: 1, play: .reverse), EditClip(source: 0, play: .pingPong),
            EditClip(source: 1, play: .forward),
        ]
        let made = try job([a, b], clips, container: .mov, lossless: false)
        #expect(made.plan.video.isPassthrough && made.framesDecoded == 0)
        let (first, second) = (try packetHashes(of: a), try packetHashes(of: b))
        let loop = first + first[1..<19].reversed()
        #expect(try packetHashes(of: made.output) == second.reversed() + loop + second)
        #expect(try Decoded(made.output).times == (0..<98).map { Rational(Int64($0), 25) })

        // A gap must be encoded, and so must a source of another size.
        let gapped = try job([a, b], clips + [.gap(Rational(1))], container: .mov, lossless: false)
        #expect(!gapped.plan.video.isPassthrough)
        let small = try Fixture.make("c.mov", in: folder, frames: 9, rate: "25", size: "96x54", video: mjpeg)
        let fitted = try job(
            [a, small], [EditClip(play: .forward), EditClip(source: 1, play: .forward)], container: .mov,
            lossless: false)
        #expect(!fitted.plan.video.isPassthrough)
    }

    @Test("a picture of another shape is scaled in proportion, on black; one that is turned stands upright")
    func fitting() throws {
        let wide = try Fixture.make("wide.mp4", in: folder, frames: 5, size: "192x108", video: Fixture.x264)
        // White, so that its place is seen; half as wide as high.
        let tall = folder.path + "/tall.mkv"
        try ffmpeg(
            "-f", "lavfi", "-i", "color=white:r=24000/1001:s=100x200:d=0.2", "-c:v", "ffv1",
            "-pix_fmt", "yuv444p", tall)
        let turned = folder.path + "/turned.mov"
        // Its left half is white as coded; turned by a quarter, its upper or lower half is.
        try ffmpeg(
            "-f", "lavfi", "-i", "color=black:r=24000/1001:s=108x192:d=0.2,drawbox=w=54:h=192:c=white:t=fill", "-c:v",
            "libx264", "-pix_fmt", "yuv420p", folder.path + "/coded.mov")
        try ffmpeg("-i", folder.path + "/coded.mov", "-c", "copy", "-metadata:s:v:0", "rotate=90", turned)
        let clips = [
            EditClip(play: .forward, title: "wide"), EditClip(source: 1, play: .forward, title: "tall"),
            EditClip(source: 2, play: .reverse, title: "turned"),
        ]
        let job = try job([wide, tall, turned], clips, container: .mkv)
        #expect(job.diagnostics.contains { if case .sourceConverted("tall", _, _, false) = $0 { true } else { false } })
        func luma(_ frame: Int, _ x: Int, _ y: Int) throws -> Int {
            let text = try ffmpeg(
                "-noautorotate", "-i", job.output, "-vf",
                "select=eq(n\\,\(frame)),crop=2:2:\(x):\(y):exact=1,signalstats,metadata=print:file=-", "-f", "null",
                "-")
            let line = text.split(whereSeparator: \.isNewline).first { $0.contains("YAVG") }
            return Int(Double(line?.split(separator: "=").last ?? "") ?? -1)
        }
        // 54 of 192 pixels, in the middle, on an even place.
        for (x, isWhite) in [(0, false), (64, false), (72, true), (96, true), (118, true), (126, false), (190, false)] {
            #expect(try luma(6, x, 54) == (isWhite ? 235 : 16), "x \(x)")
        }
        // ffmpeg shows the same turned source upright; so the white half is where its own is.
        let upright = try ffmpeg(
            "-i", turned, "-vf", "crop=2:2:96:10,signalstats,metadata=print:file=-",
            "-frames:v", "1", "-f", "null", "-")
        let isWhiteAbove = upright.contains("YAVG=235")
        #expect(isWhiteAbove || upright.contains("YAVG=16"))
        #expect(try luma(11, 96, 10) == (isWhiteAbove ? 235 : 16))
        #expect(try luma(11, 96, 96) == (isWhiteAbove ? 16 : 235))
    }

    @Test(
        "colours keep what they mean: another matrix, another range, RGB beside YCbCr",
        arguments: [
            (first: ["bt709", "tv"], second: ["bt601", "pc"]), (["bt601", "pc"], ["bt709", "pc"]),
            (["bt709", "tv"], ["gbr", "pc"]), (["gbr", "pc"], ["bt709", "tv"]),
        ])
    func colours(first: [String], second: [String]) throws {
        func source(_ name: String, _ form: [String], size: String) throws -> String {
            let path = folder.path + "/" + name
            let (matrix, range) = (form[0], form[1])
            let isRGB = matrix == "gbr"
            let filter = isRGB ? "format=gbrp" : "scale=out_color_matrix=\(matrix):out_range=\(range),format=yuv444p"
            let tags = isRGB ? [] : ["-colorspace", matrix == "bt709" ? "bt709" : "smpte170m", "-color_range", range]
            try ffmpeg(
                ["-f", "lavfi", "-i", "color=c=#c03020:r=25:s=\(size):d=0.2,format=gbrp", "-vf", filter]
                    + ["-c:v", "ffv1"] + tags + [path])
            return path
        }
        let (a, b) = (try source("a.mkv", first, size: "64x64"), try source("b.mkv", second, size: "32x32"))
        let job = try job([a, b], [EditClip(play: .forward), EditClip(source: 1, play: .forward)], container: .mkv)
        // ffmpeg's own reading of the first source says how the output is to be read.
        let reading = first[0] == "gbr" ? "null" : "scale=in_color_matrix=\(first[0]):in_range=\(first[1])"
        func colour(_ frame: Int) throws -> [Int] {
            let path = folder.path + "/pixel.raw"
            try ffmpeg(
                "-y", "-i", job.output, "-vf",
                "select=eq(n\\,\(frame)),crop=2:2:30:30,\(reading),format=rgb24", "-f", "rawvideo", path)
            return try contents(of: path).prefix(3).map(Int.init)
        }
        for frame in [1, 7] {
            let pixel = try colour(frame)
            #expect(pixel.count == 3)
            for (found, wanted) in zip(pixel, [0xc0, 0x30, 0x20]) {
                #expect(abs(found - wanted) <= 3, "\(frame): \(pixel)")
            }
        }
    }

    /// A video of a second with a text that is shown from 0.2 to 0.6 s on each of its subtitle tracks.
    private func spoken(_ name: String, _ texts: [String], codec: String = "srt") throws -> String {
        let plain = try Fixture.make("plain-\(name)", in: folder, frames: 25, rate: "25", video: Fixture.x264)
        var (inputs, maps) = (["-i", plain], ["-map", "0:v"])
        for (number, text) in texts.enumerated() {
            let path = folder.path + "/\(name).\(number).srt"
            try "1\n00:00:00,200 --> 00:00:00,600\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
            inputs += ["-i", path]
            maps += ["-map", "\(number + 1):s"]
        }
        let path = folder.path + "/" + name
        try run("ffmpeg", ["-v", "error"] + inputs + maps + ["-c:v", "copy", "-c:s", codec, path])
        return path
    }

    /// The texts of a subtitle track, with when each is shown.
    private func spoken(in path: String, track: Int) throws -> [String] {
        let text = try ffmpeg("-i", path, "-map", "0:s:\(track)", "-f", "srt", "-")
        return text.split(separator: "\n\n").map { cue in cue.split(separator: "\n").dropFirst().joined(separator: " ")
        }
    }

    @Test(
        "subtitles of all sources follow their clips, whatever their codecs, on the tracks of the first that has any",
        arguments: [Container.mkv, .mp4])
    func subtitles(container: Container) throws {
        let silent = try Fixture.make("silent.mp4", in: folder, frames: 25, rate: "25", video: Fixture.x264)
        let a = try spoken("a.mkv", ["one"])
        let b = try spoken("b.mp4", ["two", "too many"], codec: "mov_text")
        let clips = [
            EditClip(source: 0, play: .forward, title: "silent"), EditClip(source: 1, play: .reverse, title: "a"),
            EditClip(source: 2, play: .forward, title: "b"), EditClip(source: 1, play: .forward, title: "a"),
        ]
        let job = try job([silent, a, b], clips, container: container, lossless: false)
        #expect(
            try spoken(in: job.output, track: 0) == [
                "00:00:01,400 --> 00:00:01,800 one", "00:00:02,200 --> 00:00:02,600 two",
                "00:00:03,200 --> 00:00:03,600 one",
            ])
        let streams = try probe(job.output, "stream=codec_name", streams: "s")
        #expect(
            streams.split(whereSeparator: \.isNewline).map(String.init) == [container == .mkv ? "subrip" : "mov_text"])
        #expect(job.diagnostics.contains(.sourceSubtitlesLeftOut(source: "b", kept: 1)))
        #expect(
            job.diagnostics.contains(
                container == .mkv
                    ? .subtitlesConverted(track: 0, from: "mov_text", to: "subrip")
                    : .subtitlesConverted(track: 0, from: "subrip", to: "mov_text")))
    }

    @Test("colours that are not converted are named; curves that are the same are not")
    func coloursKept() throws {
        func source(_ name: String, _ tags: [String]) throws -> String {
            try Fixture.make(name, in: folder, frames: 5, rate: "25", video: Fixture.x264 + tags)
        }
        let a = try source("a.mp4", ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"])
        let b = try source("b.mp4", ["-color_primaries", "smpte170m", "-color_trc", "iec61966-2-1"])
        let c = try source("c.mp4", ["-color_trc", "smpte170m"])
        let clips = [0, 1, 2].map { EditClip(source: $0, play: .forward, title: ["a", "b", "c"][$0]) }
        let job = try job([a, b, c], clips)
        let kept = job.diagnostics.filter { if case .sourceColoursKept = $0 { true } else { false } }
        #expect(
            kept == [
                .sourceColoursKept(
                    source: "b", from: ["smpte170m primaries", "iec61966-2-1 transfer"],
                    to: ["bt709 primaries", "bt709 transfer"])
            ])
    }

    @Test("what no conversion brings together is refused, by name")
    func refusals() throws {
        let plain = try Fixture.make("a.mp4", in: folder, frames: 5, video: Fixture.x264)
        let clear = try Fixture.make(
            "clear.mkv", in: folder, frames: 5, filter: "format=yuva420p10le",
            video: ["-c:v", "ffv1", "-color_trc", "smpte2084", "-color_primaries", "bt2020"])
        let fields = try Fixture.make(
            "tape.mp4", in: folder, frames: 5, filter: "setfield=tff",
            video: Fixture.x264 + ["-flags", "+ildct+ilme", "-x264-params", "tff=1"])
        let clips = [EditClip(play: .forward, title: "plain"), EditClip(source: 1, play: .forward, title: "other")]
        var failure = #expect(throws: ReelFailure.self) { try job([plain, fields], clips) }
        #expect(failure?.reason == .interlacedMixed(source: "other") && failure?.kind == .input)
        failure = #expect(throws: ReelFailure.self) { try job([plain, clear], clips) }
        #expect(failure?.reason == .dynamicRangesMixed(source: "other", main: "plain") && failure?.kind == .input)
        failure = #expect(throws: ReelFailure.self) { try job([fields, plain], clips) }
        #expect(failure?.reason == .interlacedMixed(source: "plain"))
    }

    // MARK: Sound

    /// A tone of a frequency, in 16 bits, beside a picture.
    private func tone(_ name: String, _ hertz: Int, rate: Int = 48_000, channels: Int = 2, seconds: Double = 2) throws
        -> String
    {
        let path = folder.path + "/" + name
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=r=25:s=96x54:d=\(seconds)", "-f", "lavfi", "-i",
            "sine=\(hertz):r=\(rate):d=\(seconds)", "-c:v", "libx264", "-c:a", "pcm_s16le", "-ac", "\(channels)", path)
        return path
    }

    /// How often the first channel crosses zero upwards, a second.
    private func pitch(_ samples: ArraySlice<[Float]>, rate: Int) -> Double {
        let crossings = zip(samples, samples.dropFirst()).count { $0[0] < 0 && $1[0] >= 0 }
        return Double(crossings) / (Double(samples.count) / Double(rate))
    }

    @Test("sound of other rates and channels becomes that of the first, each in its place, as long as the edit")
    func soundFormats() throws {
        let a = try tone("a.mkv", 500)
        let b = try tone("b.mkv", 1000, rate: 44_100, channels: 1)
        let clips = [
            EditClip(source: 0, to: .seconds(Rational(1)), play: .forward),
            EditClip(source: 1, to: .seconds(Rational(1)), play: .reverse),
            EditClip(source: 1, to: .seconds(Rational(1)), play: .forward, sound: false),
        ]
        let sound = try Sound(try job([a, b], clips, crossfade: Rational(0), container: .mkv).output)
        #expect(sound.rate == 48_000 && sound.samples.count == 144_000)
        #expect(abs(pitch(sound.samples[4_000..<44_000], rate: 48_000) - 500) < 3)
        #expect(abs(pitch(sound.samples[52_000..<92_000], rate: 48_000) - 1000) < 3)
        #expect(sound.samples[96_000...].allSatisfy { $0 == [0, 0] })
    }

    @Test("the sound of a single clip that is reversed and trimmed runs backwards, too")
    func trimmedReversal() throws {
        let source = try Fixture.sounding("s.mkv", in: folder, audio: ["-c:a", "pcm_s16le"])
        let edit = Edit(clips: [EditClip(play: .reverse)], trim: .shared)
        let spec = JobSpec(container: .mkv, lossless: true, edit: edit)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
        #expect(try Sound(job.output).samples == Sound(source).samples.reversed())
    }

    @Test(
        "at another speed the sound keeps its pitch, and lasts as long as the picture to a sample",
        arguments: [
            Rational(1, 16), Rational(2, 5), Rational(3, 2), Rational(16),
        ])
    func speeds(speed: Rational) throws {
        let source = try tone("a.mkv", 800, seconds: 4)
        let clips = [
            EditClip(to: .seconds(Rational(2)), play: .pingPong, speed: speed),
            EditClip(from: .seconds(Rational(1)), to: .seconds(Rational(2)), play: .forward),
        ]
        let sound = try Sound(try job([source], clips, crossfade: Rational(0), container: .mkv).output)
        let length = (Rational(98, 25) / speed * Rational(48_000)).approximate
        #expect(sound.samples.count == Int((length + 48_000).rounded()))
        // Around turns and at the ends the blocks of the stretching show.
        let stretched = sound.samples[..<Int(length)]
        let middle = stretched[(stretched.count / 10)..<(stretched.count * 4 / 10)]
        #expect(abs(pitch(middle, rate: 48_000) - 800) < (speed > Rational(2) ? 160 : 24))
        let whole = Int(length.rounded())
        #expect(abs(pitch(sound.samples[(whole + 2_000)...], rate: 48_000) - 800) < 4)
    }
}

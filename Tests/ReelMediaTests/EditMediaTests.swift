import Foundation
import ReelCore
import ReelMedia
import Testing

/// Clips that are played forth and back, and repeated, as files.
@Suite("Edits as files")
struct EditMediaTests {
    private let folder = ScratchFolder()

    private func job(
        _ source: String, _ clips: [EditClip], turn: Turn = .once, crossfade: Rational? = nil,
        container: Container = .nut, lossless: Bool = true, passFrames: Int? = 12, slots: Int = 2
    ) throws -> MediaJob {
        let spec = JobSpec(
            container: container, lossless: lossless,
            edit: Edit(clips: clips, turn: turn, crossfade: crossfade), passFrames: passFrames)
        return try MediaJob(source, spec: spec, folder: folder.path, slots: slots)
    }

    @Test(
        "a ping-pong shows each frame forth and back, from groups that are open and have B-frames, and decodes it once",
        arguments: ["open.mp4", "open.mkv", "open.ts", "closed.mp4", "m.mpg"], [Turn.once, .twice])
    func pingPong(name: String, turn: Turn) throws {
        let source = try Fixture.grouped(name, in: folder)
        let job = try job(source, [EditClip(play: .pingPong, times: 2)], turn: turn)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 80)
        let back = turn == .once ? before.hashes.dropFirst().dropLast() : before.hashes[...]
        #expect(after.hashes == [before.hashes, back.reversed(), before.hashes, back.reversed()].flatMap(\.self))
        let frame = Rational(1001, 30000)
        // Matroska counts milliseconds, which may make each span that much longer or shorter.
        for (place, time) in after.times.enumerated() {
            let distance = (time - Rational(Int64(place)) * frame).approximate
            #expect(name.hasSuffix("mkv") ? abs(distance) <= 0.004 : distance == 0)
        }
        let passes = job.plan.passes
        #expect(passes.count > 2)
        let records = job.records
        #expect(records.reduce(0) { $0 + $1.frames } == 80 + back.count)
        // Each pass begins at a random access point, but for the frames before the first that it shows.
        let lead = name.hasPrefix("open") || name.hasPrefix("m.") ? 80 / 3 : 0
        #expect(job.framesDecoded <= 80 + lead)
    }

    @Test("one key frame for all: each frame is decoded once, chunk after chunk")
    func oneKeyFrame() throws {
        let source = try Fixture.make(
            "one.mp4", in: folder, frames: 300, video: Fixture.x264 + ["-g", "9999", "-sc_threshold", "0", "-bf", "3"])
        let job = try job(source, [EditClip(play: .pingPong, times: 3)], passFrames: 50, slots: 1)
        #expect(job.plan.passes.count == 1)
        #expect(job.framesDecoded == 300)
        #expect(job.mostFramesHeld <= 50)
        let hashes = try Decoded(source).hashes
        let loop = hashes + hashes.dropFirst().dropLast().reversed()
        #expect(try Decoded(job.output).hashes == loop + loop + loop)
    }

    @Test("a variable frame rate: each frame stays as long as in the source, in both directions")
    func variableFrameRate() throws {
        let source = try Fixture.variable("vfr.mp4", in: folder)
        let job = try job(source, [EditClip(play: .pingPong, times: 2)])
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(Set(before.gaps).count > 10)
        let frames = job.index.video.frames
        let last = frames[frames.count - 1].interval.duration
        let forth = before.gaps + [job.index.video.stream.timeBase.seconds(last)]
        let loop = forth + forth.dropFirst().dropLast().reversed()
        #expect(after.gaps == Array((loop + loop).dropLast()))
    }

    @Test("tiny clips", arguments: [1, 2, 3, 4], [Play.pingPong, .forward, .reverse])
    func tiny(frames: Int, play: Play) throws {
        for lossless in [true, false] {
            let source = try Fixture.make(
                "tiny\(lossless).mp4", in: folder, frames: 20, rate: "24000/1001",
                video: Fixture.x264 + ["-g", "5", "-bf", "2"])
            let clip = EditClip(
                from: .seconds(Rational(6 * 1001, 24000)), to: .seconds(Rational(Int64(6 + frames) * 1001, 24000)),
                play: play, times: 3)
            let job = try job(source, [clip], container: lossless ? .nut : .mp4, lossless: lossless, passFrames: nil)
            let all = try Decoded(source).hashes
            let range = Array(all[6..<6 + frames])
            let once =
                switch play {
                case .forward: range
                case .reverse: Array(range.reversed())
                case .pingPong: range + range.dropFirst().dropLast().reversed()
                }
            let after = try Decoded(job.output)
            #expect(after.times.count == 3 * once.count)
            #expect(Set(after.gaps).count <= 1)
            if lossless { #expect(after.hashes == once + once + once) }
        }
    }

    @Test("several clips of one source, in any direction, some of the same frames")
    func severalClips() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 72, rate: "30000/1001", video: Fixture.x264 + ["-g", "16", "-bf", "2"])
        func clip(_ from: Int64, _ to: Int64, _ play: Play, _ times: Int = 1) -> EditClip {
            let moment = { (frame: Int64) in Position.seconds(Rational(frame * 1001, 30000)) }
            return EditClip(from: moment(from), to: moment(to), play: play, times: times)
        }
        let job = try job(
            source, [clip(40, 60, .reverse), clip(3, 17, .forward, 2), clip(40, 60, .forward), clip(3, 17, .pingPong)])
        let all = try Decoded(source).hashes
        let (a, b) = (Array(all[40..<60]), Array(all[3..<17]))
        let back: [String] = b.dropFirst().dropLast().reversed()
        #expect(try Decoded(job.output).hashes == [a.reversed(), b, b, a, b, back].flatMap { $0 })
    }

    @Test("packets of whole frames are written in the order of the clips, bit for bit, and sound sample by sample")
    func passthrough() throws {
        let source = try Fixture.sounding(
            "m.mov", in: folder, frames: 45, seconds: 1.8, audio: ["-c:a", "pcm_s16le"],
            options: ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"])
        let clips = [
            EditClip(from: .seconds(Rational(1, 5)), play: .pingPong, times: 2),
            EditClip(to: .seconds(Rational(1)), play: .reverse),
        ]
        let job = try job(source, clips, container: .mov, lossless: false, passFrames: nil)
        #expect(job.plan.video.isPassthrough)
        #expect(job.framesDecoded == 0)
        let all = try packetHashes(of: source)
        #expect(all.count == 45 && Set(all).count > 20)
        let forth = Array(all[5...])
        let back: [String] = forth.dropFirst().dropLast().reversed()
        #expect(try packetHashes(of: job.output) == [forth, back, forth, back, all[..<25].reversed()].flatMap { $0 })
        let times = try Decoded(job.output).times
        #expect(times == times.indices.map { Rational(Int64($0), 25) })
        let samples = try Sound(source).samples
        let after = try Sound(job.output).samples
        // Frames of 1920 samples; the sound turns in the middle of the last.
        #expect(after[..<75_840] == samples[9_600..<85_440])
        #expect(Array(after[75_840..<150_720]) == samples[10_560..<85_440].reversed())
    }

    // MARK: Sound

    /// A source of 50 frames a 25th of a second long, with two seconds of sound in 16 bits.
    private func sounding() throws -> (path: String, samples: [[Float]]) {
        let source = try Fixture.sounding("s.mkv", in: folder, audio: ["-c:a", "pcm_s16le"])
        let samples = try Sound(source).samples
        #expect(samples.count == 96_000)
        return (source, samples)
    }

    @Test("the sound of a ping-pong turns in the middle of the frames at which it turns, sample by sample")
    func turnsOnce() throws {
        let (source, samples) = try sounding()
        let job = try job(
            source, [EditClip(from: .seconds(Rational(2, 5)), to: .seconds(Rational(8, 5)), play: .pingPong, times: 2)])
        // Frames of 1920 samples, from 19,200 to 76,800.
        let forth = samples[19_200..<75_840]
        let back = samples[20_160..<75_840].reversed()
        let again = samples[20_160..<75_840]
        let last = samples[21_120..<75_840].reversed()
        let sound = try Sound(job.output)
        #expect(sound.samples == [Array(forth), Array(back), Array(again), Array(last)].flatMap { $0 })
        #expect(abs(sound.start) < 0.001)
    }

    @Test("the sound of a ping-pong that shows all frames twice turns where its spans meet")
    func turnsTwice() throws {
        let (source, samples) = try sounding()
        let clip = EditClip(from: .seconds(Rational(2, 5)), to: .seconds(Rational(8, 5)), play: .pingPong, times: 2)
        let job = try job(source, [clip], turn: .twice)
        let range = Array(samples[19_200..<76_800])
        let back = Array(range.reversed())
        #expect(try Sound(job.output).samples == [range, back, range, back].flatMap { $0 })
    }

    @Test("where repeats meet, one sound fades into the other; the rest is the source's, sample by sample")
    func crossfade() throws {
        let (source, samples) = try sounding()
        let job = try job(
            source, [EditClip(from: .seconds(Rational(2, 5)), to: .seconds(Rational(8, 5)), play: .forward, times: 2)],
            crossfade: Rational(1, 10))
        let after = try Sound(job.output).samples
        #expect(after.count == 115_200)
        #expect(Array(after[..<55_200]) == Array(samples[19_200..<74_400]))
        #expect(Array(after[60_000...]) == Array(samples[21_600..<76_800]))
        for place in 0..<4800 {
            let share = (Float(place) + 0.5) / 4800
            for channel in 0..<2 {
                let (falling, rising) = (samples[74_400 + place][channel], samples[16_800 + place][channel])
                let wanted = falling * (1 - share) + rising * share
                #expect(abs(after[55_200 + place][channel] - wanted) <= 0.6 / 32768)
            }
        }
    }

    @Test("sound that begins late or ends early is silent there, and as long as the edit")
    func missingSound() throws {
        let plain = try Fixture.sounding("late.mkv", in: folder, from: 0.52, seconds: 1, audio: ["-c:a", "pcm_s16le"])
        let before = try Sound(plain)
        let job = try job(plain, [EditClip(play: .pingPong)], turn: .twice)
        let after = try Sound(job.output)
        #expect(after.samples.count == 2 * 96_000)
        let first = Int((before.start * 48_000).rounded())
        let silence = [[Float]](repeating: [0, 0], count: first)
        let rest = [[Float]](repeating: [0, 0], count: 96_000 - first - before.samples.count)
        let forth = silence + before.samples + rest
        #expect(after.samples == forth + Array(forth.reversed()))
    }

    @Test(
        "formats of samples mix as numbers",
        arguments: ["pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"])
    func mixing(codec: String) throws {
        let source = try Fixture.sounding("s.mkv", in: folder, layout: "5.1", audio: ["-c:a", codec])
        let job = try job(
            source, [EditClip(to: .seconds(Rational(1)), play: .reverse, times: 2)], crossfade: Rational(1, 5),
            container: .mkv)
        let (before, after) = (try Sound(source, channels: 6), try Sound(job.output, channels: 6))
        #expect(after.samples.count == 96_000)
        for place in stride(from: 43_200, to: 52_800, by: 97) {
            let share = (Float(place - 43_200) + 0.5) / 9600
            // Before the source's start there is silence; after the range, the sound that the source has there.
            let falling = 48_000 - 1 - place >= 0 ? before.samples[48_000 - 1 - place] : Array(repeating: 0, count: 6)
            let rising = before.samples[96_000 - 1 - place]
            for channel in 0..<6 {
                let wanted = falling[channel] * (1 - share) + rising[channel] * share
                #expect(abs(after.samples[place][channel] - wanted) < (codec == "pcm_u8" ? 0.0081 : 0.0001))
            }
        }
    }

    @Test("several audio tracks, subtitles and chapters follow the spans")
    func otherTracks() throws {
        let text = folder.path + "/t.srt"
        try "1\n00:00:00,400 --> 00:00:00,800\nhello\n".write(toFile: text, atomically: true, encoding: .utf8)
        let chapters = folder.path + "/c.txt"
        try """
        ;FFMETADATA1
        [CHAPTER]
        TIMEBASE=1/1000
        START=0
        END=1000
        title=A
        [CHAPTER]
        TIMEBASE=1/1000
        START=1000
        END=2000
        title=B
        """.write(toFile: chapters, atomically: true, encoding: .utf8)
        let plain = try Fixture.sounding("p.mkv", in: folder, audio: ["-c:a", "pcm_s16le"])
        let source = folder.path + "/all.mkv"
        try ffmpeg(
            ["-i", plain, "-i", plain, "-i", text, "-i", chapters, "-map", "0:v", "-map", "0:a"]
                + ["-map", "1:a", "-map", "2:s", "-map_metadata", "3", "-map_chapters", "3", "-c", "copy", source])
        let job = try job(source, [EditClip(play: .pingPong)], turn: .twice, container: .mkv)
        let samples = try Sound(plain).samples
        for track in 0..<2 {
            let after = try ReelMediaTests.samples(of: job.output, track: track, channels: 2)
            #expect(after == samples + samples.reversed())
        }
        let cues = try probe(job.output, "packet=pts_time,duration_time", streams: "s")
        #expect(cues.split(separator: "\n") == ["0.400000,0.400000", "3.200000,0.400000"])
        let parts = try probe(job.output, "chapter=start_time:chapter_tags=title")
        #expect(parts.split(separator: "\n") == ["0.000000,A", "1.000000,B", "2.000000,B", "3.000000,A"])
    }

    @Test("interlaced frames turn their fields with the direction, and the stream does not state one order")
    func fields() throws {
        let source = try Fixture.make(
            "i.mkv", in: folder, frames: 24, rate: "25", filter: "setfield=tff",
            video: ["-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-field_order", "tt", "-bf", "0", "-g", "12"])
        let job = try job(source, [EditClip(play: .pingPong)], container: .mkv)
        func orders(_ path: String) throws -> [Substring] {
            let text = try probe(path, "frame=interlaced_frame,top_field_first", streams: "v")
            return text.split(separator: "\n").map { $0.prefix(3) }
        }
        #expect(try orders(job.output).count == 46)
        #expect(job.plan.video.format.fieldsVary)
        #expect(!job.warnings.contains { $0.contains("interlaced") })
        // An encoder that flags each of its streams: chunks run in one direction, so their frames are right, too.
        let other = ScratchFolder()
        let spec = JobSpec(
            container: .mp4, videoCodec: "libx264", edit: Edit(clips: [EditClip(play: .pingPong)], turn: .twice))
        let lossy = try MediaJob(source, spec: spec, folder: other.path)
        #expect(try orders(lossy.output) == Array(repeating: "1,1", count: 24) + Array(repeating: "1,0", count: 24))
        #expect(!lossy.warnings.contains { $0.contains("interlaced") })
        #expect(job.diagnostics.contains(.fieldOrdersVary) && lossy.diagnostics.contains(.fieldOrdersVary))
        let hashes = try Decoded(source).hashes
        #expect(try Decoded(job.output).hashes == hashes + hashes.dropFirst().dropLast().reversed())
    }
}

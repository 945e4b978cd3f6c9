import Foundation
import ReelCore
import ReelJobs
import ReelTerminal
import ReelWords
import Testing

/// The output of `plan`, word by word, for an index and a plan made by hand, so that nothing depends on the machine.
@Suite struct PlanTextTests {
    static let rate = Rational(24000, 1001)

    static func index() -> SourceIndex {
        // I P B B, and so on, in groups of 12 packets; the second group's first two B-frames come before its I-frame.
        let order: [Int64] = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 11, 10, 14, 12, 13, 17, 15, 16, 20, 18, 19, 22, 21, 23]
        let packets = order.enumerated().map { place, shown in
            PacketEntry(
                pts: Timestamp(1001 * (shown + 2)), dts: Timestamp(1001 * Int64(place)), size: 4000,
                position: Int64(4000 * place), flags: place % 12 == 0 ? .key : [])
        }
        let frames = (0..<24).map { shown in
            FrameEntry(
                interval: Interval(start: Timestamp(Int64(1001 * (shown + 2))), duration: Ticks(1001)),
                packet: Int32(order.firstIndex(of: Int64(shown)) ?? 0))
        }
        var stream = VideoStream(
            index: 0, codec: "h264", width: 720, height: 576, pixelFormat: "yuv420p", timeBase: TimeBase(1, 24000),
            frameRate: rate, sampleAspectRatio: Rational(64, 45),
            displayMatrix: [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30],
            colour: ColourTags(range: "tv", primaries: "bt709", transfer: "bt709", matrix: "bt709"),
            fieldOrder: .topFirst, reorderDepth: 2, frameBytes: 700_000, details: TrackDetails())
        (stream.profile, stream.level) = ("High", 31)
        let sound = AudioTrack(
            index: 1, codec: "aac", sampleRate: 48000, channels: 2, channelLayout: "stereo", sampleFormat: "fltp",
            profile: "LC", timeBase: TimeBase(1, 48000), span: Interval(start: Timestamp(4004), duration: Ticks(48048)),
            bytes: 16016, details: TrackDetails(language: "deu"))
        return SourceIndex(
            format: "matroska,webm", fileSize: 123_456, startTime: Rational(0),
            video: VideoTrack(
                stream: stream, packets: packets, frames: frames,
                randomAccessPoints: [RandomAccessPoint(packet: 0, frame: 0), RandomAccessPoint(packet: 12, frame: 14)]),
            audio: [sound], chapters: [Chapter(start: Rational(0), end: Rational(1), title: "One")], metadata: [],
            passthrough: .impossible(why: .interFrames(codec: "h264")), diagnostics: [])
    }

    private func view() throws -> PlanView {
        let index = Self.index()
        let video = VideoEncoding(
            encoder: "libx264",
            format: OutputFormat(
                timeBase: index.video.stream.timeBase, width: 720, height: 576, pixelFormat: "yuv420p",
                frameRate: Self.rate),
            options: [MediaOption(name: "preset", value: "medium"), MediaOption(name: "crf", value: "18.0")],
            bitrate: nil, threads: 1,
            keyFrameInterval: 250, identity: EncoderIdentity(build: "libx264 Lavc1", extradataHash: ""),
            coarsest: 32)
        let audio = AudioTarget(
            track: 0, direction: .backwards, encoder: "aac", sampleRate: 48000, channelLayout: "stereo",
            bitrate: 192_000, lossless: false)
        let plan = try Planner(slots: 2).plan(
            PlanInput(
                indexes: [index], indexHashes: [""], spec: JobSpec(container: .mp4), video: .encode(video),
                audio: [audio]))
        return PlanView(id: "0123456789abcdef", sources: ["/a/clip.mkv"], plan: plan, indexes: [index])
    }

    @Test func everyLine() throws {
        let need = try view().need
        #expect(
            PlanText.lines(try view()).joined(separator: "\n") == """
                job      0123456789abcdef
                source   /a/clip.mkv
                         matroska,webm, 120.6 KiB, 1.001 s, clock from 0.000 s, video from 0.083 s
                video    stream 0, h264 High@3.1, 720x576, yuv420p, SAR 64:45, DAR 16:9, turned by 90°
                         24 frames, 24000/1001 fps, constant rate
                         interlaced, top field first, colour bt709, range tv
                groups   2 random access points, 10 to 14 frames, 12.0 on average, 1 of them open, 14 frames reordered, 2 deep
                audio 0  stream 1, aac LC, 48000 Hz, stereo, 128 kb/s, deu, from 0.000 s to 1.001 s
                also     1 chapter
                output   mp4, libx264 720x576 yuv420p (as in the source), preset=medium crf=18.0, down to crf 32 where it would have many more bits than the source
                         audio 0: reversed, aac, 48000 Hz, stereo, 192 kb/s
                frames   24 of 24, 1.001 s
                passes   1 of video in 1 chunk, 1 of audio
                memory   \(ByteSize(bytes: need)) a pass
                decodes  24 frames
                """)
    }

    @Test func packetsThatAreCopiedNeedNoPass() throws {
        var view = try view()
        #expect(PlanText.lines(view).contains("passes   1 of video in 1 chunk, 1 of audio"))
        view.passes.removeAll { $0.kind == "video" }
        #expect(PlanText.lines(view).contains("passes   none of video, whose packets the assembly copies; 1 of audio"))
    }

    @Test func whatIsDrawnAndWhatIsHeardInstead() throws {
        var view = try view()
        view.container = "gif"
        let drawn = "output   gif, 720x576, drawn from libx264 yuv420p (as in the source)"
        #expect(PlanText.lines(view).contains(drawn), "\(PlanText.lines(view))")
        view.audio[0].handling = .soundtrack
        #expect(PlanText.lines(view).contains { $0.contains("audio 0: the soundtrack, aac") })
    }

    @Test func theSameFactsForMachines() throws {
        let found = try view().found
        let (groups, video) = (try #require(found.groups), try #require(found.video))
        #expect(groups.open == 1)
        #expect((groups.shortest, groups.longest, groups.count) == (10, 14, 2))
        #expect((video.profile, video.level, video.rotation) == ("High", 31, 90))
        #expect(video.isVariableRate == false)
        #expect(abs(found.audio[0].start) < 0.001)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(view()), as: UTF8.self)
        #expect(text.contains(#""audioEncoders":["aac"]"#))
        #expect(text.contains(#""sampleAspectRatio":"64:45""#))
        #expect(text.contains(#""encoderOptions":"preset=medium crf=18.0""#))
    }

    @Test func aVariableRateIsShownByItsLimits() throws {
        var index = Self.index()
        for place in index.video.frames.indices.dropFirst(20) {
            index.video.frames[place].interval.start = index.video.frames[place].interval.start + Ticks(24000)
        }
        index.video.frames[19].interval.duration = Ticks(25001)
        let video = try #require(SourceView(index).video)
        #expect(video.isVariableRate)
        #expect(abs(video.longestFrame - 25001.0 / 24000) < 1e-9)
    }
}

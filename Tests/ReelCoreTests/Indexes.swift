import ReelCore
import ReelRandom

/// Source indexes as recon would make them, for tests.
enum Indexes {
    /// Frames of equal length, one packet each, with a RAP at every given frame.
    static func regular(
        frames count: Int, keysAt keys: [Int], rate: Rational = Rational(25), frameBytes: Int64 = 1_400_000
    ) -> SourceIndex {
        let timeBase = TimeBase(rate.denominator, rate.numerator * 512)
        return make(
            durations: Array(repeating: 512, count: count), keysAt: keys,
            timeBase: timeBase, frameBytes: frameBytes)
    }

    static func make(
        durations: [Int64], keysAt keys: [Int], timeBase: TimeBase, start: Int64 = 0, startTime: Rational = Rational(0),
        frameBytes: Int64 = 1_400_000
    ) -> SourceIndex {
        var time = start
        var (packets, frames): ([PacketEntry], [FrameEntry]) = ([], [])
        let isKey = Set(keys)
        for (place, duration) in durations.enumerated() {
            packets.append(
                PacketEntry(
                    pts: Timestamp(time), dts: Timestamp(time), size: Int32(1000 + place % 77),
                    position: Int64(48 + place * 1100), flags: isKey.contains(place) ? .key : []))
            frames.append(
                FrameEntry(
                    interval: Interval(start: Timestamp(time), duration: Ticks(duration)), packet: Int32(place)))
            time += duration
        }
        let points = keys.map { RandomAccessPoint(packet: Int32($0), frame: Int32($0)) }
        return SourceIndex(
            format: "mov,mp4,m4a,3gp,3g2,mj2", fileSize: Int64(48 + durations.count * 1100), startTime: startTime,
            video: VideoTrack(
                stream: stream(timeBase: timeBase, frameBytes: frameBytes), packets: packets, frames: frames,
                randomAccessPoints: points),
            audio: [], metadata: [], passthrough: .impossible(why: .interFrames(codec: "h264")),
            diagnostics: [])
    }

    static func stream(timeBase: TimeBase, frameBytes: Int64) -> VideoStream {
        VideoStream(
            index: 0, codec: "h264", width: 1280, height: 720, pixelFormat: "yuv420p", timeBase: timeBase,
            frameRate: Rational(30000, 1001), sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(),
            fieldOrder: .progressive, reorderDepth: 2, frameBytes: frameBytes, details: TrackDetails())
    }

    /// Anything that recon may find: variable rates, gaps, B-frames, field pairs, hidden packets, recovery points.
    static func random(using random: inout SplitMix64, frames limit: Int = 3000) -> SourceIndex {
        let count = Int.random(in: 1...limit, using: &random)
        let isVariable = Bool.random(using: &random)
        let durations = (0..<count).map { _ in isVariable ? Int64.random(in: 0...5000, using: &random) : 1001 }
        let spread = [1, 12, 250, 5000].randomElement(using: &random) ?? 1
        var keys = [0]
        while let last = keys.last, last < count { keys.append(last + Int.random(in: 1...spread, using: &random)) }
        var index = make(
            durations: durations, keysAt: keys.dropLast(), timeBase: TimeBase(1, 30000),
            start: Int64.random(in: -90000...90000, using: &random),
            startTime: Rational(Int64.random(in: -3...3, using: &random)))
        disturb(&index.video, using: &random)
        index.audio = (0..<Int.random(in: 0...2, using: &random)).map(audioTrack)
        index.subtitles = (0..<Int.random(in: 0...2, using: &random)).map { subtitleTrack($0, using: &random) }
        index.chapters = [Chapter(start: Rational(1, 3), end: Rational(1001, 30), title: "Kapitel \u{1F39E}")]
        index.attachments = [
            Attachment(
                index: 7, isCover: true, codec: "mjpeg", fileName: "cover.jpg", mediaType: "image/jpeg", title: nil,
                bytes: 4711)
        ]
        index.metadata = [MetadataEntry(name: "title", value: "Ein \"Täst\" \u{1F39E}\n")]
        index.diagnostics = [
            .streamLeftOut(stream: 3, kind: "subtitle", codec: "dvd_subtitle", refusal: .subtitlesNotText)
        ]
        return index
    }

    private static func disturb(_ track: inout VideoTrack, using random: inout SplitMix64) {
        let hasGaps = Bool.random(using: &random)
        let isFieldPair = Int.random(in: 0..<4, using: &random) == 0
        for place in track.frames.indices {
            if hasGaps, track.frames[place].interval.duration.count > 3, Int.random(in: 0..<50, using: &random) == 0 {
                track.frames[place].interval.duration.count -= 2
            }
            if isFieldPair { track.frames[place].packet *= 2 }
        }
        if isFieldPair {
            track.packets = track.packets.flatMap { [$0, $0] }
            for place in track.randomAccessPoints.indices { track.randomAccessPoints[place].packet *= 2 }
        }
        for place in track.packets.indices {
            track.packets[place].dts = track.packets[place].pts - Ticks(Int64.random(in: 0...2002, using: &random))
            if Int.random(in: 0..<100, using: &random) == 0 { track.packets[place].position = -1 }
            if Int.random(in: 0..<100, using: &random) == 0 { track.packets[place].flags.insert(.discarded) }
        }
    }

    static func subtitleTrack(_ place: Int, using random: inout SplitMix64) -> SubtitleTrack {
        var start = Int64.random(in: -1000...1000, using: &random)
        let cues = (0..<Int.random(in: 0...40, using: &random)).map { number in
            start += Int64.random(in: 0...90_000, using: &random)
            let payload = (0..<Int.random(in: 0...300, using: &random)).map { UInt8(truncatingIfNeeded: $0 * number) }
            return Cue(
                interval: Interval(
                    start: Timestamp(start), duration: Ticks(Int64.random(in: 0...5000, using: &random))),
                text: CueText(
                    payload: payload, identifier: Array("\(number)".utf8),
                    settings: number.isMultiple(of: 3) ? Array("line:0".utf8) : []))
        }
        return SubtitleTrack(
            parameters: SubtitleTrack.Parameters(
                index: place + 5, codec: "webvtt", header: [0, 255, 10], isTimedText: false, width: 640, height: 0,
                timeBase: TimeBase(1, 1000), details: TrackDetails(language: "fra", title: "Forcés")),
            cues: cues)
    }

    static func audioTrack(_ place: Int) -> AudioTrack { audioTrack(place, start: -1024, duration: 480_000) }

    static func audioTrack(_ place: Int = 0, rate: Int64 = 48000, start: Int64, duration: Int64) -> AudioTrack {
        AudioTrack(
            index: place + 1, codec: "aac", sampleRate: 48000, channels: 2, channelLayout: "stereo",
            sampleFormat: "fltp", timeBase: TimeBase(1, rate),
            span: Interval(start: Timestamp(start), duration: Ticks(duration)), bytes: 65_536,
            details: TrackDetails(language: "deu", title: nil, dispositions: ["default"]))
    }
}

extension VideoTrack {
    /// Packet and frame of each RAP.
    var points: [[Int32]] { randomAccessPoints.map { [$0.packet, $0.frame] } }
}

internal import ReelCore
internal import ReelWords

/// What a user may say for an option of a request, and what it means. The help of the command line, the reading of JSON
/// and the server's OpenAPI document are made from it.
package struct RequestOption: Sendable {
    package let form: Form
    /// The default, as a user would write it; nil if that depends on other things, which `help` says.
    package let usual: String?
    package let example: String
    package let help: String
    /// What stands for the value in the help of a command line; nil for the option's name.
    package let valueName: String?
    /// Takes a value from its text; false if the text has another form. A flag is set whatever its text.
    let read: @Sendable (inout OutputRequest, String) -> Bool

    package enum Form: Sendable {
        case flag
        case word([String])
        case whole(ClosedRange<Int>, or: String? = nil)
        /// A text with a form of its own. If numbers are among its forms, they lie in a range.
        case text(String, numbers: ClosedRange<Double>? = nil)

        /// Completes a sentence about an option that takes it.
        var words: String {
            switch self {
            case .flag: "true or false"
            case .word(let words): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
            case .whole(_, let word): "a whole number" + (word.map { ", or \($0)" } ?? "")
            case .text(let forms, _): forms
            }
        }

        var takesNumbers: Bool {
            switch self {
            case .whole, .text(_, .some): true
            case .flag, .word, .text(_, nil): false
            }
        }
    }

    /// - Parameter parse: makes a value of its text; nil if the text has another form.
    private init<Value>(
        _ form: Form, usual: String? = nil, example: String, valueName: String? = nil, _ help: String,
        _ parse: @escaping @Sendable (String) -> Value?,
        _ set: @escaping @Sendable (inout OutputRequest, Value) -> Void
    ) {
        (self.form, self.usual, self.example, self.help, self.valueName) = (form, usual, example, help, valueName)
        read = { request, text in
            guard let value = parse(text) else { return false }
            set(&request, value)
            return true
        }
    }

    fileprivate static func flag(
        _ help: String, _ set: @escaping @Sendable (inout OutputRequest) -> Void
    ) -> RequestOption { RequestOption(.flag, example: "true", help, { _ in true }, { request, _ in set(&request) }) }

    fileprivate static func word<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        usual: Word?, example: Word, valueName: String? = nil, _ help: String,
        _ set: @escaping @Sendable (inout OutputRequest, Word) -> Void
    ) -> RequestOption {
        RequestOption(
            .word(Word.allCases.map(\.rawValue)), usual: usual?.rawValue, example: example.rawValue,
            valueName: valueName, help, { Word(rawValue: $0) }, set)
    }

    fileprivate static func whole(
        _ allowed: ClosedRange<Int>, usual: String? = nil, example: String, valueName: String? = nil, _ help: String,
        _ set: @escaping @Sendable (inout OutputRequest, Int) -> Void
    ) -> RequestOption {
        RequestOption(.whole(allowed), usual: usual, example: example, valueName: valueName, help, { Int($0) }, set)
    }

    /// One whose type reads it.
    ///
    /// - Parameter form: nil for a text with the type's own forms, in which numbers lie in a range.
    fileprivate static func value<Value: ExplainedArgument>(
        _ form: Form? = nil, numbers: ClosedRange<Double>? = nil, usual: String? = nil, example: String,
        valueName: String? = nil, _ help: String, _ set: @escaping @Sendable (inout OutputRequest, Value) -> Void
    ) -> RequestOption {
        RequestOption(
            form ?? .text(Value.forms, numbers: numbers), usual: usual, example: example, valueName: valueName, help,
            { Value($0) }, set)
    }

    fileprivate static func text(
        _ form: String = "a name", example: String, valueName: String? = nil, _ help: String,
        _ set: @escaping @Sendable (inout OutputRequest, String) -> Void
    ) -> RequestOption { RequestOption(.text(form), example: example, valueName: valueName, help, { $0 }, set) }
}

extension OutputRequest.Field {
    package var option: RequestOption {
        switch self {
        case .container:
            .word(
                usual: nil, example: Container.mkv, valueName: "name",
                """
                The container if the output has its default name: \
                \(Container.allCases.map(\.rawValue).joined(separator: ", ")). Default: the source's own, or one that holds \
                what is asked for.
                """
            ) { $0.container = $1 }
        case .purpose:
            .word(
                usual: nil, example: Purpose.web, valueName: "place",
                """
                Make an output that plays there: MP4 of H.264 and AAC, 8 bits, standard range, at most 1920 pixels on the \
                longer side and 60 frames a second; for discord, whatsapp and email no larger than these take. One of \
                \(Purpose.allCases.map(\.rawValue).joined(separator: ", ")).
                """
            ) { $0.purpose = $1 }
        case .videoCodec:
            .text(
                example: "libx265", valueName: "name",
                """
                Encoder or codec as FFmpeg spells it, for example libx265 or vp9; copy requires stream copy. Default: \
                stream copy if each packet is a whole frame, else the source's codec.
                """
            ) { $0.videoCodec = $1 }
        case .crf:
            .value(
                numbers: 0...(.infinity), example: "20",
                """
                Constant quality on the encoder's own scale. Default: 18 of x264 or its equivalent, and coarser where that \
                would have more than 1.2 times the source's bits.
                """
            ) { $0.crf = $1 }
        case .preset:
            .text(example: "slow", "The encoder's preset. Default: medium or its equivalent.") { $0.preset = $1 }
        case .profile:
            .text(
                example: "high10", valueName: "name",
                """
                Profile of the codec as FFmpeg spells it: for H.264 baseline, main, high, high10, high422, high444; for \
                HEVC main, main10, main422-10, main444-8, main444-10; for ProRes proxy, lt, standard, hq, 4444, 4444xq. \
                Default: what the pixel format takes.
                """
            ) { $0.profile = $1 }
        case .bitrate:
            .value(
                numbers: 1...(.infinity), example: "5M", valueName: "rate",
                """
                Bits per second instead of constant quality, for example 5M; source gives each chunk the rate of its part \
                of the source.
                """
            ) { $0.bitrate = $1 }
        case .maxSize:
            .value(
                numbers: 1...(.infinity), example: "10MB", valueName: "size",
                """
                The most bytes that the output may have, sound and container included, for example 10MB or 8MiB; its rate is \
                chosen so that it nearly has them. For mp4, mov, mkv, webm, gif, webp and apng.
                """
            ) { $0.maxSize = $1 }
        case .lossless:
            .flag(
                "Bit-exact pictures (FFV1) and sound (PCM), in mkv, mov, nut or avi; exact colours in webp and apng."
            ) { $0.lossless = true }
        case .audio:
            .word(
                usual: AudioMode.reverse, example: .keep,
                "How to treat the sound: reverse, keep (forwards, as long as the video) or none."
            ) { $0.audio = $1 }
        case .audioCodec:
            .text(
                example: "aac", valueName: "name",
                "Encoder or codec of the sound as FFmpeg spells it. Default: the source's, if the container supports it."
            ) { $0.audioCodec = $1 }
        case .audioBitrate:
            .value(
                numbers: Double(JobSpec.audioBitrates.lowerBound)...Double(JobSpec.audioBitrates.upperBound),
                example: "192k", valueName: "rate",
                "Bits per second of each track of the sound, for example 192k. Default: 96k for each channel, 80k of Opus."
            ) { $0.audioBitrate = $1 }
        case .tracks:
            .value(
                usual: "a,s", example: "a:0,s", valueName: "list",
                """
                Tracks to keep beside the video, as FFmpeg spells streams: a and s for all sound and subtitles, a:0 and s:1 \
                for one, v for none of them. Example: a:0,s.
                """
            ) { $0.tracks = $1 }
        case .from:
            .value(
                numbers: 0...(.infinity), example: "00:01:30.5", valueName: "position",
                """
                First moment of the source to show: seconds, HH:MM:SS.mmm, frames such as 30f, counted from 0, or a \
                timecode such as 00:00:01:12 or "00:00:01;12", counted from the first frame.
                """
            ) { $0.from = $1 }
        case .to:
            .value(
                numbers: 0...(.infinity), example: "2715f", valueName: "position",
                "Moment of the source to stop before, in the same forms."
            ) { $0.to = $1 }
        case .duration:
            .value(
                numbers: 0...(.infinity), example: "10", valueName: "length",
                "How much of the source to show, in the same forms, instead of where to stop."
            ) { $0.duration = $1 }
        case .play:
            .word(
                usual: Play.reverse, example: .pingPong,
                "How to play the range: reverse, forward, or ping-pong (forward, then back)."
            ) { $0.play = $1 }
        case .rewind:
            .value(
                example: "3-5", valueName: "moments",
                """
                Play everything forward, and these moments forward, backward and forward again: 3-5, or several as \
                3-5,1:10-1:12 or 90f-120f.
                """
            ) { $0.rewind = $1 }
        case .times:
            .whole(EditClip.timesAllowed, usual: "1", example: "3", "How often to play it.") { $0.times = $1 }
        case .speed:
            .value(
                numbers: EditClip.speedsAllowed.lowerBound.approximate...EditClip.speedsAllowed.upperBound.approximate,
                usual: "1", example: "3/2", valueName: "ratio",
                "Seconds of the source in a second of the output, as 2, 0.5 or 3/2: 1/16 to 16. The sound keeps its pitch."
            ) { $0.speed = $1 }
        case .turn:
            .word(
                usual: Turn.once, example: .twice,
                """
                How often ping-pong shows the frames at which it turns. once: of n frames, n forward and n - 2 back, so \
                that a loop never stutters. twice: all frames in both directions.
                """
            ) { $0.turn = $1 }
        case .crossfade:
            .value(
                numbers: 0...(.infinity), example: "0.5", valueName: "time",
                """
                Length of the crossfade of the sound between repeats, and between videos that are stitched; 0 for hard \
                cuts. Default: half a frame, at least 10 ms.
                """
            ) { $0.crossfade = $1 }
        case .stitch: .flag("Show all videos one after the other in one output.") { $0.stitch = true }
        case .trim:
            .word(
                usual: Trim.none, example: .shared,
                "shared: leave out frames without sound, and at joins as many as the crossfades need. none: keep all."
            ) { $0.trim = $1 }
        case .soundtrack:
            .text(
                "the path of a file", example: "music.wav", valueName: "file",
                """
                Let the first audio track of this file be heard, forwards and as it is, instead of the sources' sound. It \
                fades out in the last half second.
                """
            ) { $0.soundtrack = $1 }
        case .soundtrackFrom:
            .value(
                numbers: 0...(.infinity), example: "1:30.5", valueName: "time",
                "Moment of the soundtrack to begin with. Default: its start."
            ) { $0.soundtrackFrom = $1 }
        case .lenient:
            .flag(
                """
                Leave out what a timeline (.otio) has and an edit cannot show, with a warning: transitions become cuts, \
                clips without a file gaps; other sound and unknown effects are ignored. Default: refuse it.
                """
            ) { $0.lenient = true }
        case .size:
            .value(
                example: "640x360", valueName: "WxH",
                """
                Size of the pictures in pixels, for example 640x360: scaled in proportion, upright, the rest black. \
                Default: the source's; for gif at most 640 on the longer side.
                """
            ) { $0.size = $1 }
        case .pixelFormat:
            .text(
                example: "yuv420p", valueName: "name",
                """
                Pixel format as FFmpeg spells it, for example yuv420p. Default: the source's, or the nearest that the \
                encoder takes; yuv420p for H.264 in mp4 and mov if the source is in RGB, as GIFs and many recordings of \
                screens are.
                """
            ) { $0.pixelFormat = $1 }
        case .sampleRate:
            .whole(
                JobSpec.sampleRates, example: "48000", valueName: "rate",
                """
                Samples of the sound a second, for example 48000. Default: the source's, or the nearest that the encoder \
                takes.
                """
            ) { $0.sampleRate = $1 }
        case .channelLayout:
            .text(
                example: "stereo", valueName: "layout",
                """
                Channels of the sound as FFmpeg spells them, for example mono, stereo or 5.1. Default: the source's, or \
                the nearest that the encoder takes.
                """
            ) { $0.channelLayout = $1 }
        case .fps:
            .value(
                numbers: JobSpec.ratesAllowed.lowerBound.approximate...JobSpec.ratesAllowed.upperBound.approximate,
                example: "12.5", valueName: "rate",
                """
                The most frames a second; every m-th frame of the source is shown. In videos, gaps and frozen frames \
                become frames at this rate, and sources of several rates become one of it. Default: all frames, the \
                highest of several rates; 30 for gif, 50 for webp and apng.
                """
            ) { $0.fps = $1 }
        case .loop:
            .value(
                .whole(LoopOptions.playsAllowed, or: Plays.word), usual: Plays.word, example: "3", valueName: "times",
                "gif, webp and apng: how often players show it, or forever."
            ) { (request: inout OutputRequest, plays: Plays) in request.loop = plays }
        case .fit:
            .word(
                usual: Fit.standard, example: .crop,
                """
                How pictures of other proportions fill the output, in a stitch or with a size: bars (black), crop (what lies \
                beyond is cut off) or blur (the same pictures behind them, blurred).
                """
            ) { $0.fit = $1 }
        case .dither:
            .word(
                usual: Dither.sierra, example: .bayer,
                "gif: how colours that the palette lacks are approximated: none, bayer, sierra or floyd-steinberg."
            ) { $0.dither = $1 }
        case .colors:
            .whole(
                LoopOptions.coloursAllowed, usual: "256", example: "64", valueName: "number",
                "gif: the most colours, 2 to 256."
            ) { $0.colors = $1 }
        case .timestamps:
            .word(
                usual: TimestampMode.mirror, example: .source,
                "Mirror: each frame stays as long as it did. source: the source's timestamps."
            ) { $0.timestamps = $1 }
        case .passFrames:
            .whole(
                1...Int.max, example: "240", valueName: "frames",
                "The most frames in memory and in a pass; turns stream copy off."
            ) { $0.passFrames = $1 }
        case .memory:
            .value(
                numbers: 1...(.infinity), example: "768MiB", valueName: "size",
                """
                Limit of a pass's memory, for example 768MiB. Default: no limit; chunks are made for 2GiB, which a pass \
                exceeds if 48 frames do not fit.
                """
            ) { $0.memory = $1 }
        case .threads:
            .value(
                .whole(JobSpec.threadCounts, or: ThreadCount.word), usual: ThreadCount.word, example: "4",
                valueName: "number",
                """
                Threads of each codec; the same number gives the same bytes anywhere. auto: one, or more if there are \
                fewer passes than slots.
                """
            ) { (request: inout OutputRequest, threads: ThreadCount) in request.threads = threads }
        case .verify:
            .word(
                usual: VerifyMode.packets, example: .decode,
                """
                How the finished file is checked. packets: the bytes and times of every packet are compared with those \
                that were encoded. decode: also the count and times of all its frames. If the source had to be decoded to \
                be planned, decode is always used, and every frame is compared with the one that it mirrors.
                """
            ) { $0.verify = $1 }
        case .onDamage:
            .word(
                usual: DamageMode.repeat, example: .fail,
                """
                For damaged frames. repeat: show the previous frame again if a frame does not decode, and frames with \
                errors as the decoder conceals them; fail: stop the job.
                """
            ) { $0.onDamage = $1 }
        case .retain:
            .value(
                usual: "7d", example: "12h", valueName: "time",
                "How long the store keeps the job after its end, as 7d, 12h or 90m."
            ) { $0.retain = $1 }
        case .keepSegments: .flag("Keep the segments in the store after the job is done.") { $0.keepSegments = true }
        }
    }
}

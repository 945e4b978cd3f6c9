internal import Foundation
package import ReelCore
package import ReelWords

/// What a user asks of an output and of how it is made, by a command line or in a request to a server. Its options and
/// their forms are in `OutputRequest.Field.option`; `check` has the rules that they keep together.
package struct OutputRequest: Hashable, Sendable {
    /// The container of an output that has its default name; nil for that of the source.
    package var container: Container?
    /// Nil for an output like its source.
    package var purpose: Purpose?
    /// Encoder or codec, or "copy"; nil for stream copy if it is possible, else the source's codec.
    package var videoCodec: String?
    package var crf: Quality?
    package var preset: String?
    package var profile: String?
    package var bitrate: BitRate?
    package var maxSize: ByteSize?
    package var lossless = false
    package var audio = AudioMode.reverse
    package var audioCodec: String?
    package var audioBitrate: AudioBitRate?
    package var tracks: TrackSelection?
    package var from: Position?
    package var to: Position?
    package var duration: Position?
    /// Nil for `.reverse`, or `.forward` if videos are stitched.
    package var play: Play?
    /// Rewinds that are played forward, backward and forward again; the rest is played forward.
    package var rewind: Rewinds?
    package var times = 1
    package var speed: Speed?
    /// Nil for `.once`.
    package var turn: Turn?
    package var crossfade: ClockTime?
    /// Show all videos one after the other in one output.
    package var stitch = false
    /// Nil for `.none`, or `.shared` if videos are stitched.
    package var trim: Trim?
    /// Path of the file that is heard instead of the sources' sound.
    package var soundtrack: String?
    package var soundtrackFrom: ClockTime?
    /// Leave out what a timeline has and an edit cannot show.
    package var lenient = false
    package var size: PictureSize?
    /// Nil for `Fit.standard`.
    package var fit: Fit?
    package var pixelFormat: String?
    package var sampleRate: Int?
    package var channelLayout: String?
    package var fps: FrameRate?
    package var loop: Plays?
    package var dither: Dither?
    package var colors: Int?
    package var timestamps = TimestampMode.mirror
    package var passFrames: Int?
    package var memory: ByteSize?
    package var threads: ThreadCount?
    package var verify = VerifyMode.packets
    package var onDamage = DamageMode.repeat
    /// How long the store keeps the job after its end.
    package var retain = TimeSpan.week
    package var keepSegments = false

    package init() {}

    /// An option of a request. Its raw value is its name in JSON; a command line writes it in its own way.
    package enum Field: String, CaseIterable, Sendable {
        case purpose = "for"
        case container, videoCodec, crf, preset, profile, bitrate, maxSize, lossless, audio, audioCodec, audioBitrate,
            tracks
        case from, to, duration, play, rewind, times, speed, turn, crossfade, stitch, trim, soundtrack, soundtrackFrom,
            lenient
        case size, fit, pixelFormat, sampleRate, channelLayout, fps, loop, dither, colors, timestamps, passFrames,
            memory
        case threads, verify, onDamage, retain, keepSegments
    }

    /// Throws the first rule that the options break: a value out of range, or options that exclude or need each other.
    package func check() throws(RequestFault) {
        try requireRange(.threads, threads?.number)
        try requireRange(.passFrames, passFrames)
        try require(crf == nil || bitrate == nil, .crf, .excludes(.bitrate))
        try require(maxSize == nil || crf == nil, .maxSize, .excludes(.crf))
        try require(maxSize == nil || bitrate == nil, .maxSize, .excludes(.bitrate))
        if let from, let to { try require(to != from && to.precedes(from) != true, .to, .notLater(than: .from)) }
        try require(to == nil || duration == nil, .to, .excludes(.duration))
        try require(duration?.isZero != true, .duration, .notAboveZero)
        let names: [(Field, String?)] = [
            (.videoCodec, videoCodec), (.audioCodec, audioCodec), (.preset, preset), (.pixelFormat, pixelFormat),
            (.profile, profile),
        ]
        for case (let field, let name?) in names { try require(OutputRequest.isName(name), field, .notAName(name)) }
        try requireRange(.sampleRate, sampleRate)
        try requireRange(.colors, colors)
        try requireRange(.loop, loop?.number)
        try checkEdit()
        try checkLossless()
        try checkPurpose()
    }

    private func checkPurpose() throws(RequestFault) {
        guard let purpose else { return }
        let fixed: [(Field, Bool)] = [
            (.videoCodec, videoCodec != nil), (.profile, profile != nil), (.pixelFormat, pixelFormat != nil),
            (.audioCodec, audioCodec != nil), (.lossless, lossless),
            (.container, container != nil && container != Purpose.container),
        ]
        // Of two limits of the size, one would be without effect.
        let sized: [(Field, Bool)] = [(.crf, crf != nil), (.bitrate, bitrate != nil), (.maxSize, maxSize != nil)]
        for (field, isGiven) in fixed + (purpose.mostBytes == nil ? [] : sized) {
            try require(!isGiven, .purpose, .excludes(field, value: nil))
        }
    }

    private func checkEdit() throws(RequestFault) {
        try requireRange(.times, times)
        for (field, isGiven) in [
            (Field.play, play != nil), (.times, times > 1), (.stitch, stitch), (.duration, duration != nil),
        ] {
            try require(rewind == nil || !isGiven, .rewind, .excludes(field))
        }
        if let start = rewind?.ranges.first?.start, let end = rewind?.ranges.last?.end {
            try require(from.map { start.precedes($0) != true } ?? true, .rewind, .notLater(than: .from))
            try require(to.map { $0.precedes(end) != true } ?? true, .to, .notLater(than: .rewind))
        }
        try require(turn == nil || play == .pingPong, .turn, .needs(.play, value: Play.pingPong.rawValue))
        try require(crossfade == nil || stitch || times > 1 && play != .pingPong, .crossfade, .needsRepeats)
        try require(soundtrackFrom == nil || soundtrack != nil, .soundtrackFrom, .needs(.soundtrack))
        try require(soundtrack == nil || audio == .reverse, .audio, .excludes(.soundtrack, value: audio.rawValue))
        guard isEdit else { return }
        try require(audio != .keep, .audio, .needsReversal(value: audio.rawValue))
        try require(timestamps != .source, .timestamps, .needsReversal(value: timestamps.rawValue))
    }

    private func checkLossless() throws(RequestFault) {
        let lossy: [(Field, Bool)] = [
            (.crf, crf != nil), (.bitrate, bitrate != nil), (.maxSize, maxSize != nil), (.preset, preset != nil),
            (.profile, profile != nil),
            (.audioBitrate, audioBitrate != nil), (.videoCodec, videoCodec != nil), (.audioCodec, audioCodec != nil),
            (.pixelFormat, pixelFormat != nil), (.sampleRate, sampleRate != nil),
            (.channelLayout, channelLayout != nil),
        ]
        for (field, isGiven) in lossy { try require(!(lossless && isGiven), .lossless, .losslessExcludes(field)) }
    }

    /// Throws if an option that shapes clips is given: the edit itself shapes them.
    func refuseClipOptions() throws(RequestFault) {
        let given: [(Field, Bool)] = [
            (.play, play != nil), (.rewind, rewind != nil), (.times, times != 1), (.speed, speed != nil),
            (.turn, turn != nil),
            (.crossfade, crossfade != nil), (.trim, trim != nil), (.from, from != nil), (.to, to != nil),
            (.duration, duration != nil), (.stitch, stitch),
        ]
        for (field, isGiven) in given { try require(!isGiven, field, .saidByEdit()) }
        try require(audio != .keep, .audio, .saidByEdit(value: audio.rawValue))
        try require(timestamps != .source, .timestamps, .saidByEdit(value: timestamps.rawValue))
    }

    /// Throws if a number is outside the range in the table of options.
    private func requireRange(_ field: Field, _ number: Int?) throws(RequestFault) {
        guard let number, case .whole(let allowed, let word) = field.option.form else { return }
        try require(allowed.contains(number), field, .outside(allowed, or: word))
    }

    private func require(_ isKept: Bool, _ field: Field, _ reason: RequestFault.Reason) throws(RequestFault) {
        guard isKept else { throw RequestFault(field, reason) }
    }

    private static func isName(_ text: String) -> Bool {
        let allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
        return !text.isEmpty && text.allSatisfy(allowed.contains)
    }

    /// Whether the options ask for more than one range that is reversed once.
    var isEdit: Bool {
        stitch || (play ?? .reverse) != .reverse || rewind != nil || times > 1 || speed != nil || trim != nil
            || soundtrack != nil
    }

    var encoders: [String] { [videoCodec, audioCodec].compactMap { $0 } }

    /// The container of an output that has its default name, if an option says it.
    var usualContainer: Container? { container ?? purpose.map { _ in Purpose.container } }

    /// Nil if nothing is asked of moving pictures that loop.
    private var loopOptions: LoopOptions? {
        let options = LoopOptions(plays: loop?.number, dither: dither, colours: colors)
        return options == LoopOptions() ? nil : options
    }

    /// The output of an edit; nil reverses the range of the options.
    func spec(_ edit: Edit?, in container: Container) -> JobSpec {
        var filled = self
        purpose?.fill(&filled)
        var spec = filled.ownSpec(edit, in: container)
        if purpose != nil, size == nil { spec.mostSide = Purpose.mostSide }
        spec.fit = fit
        return spec
    }

    /// The same, of the options alone.
    private func ownSpec(_ edit: Edit?, in container: Container) -> JobSpec {
        JobSpec(
            container: container, videoCodec: videoCodec, crf: crf?.value, preset: preset, profile: profile,
            bitrate: bitrate?.rate, mostBytes: maxSize?.bytes, lossless: lossless, audio: audio, audioCodec: audioCodec,
            audioBitrate: audioBitrate?.bits, tracks: tracks, from: edit == nil ? from : nil,
            to: edit == nil ? to : nil, duration: edit == nil ? duration : nil, edit: edit, size: size,
            mostFrames: fps?.ratio, pixelFormat: pixelFormat, sampleRate: sampleRate, channelLayout: channelLayout,
            loop: loopOptions, timestamps: timestamps, passFrames: passFrames, threads: threads?.number,
            memory: memory?.bytes, verify: verify, onDamage: onDamage)
    }

    /// Reads an object of options by their names; an option that is null or missing has its usual value.
    ///
    /// Throws a `FlawedPlace` if it is no object, if no option has one of the names, or if a value is a list or an
    /// object; throws a `RequestFault` for a value that its option does not take, and for what `check` refuses.
    package init(_ place: JSONPlace, knows fields: [Field]) throws {
        let values = try place.object(knows: fields.map(\.rawValue).sorted()).places
        for field in fields {
            guard let value = values[field.rawValue] else { continue }
            try take(value, as: field)
        }
        try check()
    }

    private mutating func take(_ value: JSONPlace, as field: Field) throws {
        let option = field.option
        let text: String
        switch (value.value, option.form) {
        case (.null, _), (.bool(false), .flag): return
        case (.bool(true), .flag): text = ""
        case (.bool(let flag), _): throw RequestFault(field, .malformed("\(flag)"))
        case (.string(let found), .flag): throw RequestFault(field, .malformed(found))
        case (.string(let found), _): text = found
        case (.number(let number), let form):
            text = "\(number)"
            guard form.takesNumbers else { throw RequestFault(field, .malformed(text)) }
        case (.object, _), (.array, _): throw value.malformed(.text)
        }
        guard option.read(&self, text) else { throw RequestFault(field, .malformed(text)) }
    }
}

extension PictureSize: ExplainedArgument {
    package static let forms = "width and height in pixels (640x360)"
}

/// How often moving pictures are played: a number, or `forever`.
package struct Plays: ExplainedArgument, Hashable {
    static let word = "forever"
    package static let forms = "a number (3), or \(word)"
    /// Nil for ever.
    package let number: Int?

    /// Reads any whole number, whether it is within range or not; nil for other texts.
    package init?(_ text: String) {
        guard text == Plays.word || Int(text) != nil else { return nil }
        number = Int(text)
    }
}

/// Rewinds of a video, the first one first.
package struct Rewinds: ExplainedArgument, Hashable {
    package static let forms =
        "moments of two frames or more in their order, each from its start to its end (3-5, or 3-5,1:10-1:12.5, or 90f-120f)"
    package static let most = 1000
    package let ranges: [Moment]

    package struct Moment: Hashable, Sendable {
        package let start: Position
        package let end: Position
    }

    /// Nil for other texts, and if it is plain without the video that a moment ends before it starts, or starts before the
    /// one before it ends.
    package init?(_ text: String) {
        var ranges: [Moment] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Position(String($0)) }
            guard ends.count == 2, let start = ends[0], let end = ends[1], start != end, end.precedes(start) != true,
                ranges.last.map({ start.precedes($0.end) != true }) ?? true
            else { return nil }
            // At its turns, a moment of one frame would be shown twice.
            if case .frames(let first) = start, case .frames(let next) = end, next < first + 2 { return nil }
            ranges.append(Moment(start: start, end: end))
        }
        guard ranges.count <= Rewinds.most else { return nil }
        self.ranges = ranges
    }
}

/// Frames a second, as a decimal number or a ratio.
package struct FrameRate: ExplainedArgument, Hashable {
    package static let forms =
        "frames a second, up to \(JobSpec.ratesAllowed.upperBound.numerator) (25, 12.5, 30000/1001)"
    /// Within `JobSpec.ratesAllowed`.
    package let ratio: Rational

    /// Nil for other texts, and for rates that are not allowed.
    package init?(_ text: String) {
        guard let ratio = Rational(number: text), JobSpec.ratesAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A speed, as a decimal number or a ratio.
package struct Speed: ExplainedArgument, Hashable {
    package static let forms = "a number or a ratio from 1/16 to 16 (2, 0.5, 1/3)"
    /// Seconds of the source in a second of the output; within `EditClip.speedsAllowed`.
    package let ratio: Rational

    /// Nil for other texts, and for speeds that are not allowed.
    package init?(_ text: String) {
        guard let ratio = Rational(number: text), EditClip.speedsAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A number of threads, or `auto`.
package struct ThreadCount: ExplainedArgument, Hashable {
    static let word = "auto"
    package static let forms = "a number (4), or \(word)"
    /// Nil leaves it to the planner.
    package let number: Int?

    /// Reads any whole number, whether it is within range or not; nil for other texts.
    package init?(_ text: String) {
        guard text == ThreadCount.word || Int(text) != nil else { return nil }
        number = Int(text)
    }
}

extension Rational {
    fileprivate init?(number: String) {
        guard !number.contains(":"), let ratio = ClockTime(number)?.seconds ?? Rational(number) else { return nil }
        self = ratio
    }
}

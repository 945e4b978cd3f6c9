package import ReelCore
package import ReelWords

/// What a user asks of an output and of how it is made, whichever way it was asked: a command line, or a request to a server.
/// Its options and their forms are in `OutputRequest.Field.option`; `check` has the rules that they keep together.
package struct OutputRequest: Hashable, Sendable {
    /// The container of an output that has its default name; nil for that of the source.
    package var container: Container?
    /// Encoder or codec, or "copy"; nil for stream copy if it is possible, else the source's codec.
    package var videoCodec: String?
    package var crf: Quality?
    package var preset: String?
    package var profile: String?
    package var bitrate: BitRate?
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
    /// Whether segments stay in the store after the job is done.
    package var keepSegments = false

    /// A request without any option: it reverses a video.
    package init() {}

    /// An option of a request. Its raw value is its name in JSON; a command line writes it in its own way.
    package enum Field: String, CaseIterable, Sendable {
        case container, videoCodec, crf, preset, profile, bitrate, lossless, audio, audioCodec, audioBitrate, tracks
        case from, to, duration, play, times, speed, turn, crossfade, stitch, trim, soundtrack, soundtrackFrom, lenient
        case size, pixelFormat, sampleRate, channelLayout, fps, loop, dither, colors, timestamps, passFrames, memory
        case threads, verify, onDamage, retain, keepSegments
    }

    /// Throws the first rule that the options break: a value out of range, or options that exclude or need each other.
    package func check() throws(RequestFault) {
        try requireRange(.threads, threads?.number)
        try requireRange(.passFrames, passFrames)
        try require(crf == nil || bitrate == nil, .crf, .excludes(.bitrate))
        if let from, let to { try require(to != from && to.precedes(from) != true, .to, .notLater(than: .from)) }
        try require(to == nil || duration == nil, .to, .excludes(.duration))
        try require(duration?.isZero != true, .duration, .notAboveZero)
        let names: [(Field, String?)] = [
            (.videoCodec, videoCodec), (.audioCodec, audioCodec), (.preset, preset), (.pixelFormat, pixelFormat),
            (.profile, profile),
        ]
        for case (let field, let name?) in names {
            try require(OutputRequest.isName(name), field, .notAName(name))
        }
        try requireRange(.sampleRate, sampleRate)
        try requireRange(.colors, colors)
        try requireRange(.loop, loop?.number)
        try checkEdit()
        try checkLossless()
    }

    private func checkEdit() throws(RequestFault) {
        try requireRange(.times, times)
        try require(turn == nil || play == .pingPong, .turn, .needs(.play, value: Play.pingPong.rawValue))
        try require(crossfade == nil || stitch || times > 1 && play != .pingPong, .crossfade, .needsRepeats)
        try require(soundtrackFrom == nil || soundtrack != nil, .soundtrackFrom, .needs(.soundtrack))
        try require(
            soundtrack == nil || audio == .reverse, .audio, .excludes(.soundtrack, value: audio.rawValue))
        guard isEdit else { return }
        try require(audio != .keep, .audio, .needsReversal(value: audio.rawValue))
        try require(timestamps != .source, .timestamps, .needsReversal(value: timestamps.rawValue))
    }

    private func checkLossless() throws(RequestFault) {
        let lossy: [(Field, Bool)] = [
            (.crf, crf != nil), (.bitrate, bitrate != nil), (.preset, preset != nil), (.profile, profile != nil),
            (.audioBitrate, audioBitrate != nil), (.videoCodec, videoCodec != nil), (.audioCodec, audioCodec != nil),
            (.pixelFormat, pixelFormat != nil), (.sampleRate, sampleRate != nil),
            (.channelLayout, channelLayout != nil),
        ]
        for (field, isGiven) in lossy { try require(!(lossless && isGiven), .lossless, .losslessExcludes(field)) }
    }

    /// Throws if an option that shapes clips is given: an edit says all of that.
    func refuseClipOptions() throws(RequestFault) {
        let given: [(Field, Bool)] = [
            (.play, play != nil), (.times, times != 1), (.speed, speed != nil), (.turn, turn != nil),
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
        stitch || (play ?? .reverse) != .reverse || times > 1 || speed != nil || trim != nil || soundtrack != nil
    }

    /// The encoders that are asked for, by any of their names.
    var encoders: [String] { [videoCodec, audioCodec].compactMap { $0 } }

    /// Nil if nothing is asked of moving pictures that loop.
    private var loopOptions: LoopOptions? {
        let options = LoopOptions(plays: loop?.number, dither: dither, colours: colors)
        return options == LoopOptions() ? nil : options
    }

    /// The output of an edit; nil reverses the range of the options.
    func spec(_ edit: Edit?, in container: Container) -> JobSpec {
        JobSpec(
            container: container, videoCodec: videoCodec, crf: crf?.value, preset: preset, profile: profile,
            bitrate: bitrate?.rate, lossless: lossless, audio: audio, audioCodec: audioCodec,
            audioBitrate: audioBitrate?.bits, tracks: tracks, from: edit == nil ? from : nil,
            to: edit == nil ? to : nil, duration: edit == nil ? duration : nil, edit: edit, size: size,
            mostFrames: fps?.ratio, pixelFormat: pixelFormat, sampleRate: sampleRate, channelLayout: channelLayout,
            loop: loopOptions, timestamps: timestamps, passFrames: passFrames, threads: threads?.number,
            memory: memory?.bytes, verify: verify, onDamage: onDamage)
    }
}

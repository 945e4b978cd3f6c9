public import ReelCore

extension Diagnostic {
    /// The message of the diagnostic: one line, without its full stop.
    public var words: String {
        switch self {
        // MARK: Found in the source
        case .fileDamaged(let offset): "the file is damaged near byte \(offset)"
        case .sourceDecoded(let why, let codec, let format):
            "all of the video was decoded to find its frames: "
                + why.words(codec: codec, format: String(format.prefix { $0 != "," }))
        case .packetsUndecoded(let packets, let first, let last):
            "\(packets == 1 ? "a packet" : "\(packets) packets") of the video \(packets == 1 ? "does" : "do") not decode"
                + "\(Wording.places(packets, first, last)): the frame before stays"
        case .framesConcealed(let frames):
            "\(Wording.count(frames.count, "frame")) decoded with errors, the decoder concealed them: \(frames.words)"
        case .packetsSilent(let track, let packets, let first, let last):
            "audio \(track): \(packets == 1 ? "a packet does" : "\(packets) packets do") not decode"
                + "\(Wording.places(packets, first, last)): silent there"
        case .holesSilent(let track, let holes, let from, let to):
            "audio \(track): \(holes == 1 ? "a hole stays silent" : "\(holes) holes stay silent, the first"), "
                + "from \(Wording.seconds(from)) to \(Wording.seconds(to))"

        // MARK: Repaired
        case .clockRestarts(let restarts):
            "the source's clock restarts \(Wording.count(restarts, "time")): the video goes on without a gap"
        case .noTimestamps: "the video has no timestamps: its frames are shown in order, at the rate it states"
        case .timesDerived(let missing, let frames):
            "\(missing) of \(frames) frames have no presentation time: it is derived from their order"
        case .framesMoved(let frames):
            "\(Wording.count(frames, "frame")) had the presentation time of the frame before or an earlier one: moved behind it"
        case .holesClosed(let track, let holes):
            "audio \(track): its timestamps have \(Wording.count(holes, "hole")) too long to be real: closed"

        // MARK: Changed
        case .pixelFormatChanged(let encoder, let from, let to, let lost, let container):
            "\(encoder) cannot hold \(from)\(container.map { " in a .\($0.rawValue) file" } ?? ""): "
                + "pictures become \(to), with " + lost.map(\.words).joined(separator: ", ")
        case .pixelFormatForPlayers(let from, let to, let whole, let hasAlpha):
            "\(from) becomes \(to), which all players show: YCbCr with fewer chroma samples"
                + "\(hasAlpha ? ", without transparency" : ""); \(whole) keeps all of them, but few players show it"
        case .sourceConverted(let source, let from, let to, let turned):
            "\(source): its pictures are fitted into those of the first clip, "
                + "\(from.words) into \(to.words)\(turned ? ", and turned upright" : "")"
        case .sourceSubtitlesLeftOut(let source, let kept):
            "\(source): its subtitles are left out, but for the first \(kept == 1 ? "track" : "\(kept) tracks"): "
                + "the first source with subtitles has no more"
        case .sourceColoursKept(let source, let from, let to):
            "\(source): its colours are shown as if they were those of the first clip: "
                + "\(from.joined(separator: ", ")) as \(to.joined(separator: ", "))"
        case .sourceSoundConverted(let source, let track, let from, let to):
            "\(source): audio \(track) is converted from \(from.words(beside: to)) to \(to.words(beside: from))"
        case .framesScaled(let width, let height):
            "some frames are of another size: scaled to the first one's, \(width)x\(height)"
        case .framesConverted(let from, let to):
            "some frames have another pixel format than the first, \(from): they become \(to)"
        case .interlacingInContainer(let first, let encoder):
            "the video is interlaced, \(first.rawValue) field first: only the container says so, since \(encoder) cannot"
        case .interlacingLost(let first, let encoder):
            "the output does not say that it is interlaced, \(first.rawValue) field first: "
                + "neither \(encoder) nor the container can"
        case .interlacingUniform(let first, let encoder):
            "interlaced and progressive frames take turns: \(encoder) flags all as \(first.rawValue) field first"
        case .highDynamicRangeUnmapped:
            "the source has high dynamic range, and its colours are not mapped: the pictures may look pale; map it to "
                + "standard range first"
        case .fieldOrdersVary:
            "clips show their fields in different orders: the file states no order, each frame its own"
        case .rotationLost(let container):
            "the rotation is lost: \(container.file) cannot hold it; write "
                + Container.names(Container.allCases.filter(\.traits.holdsRotation))
        case .lightLost(let encoder, let container):
            "the HDR10 metadata is lost: \(Wording.neither(encoder, container)) hold it"
        case .colourLost(let encoder, let container):
            "the description of the colours is lost: \(Wording.neither(encoder, container)) hold it"
        case .rangeLimited(let encoder):
            "full range becomes limited range: decoders take what \(encoder) makes for that"
        case .encoderUntried(let encoder):
            "reel has not been tested with \(encoder): the output is compared with the plan, and the job fails if it differs"
        case .videoCodecChanged(let container, let from, let to):
            container.shows(codec: from)
                ? "\(from) becomes \(to): reel writes no \(from) into \(container.file)"
                : "\(from) becomes \(to): few players show \(from) in \(container.file); ask for \(from) or copy to keep it"
        case .audioCodecChanged(let track, let from, let to): "audio \(track): \(from) becomes \(to)"
        case .sampleRateChanged(let track, let encoder, let from, let to):
            "audio \(track): \(from) Hz becomes \(to) Hz, for \(encoder)"
        case .channelsChanged(let track, let encoder, let from, let to):
            "audio \(track): \(encoder) does not support \(from): it becomes \(to)"
        case .sampleDepthReduced(let track, let codec, let bits):
            "audio \(track): \(codec) holds \(bits) bits of a sample: finer steps are lost"
        case .soundUnified(let track, let changes, let time, let from, let to, let made):
            "audio \(track): changes from \(from.words(beside: to)) to \(to.words(beside: from)) "
                + "at \(Wording.seconds(time))\(changes > 1 ? ", and \(changes - 1) times more" : ""): "
                + "all of it becomes \(made.words(beside: to))"
        case .soundTrimmed(let track, let length):
            "audio \(track): outlasts the video by \(Wording.exact(length)): that part is cut off"
        case .subtitlesConverted(let track, let from, let to): "subtitles \(track): \(from) becomes \(to)"
        case .languagesLost(let container, let languages):
            "a language is lost: \(container.file) cannot name \(languages.joined(separator: ", ")); write .mkv"

        // MARK: Left out
        case .firstFramesLeftOut(let frames):
            "\(Wording.count(frames, "frame")) at the start cannot be decoded and are left out: "
                + "what they refer to is missing"
        case .streamLeftOut(let stream, let kind, let codec, let refusal):
            // FFmpeg's word for the kind is singular.
            "stream \(stream) (\(kind == "subtitle" ? "subtitles" : kind), \(codec)) is left out"
                + (refusal.words.map { ": \($0)" } ?? "")
        case .dataLeftOut(let streams):
            "data is left out: \(streams.map { "stream \($0.stream) (\($0.kind))" }.joined(separator: ", "))"
        case .pictureExtraLeftOut(let extra): extra.words
        case .dolbyVisionLeftOut(let profile, let wrongColours):
            "Dolby Vision\(profile.map { " profile \($0)" } ?? "") is left out"
                + (wrongColours
                    ? ", and its base layer alone shows wrong colours: the output has those"
                    : ": the output shows its base layer")
        case .soundNotHeard(let track):
            "audio \(track): nothing is heard while the video lasts: the track is left out"
        case .cuesWithoutTime(let stream, let cues):
            "stream \(stream): \(cues) subtitles have no time and are left out"
        case .cuesUnwritable(let stream, let cues, let codec):
            "stream \(stream): \(cues) subtitles cannot be read or written as \(codec), and are left out"
        case .subtitlesLeftOut(let container):
            "subtitles are left out: \(container.file) cannot hold them; write .mkv or .mp4"
        case .soundLeftOut(let container): "sound is left out: \(container.file) cannot hold any"
        case .chaptersLeftOut(let container):
            "chapters are left out: \(container.file) cannot hold them; write .mkv or .mp4"
        case .attachmentsLeftOut(let container, let names):
            "attached files are left out: \(container.file) cannot hold \(names.joined(separator: ", ")); write .mkv"
        case .tagsLeftOut(let container, let names):
            "tags are left out: \(container.file) cannot hold \(Wording.some(names))"
        case .timecodeLeftOut(let container):
            "the timecode is left out: \(container.file) cannot hold one beside a cover; write .mkv"
        case .timelinePartLeftOut(let place, let name, let part):
            "\(place): \(part.words(name)): it is left out"

        // MARK: Board
        case .redisTooOld(let address, let version): "Redis at \(address) is \(version): reel needs 7.0 or later"
        case .redisWithoutLog(let address):
            "Redis at \(address) keeps no append-only file: a restart loses jobs; set appendonly yes"
        case .redisEvicts(let address):
            "Redis at \(address) evicts keys, so jobs may vanish: set maxmemory-policy noeviction"
        case .workerDiskFull(let folders): "claims nothing: the disk of \(folders.joined(separator: " or ")) is full"
        case .workerSlotsOut(let slots, let jobs):
            "\(Wording.count(slots, "slot")) out of work: engines crashed there in \(jobs) jobs in a row; each comes back "
                + "when its engine has reversed the worker's test clip"
        case .workerStoreUnusable(let last): "claims nothing until it can write in the store: \(last.words)"
        case .workerClockDiffers(let seconds):
            "its clock is \(Wording.count(Int(clamping: seconds.magnitude), "second")) \(seconds > 0 ? "ahead of" : "behind") Redis's"
        }
    }
}

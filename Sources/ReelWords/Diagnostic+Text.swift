package import ReelCore

extension Diagnostic {
    /// The message of the diagnostic: one line, without its full stop.
    package var words: String { text.words }

    /// The texts of the code.
    package var text: CodeText {
        switch self {
        // MARK: Found in the source
        case .fileDamaged(let offset):
            CodeText(
                "the file is damaged near byte \(offset)", "Reading the file failed near the byte that is named.",
                "Check the output there; get an undamaged copy.")
        case .sourceDecoded(let why, let codec, let format):
            CodeText(
                "all of the video was decoded to find its frames: "
                    + why.words(codec: codec, format: String(format.prefix { $0 != "," })),
                "All of the video was decoded to find its frames, which takes longer than reading its tables.",
                "Nothing.")
        case .packetsUndecoded(let packets, let first, let last):
            CodeText(
                "\(packets == 1 ? "a packet" : "\(packets) packets") of the video \(packets == 1 ? "does" : "do") not "
                    + "decode\(Wording.places(packets, first, last)): the frame before stays",
                "Packets of the video do not decode: the frame before each is shown longer.",
                "Check these places; get an undamaged copy.")
        case .framesConcealed(let frames):
            CodeText(
                "\(Wording.count(frames.count, "frame")) decoded with errors, the decoder concealed them: "
                    + "\(frames.words)",
                "A decoder concealed parts of frames that it could not decode.",
                "Check these frames; get an undamaged copy.")
        case .packetsSilent(let track, let packets, let first, let last):
            CodeText(
                "audio \(track): \(packets == 1 ? "a packet does" : "\(packets) packets do") not decode"
                    + "\(Wording.places(packets, first, last)): silent there",
                "Packets of sound do not decode and are replaced by silence.",
                "Check these places; get an undamaged copy.")
        case .holesSilent(let track, let holes, let from, let to):
            CodeText(
                "audio \(track): \(holes == 1 ? "a hole stays silent" : "\(holes) holes stay silent, the first"), "
                    + "from \(Wording.seconds(from)) to \(Wording.seconds(to))",
                "A track of sound has holes, which stay silent.", "Nothing.")

        // MARK: Repaired
        case .clockRestarts(let restarts):
            CodeText(
                "the source's clock restarts \(Wording.count(restarts, "time")): the video goes on without a gap",
                "The clock of the source restarts: the video goes on without a gap.", "Nothing.")
        case .noTimestamps:
            CodeText(
                "the video has no timestamps: its frames are shown in order, at the rate it states",
                "The video has no timestamps: its stated rate is used.", "Check the speed of the output.")
        case .timesDerived(let missing, let frames):
            CodeText(
                "\(missing) of \(frames) frames have no presentation time: it is derived from their order",
                "Some frames have no presentation time: it is derived from their order.", "Nothing.")
        case .framesMoved(let frames):
            CodeText(
                "\(Wording.count(frames, "frame")) had the presentation time of the frame before or an earlier "
                    + "one: moved behind it",
                "Some frames had the time of the frame before, or an earlier one: they are moved behind it.",
                "Nothing.")
        case .holesClosed(let track, let holes):
            CodeText(
                "audio \(track): its timestamps have \(Wording.count(holes, "hole")) too long to be real: closed",
                "A track of sound has holes too long to be real: they are closed.",
                "Check that sound and video are in sync.")

        // MARK: Changed
        case .pixelFormatChanged(let encoder, let from, let to, let lost, let container):
            CodeText(
                "\(encoder) cannot hold \(from)\(container.map { " in a .\($0.rawValue) file" } ?? ""): "
                    + "pictures become \(to), with " + lost.map(\.words).joined(separator: ", "),
                "The encoder, or the container, cannot hold the pixel format: pictures are converted with loss.",
                "Choose another encoder to keep it; for transparency in VP8 or VP9, webm or mkv.")
        case .pixelFormatForPlayers(let from, let to, let whole, let hasAlpha):
            CodeText(
                "\(from) becomes \(to), which all players show: YCbCr with fewer chroma samples"
                    + "\(hasAlpha ? ", without transparency" : ""); \(whole) keeps all of them, but few players "
                    + "show it",
                "Pictures in RGB, or of MJPEG, in H.264 of an MP4 or QuickTime file, get the pixel format that all "
                    + "players show.",
                "Ask for the pixel format yuv444p if small coloured text must stay sharp.")
        case .sourceConverted(let source, let from, let to, let turned):
            CodeText(
                "\(source): its pictures are fitted into those of the first clip, "
                    + "\(from.words) into \(to.words)\(turned ? ", and turned upright" : "")",
                "The pictures of a source are fitted into those of the first clip.",
                "Put a clip of the wanted format first.")
        case .sourceColoursKept(let source, let from, let to):
            CodeText(
                "\(source): its colours are shown as if they were those of the first clip: "
                    + "\(from.joined(separator: ", ")) as \(to.joined(separator: ", "))",
                "The primaries or the transfer of a source's colours differ from the first clip's, and are not "
                    + "converted.",
                "Convert the source first, if the difference matters.")
        case .sourceSoundConverted(let source, let track, let from, let to):
            CodeText(
                "\(source): audio \(track) is converted from \(from.words(beside: to)) to \(to.words(beside: from))",
                "The sound of a source is converted to that of the first clip that has sound.",
                "Put a clip of the wanted format first.")
        case .sourceSubtitlesLeftOut(let source, let kept):
            CodeText(
                "\(source): its subtitles are left out, but for the first \(kept == 1 ? "track" : "\(kept) tracks"): "
                    + "the first source with subtitles has no more",
                "Subtitles of a source are left out: the first source with subtitles has fewer tracks.",
                "Put a clip of the source with the wanted subtitles first.")
        case .frameRatesUnified(let from, let to):
            CodeText(
                "sources of \(Wording.list(from.map(\.shortWords))) frames a second: the output has \(to.shortWords) and "
                    + Wording.list(
                        (from.contains { $0 < to } ? ["shows some pictures of the slower ones again"] : [])
                            + (from.contains { $0 > to } ? ["leaves out some of the faster ones"] : [])),
                "Sources have different frame rates, and the output has one, as editing programs need it.",
                "Choose another rate; without loss, and in webm, each picture is shown once, as long as in its source.")
        case .framesScaled(let width, let height):
            CodeText(
                "some frames are of another size: scaled to the first one's, \(width)x\(height)",
                "Frames of another size are scaled to that of the first.", "Nothing.")
        case .framesConverted(let from, let to):
            CodeText(
                "some frames have another pixel format than the first, \(from): they become \(to)",
                "Frames of another pixel format get that of the first.",
                "Reverse the parts separately if their depth or colours matter.")
        case .interlacingInContainer(let first, let encoder):
            CodeText(
                "the video is interlaced, \(first.rawValue) field first: only the container says so, since "
                    + "\(encoder) cannot",
                "Only the container says that the video is interlaced.", "Choose another encoder if players need more.")
        case .interlacingLost(let first, let encoder):
            CodeText(
                "the output does not say that it is interlaced, \(first.rawValue) field first: "
                    + "neither \(encoder) nor the container can",
                "The output does not say that the video is interlaced.", "Choose another encoder or container.")
        case .interlacingUniform(let first, let encoder):
            CodeText(
                "interlaced and progressive frames take turns: \(encoder) flags all as \(first.rawValue) field first",
                "All frames are flagged as interlaced, though some are not.", "Choose FFV1 to keep the flags.")
        case .fieldOrdersVary:
            CodeText(
                "clips show their fields in different orders: the file states no order, each frame its own",
                "Clips show their fields in different orders, so the file as a whole states none.",
                "Deinterlace first, for players that look only at the file's order.")
        case .rotationLost(let container):
            CodeText(
                "the rotation is lost: \(container.file) cannot hold it; write "
                    + Container.names(Container.allCases.filter(\.traits.holdsRotation)),
                "The rotation of the video is lost.", "Choose mp4 or mov.")
        case .highDynamicRangeUnmapped:
            CodeText(
                "the source has high dynamic range, and its colours are not mapped: it is transparent, or this FFmpeg lacks the "
                    + "filters zscale and tonemap; the pictures may look pale: map it to standard range first",
                "Pictures of high dynamic range are written as if they had standard range.",
                "Install an FFmpeg with zimg, or map the source to standard range first.")
        case .highDynamicRangeMapped:
            CodeText(
                "a source has high dynamic range, and the output has not: its pictures are mapped to the standard range",
                "Pictures of high dynamic range are mapped to the standard range.",
                "Nothing; a video of 10 bits keeps the range if all its sources have it: HEVC, or H.264 of profile high10."
            )
        case .lightLost(let encoder, let container):
            CodeText(
                "the HDR10 metadata is lost: \(Wording.neither(encoder, container)) hold it",
                "The HDR10 metadata is lost.", "Choose another encoder or container.")
        case .colourLost(let encoder, let container):
            CodeText(
                "the description of the colours is lost: \(Wording.neither(encoder, container)) hold it",
                "The description of the colour is lost.", "Choose another encoder or container.")
        case .rangeLimited(let encoder):
            CodeText(
                "full range becomes limited range: decoders take what \(encoder) makes for that",
                "Full range becomes limited range, the only one that the codec's decoders know.",
                "Nothing, or choose another encoder to keep every value.")
        case .encoderUntried(let encoder):
            CodeText(
                "reel has not been tested with \(encoder): the output is compared with the plan, and the job fails "
                    + "if it differs",
                "Reel has not been tested with the encoder that was asked for.",
                "If the job fails, choose an encoder that the help lists.")
        case .videoCodecChanged(let container, let from, let to):
            CodeText(
                container.shows(codec: from)
                    ? "\(from) becomes \(to): reel writes no \(from) into \(container.file)"
                    : "\(from) becomes \(to): few players show \(from) in \(container.file); ask for \(from) or "
                        + "copy to keep it",
                "Video gets another codec, since the container does not hold the source's, or players do not show "
                    + "it there.",
                "Choose a codec, or another container.")
        case .audioCodecChanged(let track, let from, let to):
            CodeText(
                "audio \(track): \(from) becomes \(to)",
                "Sound gets another codec.", "Choose a codec, or another container.")
        case .sampleRateChanged(let track, let encoder, let from, let to):
            CodeText(
                "audio \(track): \(from) Hz becomes \(to) Hz, for \(encoder)",
                "Sound gets another sample rate.", "Choose another audio codec to keep it.")
        case .channelsChanged(let track, let encoder, let from, let to):
            CodeText(
                "audio \(track): \(encoder) does not support \(from): it becomes \(to)",
                "Sound gets another channel layout.", "Choose another audio codec to keep it.")
        case .sampleDepthReduced(let track, let codec, let bits):
            CodeText(
                "audio \(track): \(codec) holds \(bits) bits of a sample: finer steps are lost",
                "Samples keep fewer bits.", "Choose PCM to keep all bits.")
        case .soundUnified(let track, let changes, let time, let from, let to, let made):
            CodeText(
                "audio \(track): changes from \(from.words(beside: to)) to \(to.words(beside: from)) "
                    + "at \(Wording.seconds(time))\(changes > 1 ? ", and \(Wording.count(changes - 1, "more time"))" : ""): "
                    + "all of it becomes \(made.words(beside: to))",
                "Sound changes its format midway: all of it is converted to one format.", "Nothing.")
        case .soundTrimmed(let track, let length):
            CodeText(
                "audio \(track): outlasts the video by \(Wording.exact(length)): that part is cut off",
                "Sound outlasts the video, by less than a frame or in a container that holds no more, and is cut "
                    + "off there.",
                "Ask for lossless output in a container with timestamps to keep it.")
        case .subtitlesConverted(let track, let from, let to):
            CodeText(
                "subtitles \(track): \(from) becomes \(to)",
                "Subtitles get another codec.", "Choose another container to keep the codec.")
        case .languagesLost(let container, let languages):
            CodeText(
                "a language is lost: \(container.file) cannot name \(languages.joined(separator: ", "))"
                    + container.advice([.mkv]) { other in languages.allSatisfy { other.language($0) != nil } },
                "The container cannot hold the name of a language.", "Choose mkv; of sound, m4a.")

        // MARK: Left out
        case .firstFramesLeftOut(let frames):
            CodeText(
                "\(Wording.count(frames, "frame")) at the start cannot be decoded and are left out: "
                    + "what they refer to is missing",
                "Frames at the start refer to what is missing and are left out.", "Nothing.")
        case .streamLeftOut(let stream, let kind, let codec, let refusal):
            CodeText(
                // FFmpeg's word for the kind is singular.
                "stream \(stream) (\(kind == "subtitle" ? "subtitles" : kind), \(codec)) is left out"
                    + (refusal.words.map { ": \($0)" } ?? ""),
                "A stream is left out.", "See the reason it gives.")
        case .dataLeftOut(let streams):
            CodeText(
                "data is left out: \(streams.map { "stream \($0.stream) (\($0.kind))" }.joined(separator: ", "))",
                "Data streams are left out.", "Nothing.")
        case .pictureExtraLeftOut(let extra):
            CodeText(extra.words, "Side data of the pictures is left out.", "Nothing.")
        case .dolbyVisionLeftOut(let profile, let wrongColours):
            CodeText(
                "Dolby Vision\(profile.map { " profile \($0)" } ?? "") is left out"
                    + (wrongColours
                        ? ", and its base layer alone shows wrong colours: the output has those"
                        : ": the output shows its base layer"),
                "Dolby Vision is left out.", "Check the colours of the output.")
        case .soundNotHeard(let track):
            CodeText(
                "audio \(track): nothing is heard while the video lasts: the track is left out",
                "A track is silent while the video lasts and is left out.", "Nothing.")
        case .cuesWithoutTime(let stream, let cues):
            CodeText(
                "stream \(stream): \(cues) subtitles have no time and are left out",
                "Subtitles without a time are left out.", "Nothing.")
        case .cuesUnwritable(let stream, let cues, let codec):
            CodeText(
                "stream \(stream): \(cues) subtitles cannot be read or written as \(codec), and are left out",
                "Subtitles that cannot be read or written are left out.", "Choose another container to keep them.")
        case .subtitlesLeftOut(let container):
            CodeText(
                "subtitles are left out: \(container.file) cannot hold them; write .mkv or .mp4",
                "The container cannot hold subtitles.", "Choose mkv or mp4.")
        case .soundLeftOut(let container):
            CodeText(
                "sound is left out: \(container.file) cannot hold any",
                "The container cannot hold sound.", "Choose mp4 or mkv, or leave the sound out.")
        case .loopReduced(let width, let height, let step, let colours):
            CodeText(
                "to keep to the size, pictures are \(width)x\(height)"
                    + (step == 1 ? "" : step == 2 ? ", every second one is shown" : ", one in \(step) is shown")
                    + (colours.map { ", in at most \($0) colours" } ?? ""),
                "Pictures of a loop become smaller, fewer and of fewer colours until the file keeps to its size.",
                "Allow a larger file, or show a shorter part.")
        case .picturesLeftOut(let container):
            CodeText(
                "pictures are left out: \(container.file) holds sound alone",
                "The output is a file of sound.", "Choose mp4 or mkv to keep the pictures.")
        case .audioTracksLeftOut(let container, let tracks):
            CodeText(
                "the source has \(tracks) audio tracks: \(container.file) holds the first of them alone",
                "A file of sound holds one track.", "Choose another track, or of a video mp4 or mkv to keep all.")
        case .chaptersLeftOut(let container):
            CodeText(
                "chapters are left out: \(container.file) cannot hold them"
                    + container.advice([.mkv, .mp4], \.traits.holdsChapters),
                "The container cannot hold chapters.", "Choose mkv or mp4; of sound, m4a, mp3, ogg or opus.")
        case .attachmentsLeftOut(let container, let names):
            CodeText(
                "attached files are left out: \(container.file) cannot hold \(names.joined(separator: ", "))"
                    + container.advice([.mkv], \.holdsCovers),
                "The container cannot hold attached files.",
                "Choose mkv; of sound, any but wav for covers in JPEG or PNG.")
        case .tagsLeftOut(let container, let names):
            CodeText(
                "tags are left out: \(container.file) cannot hold \(Wording.some(names))",
                "The container cannot hold tags of the file.", "Choose mkv; of sound, mp3, flac, ogg or opus.")
        case .timecodeLeftOut(let container):
            CodeText(
                "the timecode is left out: \(container.file) cannot hold one beside a cover; write .mkv",
                "The container cannot hold a timecode beside a cover.", "Choose mkv.")
        case .timelinePartLeftOut(let place, let name, let part):
            CodeText(
                "\(place): \(part.words(name)): it is left out",
                "A timeline has a part that cannot be shown, and it is left out.",
                "Change the timeline if the part matters.")

        // MARK: Board
        case .redisTooOld(let address, let version):
            CodeText(
                "Redis at \(address) is \(version): reel needs 7.0 or later",
                "Redis is older than reel needs.", "Install Redis 7.0 or later.")
        case .redisWithoutLog(let address):
            CodeText(
                "Redis at \(address) keeps no append-only file: a restart loses jobs; set appendonly yes",
                "Redis keeps no append-only file: a restart loses jobs.", "Set appendonly yes.")
        case .redisEvicts(let address):
            CodeText(
                "Redis at \(address) evicts keys, so jobs may vanish: set maxmemory-policy noeviction",
                "Redis evicts keys, so that jobs may vanish.", "Set maxmemory-policy noeviction.")
        case .workerDiskFull(let folders):
            CodeText(
                "claims nothing: the disk of \(folders.joined(separator: " or ")) is full",
                "A worker claims nothing, since a disk is full.", "Make room on the disk.")
        case .workerSlotsOut(let slots, let jobs):
            CodeText(
                "\(Wording.count(slots, "slot")) out of work: engines crashed there in \(jobs) jobs in a row; each "
                    + "comes back when its engine has reversed the worker's test clip",
                "Slots of a worker claim nothing, since their engines crashed in several jobs in a row.",
                "Wait; if the slots do not come back, check the machine.")
        case .workerStoreUnusable(let last):
            CodeText(
                "claims nothing until it can write in the store: \(last.words)",
                "A worker claims nothing, since it cannot write in the store.",
                "Let the worker's user write in the store; the worker then goes on by itself.")
        case .workerClockDiffers(let seconds):
            CodeText(
                "its clock is \(Wording.count(Int(clamping: seconds.magnitude), "second")) "
                    + "\(seconds > 0 ? "ahead of" : "behind") Redis's",
                "A worker's clock and Redis's differ by more than a minute.", "Set the clock that is wrong.")
        }
    }
}

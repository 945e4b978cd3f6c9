internal import ReelCore

extension FailureReason {
    /// The texts of codes about what a request asks for; nil for others.
    var requestText: CodeText? {
        switch self {
        case .soundHasNoFrames(let position):
            CodeText(
                "\(position) counts frames, and a file of sound has none: give seconds",
                "A range of a file of sound is given in frames or as a timecode.", "Give seconds.")
        case .rangeEmpty(let from, let to):
            CodeText(
                "the range's start, \(from.words), is not before its end, \(to.words)",
                "The range starts where it ends, or later.", "Choose a start before the end.")
        case .nothingInRange(let from, let to, let end):
            CodeText(
                Wording.beyond(from, to, end), "No frame begins in the range.", "Choose a range within the video.")
        case .timecodeInvalid(let timecode, let flaw):
            CodeText(
                "no frame has the timecode \(timecode): \(flaw.words)",
                "A timecode is that of no frame of the video, at its frame rate.",
                "Correct the timecode, or give seconds or frames.")
        case .trackMissing(let kind, let number, let count):
            CodeText(
                "there is no track \(kind == .audio ? "a" : "s"):\(number): the video has "
                    + (count == 0 ? "no " : "\(count) ") + (kind == .audio ? "audio" : "subtitle")
                    + " track\(count == 1 ? "" : "s")\(count > 0 ? ", counted from 0" : "")",
                "A track is asked for that the source does not have.", "Choose among the tracks that the plan lists.")
        case .editFlawed(let path, let place, let flaw):
            CodeText(
                place.isEmpty ? "\(path): \(flaw.words)" : "\(path): \(place): \(flaw.words)",
                "An edit's file says something that cannot be done.", "Correct the place that is named.")
        case .timelineSpeed(let clip, let speed):
            CodeText(
                "clips[\(clip)]: its speed is \(speed.shortWords), for which timelines have no word that all programs "
                    + "understand alike; keep such an edit in a .json file",
                "An edit with clips at another speed cannot be written as a timeline.",
                "Keep the edit in a JSON file, or give all clips the speed 1.")
        case .timelineSoundtrack:
            CodeText(
                "an edit with a soundtrack cannot be written as a timeline",
                "An edit with a soundtrack cannot be written as a timeline.",
                "Keep the edit in a JSON file, or leave out the soundtrack.")
        case .clipOutOfRange(let clip, let from, let to, let end):
            CodeText(
                "clips[\(clip)]: \(Wording.beyond(from, to, end))",
                "No frame of a clip's source begins in its range.", "Choose a range within the video.")
        case .clipUnshared(let clip):
            CodeText(
                "clips[\(clip)]: in none of its frames does the source have both video and sound, with what the "
                    + "crossfades need; leave out the trim, or choose another range",
                "A clip that is trimmed has no frame with both video and sound.",
                "Leave out the trim, or choose another range.")
        case .rangeTooShort(let from, let to, let frames, let least):
            CodeText(
                "the moment from \(from?.words ?? "the start") to \(to?.words ?? "the end") has "
                    + "\(Wording.count(frames, "frame")), and one that is rewound needs \(least): choose a longer one",
                "A moment that is rewound has one frame, which would be shown twice at its turns.",
                "Choose a moment of two frames or more.")
        case .soundtrackOutOfRange(let from, let end):
            CodeText(
                "the soundtrack has no sound from \(Wording.seconds(from)) on: it ends at \(Wording.seconds(end)); "
                    + "begin earlier",
                "The soundtrack ends before the moment from which it is to be heard.",
                "Begin the soundtrack before its end.")
        case .stillTooLong(let clip, let frames, let most):
            CodeText(
                "clips[\(clip)]: shown at a constant rate, this still becomes \(frames) frames; all stills of an edit "
                    + "together may become at most \(most): shorten it, or choose a lower rate",
                "A still would become too many frames at the rate asked for.", "Shorten it, or choose a lower rate.")
        case .dynamicRangesMixed(let source, let main):
            CodeText(
                "\(source) and \(main) have different dynamic ranges, and cannot be mapped to one: the one of high dynamic range "
                    + "is transparent, or this FFmpeg lacks the filters zscale and tonemap; convert one of them first",
                "Sources of an edit have different dynamic ranges, and cannot be mapped to one.",
                "Install an FFmpeg with zimg, or convert one of them first.")
        case .interlacedMixed(let source):
            CodeText(
                "\(source) is interlaced, and cannot be scaled or mixed with other pictures: deinterlace it first",
                "An interlaced source would have to be scaled, or mixed with progressive pictures.",
                "Deinterlace it first.")
        case .memoryTooSmall(let allowed, let needed, let copies):
            CodeText(
                "\(Wording.mebibytes(allowed)) of memory is too little: "
                    + (copies ? "copying this video takes" : "a pass of this video takes")
                    + " \(Wording.mebibytes(needed)) at least; allow that much"
                    + (copies ? "" : ", or choose a faster preset, another codec or another container"),
                "The work needs more memory than is allowed.",
                "Allow the memory that is named, or choose a faster preset, another codec or another container.")
        case .encoderUnknown(let option, let name, let known):
            CodeText(
                "this FFmpeg has no \(option == .audioCodec ? "audio" : "video") encoder \(name); "
                    + "reel knows \(known.joined(separator: ", "))",
                "No encoder has the name that was asked for.", "Choose one of the encoders that are named.")
        case .encoderAbsent(let encoder):
            CodeText(
                "this FFmpeg has no encoder named \(encoder)",
                "The FFmpeg of a host lacks an encoder.", "Install an FFmpeg that has the encoder, or choose another.")
        case .encoderRefuses(let encoder, let settings, let said):
            CodeText(
                settings.isEmpty
                    ? "the encoder \(encoder) does not take this: \(said); choose another encoder"
                    : "the encoder \(encoder) rejects these settings "
                        + "(\(settings.map { "\($0.name)=\($0.value)" }.joined(separator: " "))): \(said)",
                "An encoder does not open with the settings asked for.", "Change the settings that are named.")
        case .settingUnknown(let encoder, let setting):
            CodeText(
                "the encoder \(encoder) has no option named \(setting)",
                "An encoder has no setting of that name.", "Choose another encoder, or leave the setting out.")
        case .optionUnsupported(let option, let encoder):
            CodeText(
                "the encoder \(encoder) has no \(option.words)\(option == .crf ? "; give a bit rate" : "")",
                "An encoder does not support an option.", "Leave the option out, or choose another encoder.")
        case .valueUnsupported(let option, let value, let encoder, let known):
            CodeText(
                (encoder.map { "the encoder \($0) does not take" } ?? "this FFmpeg does not know")
                    + " the \(option.words) \(value)"
                    + (known.isEmpty ? "" : "; it takes \(known.joined(separator: ", "))"),
                "An encoder does not support the value of an option.",
                "Choose a value that the message lists, or another encoder.")
        case .sizeIndivisible(let encoder, let size, let pixelFormat):
            CodeText(
                "the encoder \(encoder) takes no pictures of \(size.width)x\(size.height) in \(pixelFormat), in "
                    + "which pairs of "
                    + "pixels share their colour: choose an even width and height, or a pixel format such as yuv444p",
                "An encoder needs an even width and height.", "Choose another size, pixel format or encoder.")
        case .sizeTooLarge(let container, let size, let most):
            CodeText(
                "\(container.file) holds pictures of at most \(most) pixels in each direction, not "
                    + "\(size.width)x\(size.height): choose a smaller size",
                "The pictures are larger than the container allows.", "Choose a smaller size, or another container.")
        case .sizeUnreachable(let most, let least):
            CodeText(
                "an output of \(ByteSize(bytes: most)) is too small for this: the coarsest has about "
                    + "\(ByteSize(bytes: least)); choose a shorter range, smaller pictures, fewer frames a second, or less "
                    + "sound",
                "Even the coarsest pictures take more bytes than the output may have.",
                "Choose a shorter range, smaller pictures, fewer frames a second, or less sound.")
        case .sourceRateUnsupported(let encoder):
            CodeText(
                "\(encoder) writes the bit rate into its parameters, so that parts which follow the source's rate "
                    + "do not join; give a bit rate",
                "An encoder cannot match the bit rate of the source.", "Give a bit rate.")
        case .pixelFormatUnsupported(let encoder, let pixelFormat):
            CodeText(
                "\(encoder) supports no pixel format close to \(pixelFormat)",
                "An encoder supports no pixel format close to the one of the source.", "Choose another encoder.")
        case .pixelFormatLossy(let encoder, let pixelFormat):
            CodeText(
                "\(encoder) cannot hold the pixel format \(pixelFormat) without loss",
                "An encoder cannot hold the pixel format without loss.", "Choose another encoder, or allow loss.")
        case .codecNotHeld(_, let codec, let container):
            CodeText(
                "reel writes no \(codec) into \(container.file); choose another codec or container",
                "The container cannot hold the codec.", "Choose another codec or container.")
        case .noSoundHeld(let container):
            CodeText(
                "\(container.file) holds no sound that reel writes; leave the sound out, or choose another container",
                "The container holds no sound that reel writes.", "Leave the sound out, or choose another container.")
        case .losslessCodecFixed(let option, let codec, let only):
            CodeText(
                "without loss, \(option == .audioCodec ? "sound" : "video") is kept as \(only); do not ask for "
                    + "\(codec)",
                "Lossless output has one codec, and another was asked for.", "Do not ask for a codec, or allow loss.")
        case .losslessNotHeld(let container):
            CodeText(
                container.traits.isOfSound
                    ? "\(container.file) cannot hold this sound without loss; write \(Container.names([.wav]))"
                    : "\(container.file) cannot hold video and sound without loss; write "
                        + "\(Container.names(Container.lossless))",
                "The container cannot hold lossless output.", "Choose mkv, mov or nut.")
        case .rawNotGivenBack(let pixelFormat, let container, let lossless):
            CodeText(
                (lossless ? "FFV1 does not hold \(pixelFormat), and " : "")
                    + "\(container.file) does not store raw \(pixelFormat) exactly; choose another "
                    + (lossless ? "container, or allow loss" : "codec or container"),
                "The container does not store raw pictures exactly.",
                "Choose another container or codec, or allow loss.")
        case .framesTooClose(let time, let container):
            CodeText(
                "two frames are less than a millisecond apart at \(Wording.seconds(time)): "
                    + "\(container.file) cannot hold that; write .mp4, .mov or .nut",
                "Two frames are closer than the container can tell apart.", "Choose mp4, mov or nut.")
        case .pictureTooLong(let time, let length, let container, let most):
            CodeText(
                "the picture at \(Wording.seconds(time)) of the output is shown for \(Wording.seconds(length)), and "
                    + "\(container.file) shows one for at most \(most) s: shorten it, or choose another container",
                "A picture is shown for longer than the container allows.",
                "Shorten the still or slow clip, or choose another container.")
        case .framesUneven(let time, let length, let rate, let container):
            CodeText(
                "\(container.file) shows every frame equally long, here for \(Wording.seconds(Rational(1) / rate)), "
                    + "and the one at \(Wording.seconds(time)) of the output would be shown for "
                    + "\(Wording.seconds(length)): choose another container",
                "The container shows all frames equally long, and the output's are not.",
                "Choose another container, such as mkv or mov.")
        case .frameRateNotHeld(let rate, let container, let known):
            CodeText(
                "\(container.file) cannot have \(rate.shortWords) frames a second, only "
                    + known.map(\.shortWords).joined(separator: ", ") + ": choose another container",
                "The container cannot have the output's frame rate.", "Choose another container, such as mkv or mov.")
        case .copyWithOption(let option):
            CodeText(
                "copied packets keep the pictures as they are and have no passes; do not ask for \(option.words)",
                "An option cannot apply to packets that are copied.",
                "Leave the option out, or encode the video again.")
        case .optionNotOfContainer(let option, let container):
            CodeText(
                "\(container.file) has no \(option.words)" + option.holders(insteadOf: container),
                "The container has nothing for an option to set.", "Leave the option out, or choose another container.")
        case .copyImpossible(let obstacle):
            CodeText(
                "the video's packets cannot be copied: \(obstacle.words); encode it again instead",
                "The packets of the video cannot be copied in another order.", "Encode the video again.")
        case .copyNotGivenBack(let codec, let pixelFormat, let container):
            CodeText(
                "\(container.file) does not store \(codec) (\(pixelFormat)) exactly; "
                    + "choose another container, or encode the video again",
                "The container does not store the packets exactly.",
                "Choose another container, or encode the video again.")
        default: nil
        }
    }
}

extension JobSpec.Option {
    /// The subject of the option, without the article.
    var words: String {
        switch self {
        case .container: "container"
        case .videoCodec: "video codec"
        case .crf: "constant quality (CRF)"
        case .preset: "preset"
        case .bitrate: "bit rate"
        case .lossless: "lossless encoding"
        case .audio: "audio mode"
        case .audioCodec: "audio codec"
        case .from: "start of the range"
        case .to: "end of the range"
        case .timestamps: "kind of timestamps"
        case .passFrames: "length of passes"
        case .threads: "number of threads"
        case .memory: "amount of memory"
        case .verify: "kind of verification"
        case .onDamage: "handling of damaged frames"
        case .size: "size of the pictures"
        case .loop: "number of times that it plays"
        case .fps: "number of frames a second"
        case .dither: "kind of dithering"
        case .fit: "way to fit pictures"
        case .colors: "number of colours"
        case .soundtrack: "soundtrack"
        case .pixelFormat: "pixel format"
        case .sampleRate: "sample rate"
        case .channelLayout: "channel layout"
        case .profile: "profile"
        case .audioBitrate: "bit rate of the sound"
        case .maxSize: "limit of the file's size"
        case .purpose: "form for the web and for services"
        }
    }

    /// The containers that have what the option sets, as the end of a sentence about one that has not.
    fileprivate func holders(insteadOf container: Container) -> String {
        if container.traits.isOfSound {
            let isSize = self == .maxSize || self == .bitrate
            return ", as it holds sound alone" + (isSize ? "; choose a bit rate of the sound" : "")
        }
        let holders: [Container] =
            switch self {
            case .maxSize: Container.allCases.filter(\.limitsSize)
            case .purpose: [.mp4]
            // Only some formats have a palette.
            case .dither, .colors: Container.looping.filter(\.hasPalette)
            default: container.traits.loops == nil ? Container.looping : []
            }
        return holders.isEmpty ? "" : "; write \(Container.names(holders))"
    }
}

extension Container {
    /// Whether its pictures share a palette.
    var hasPalette: Bool { traits.loops?.hasPalette == true }

    /// "a .mkv file".
    var file: String { "a .\(rawValue) file" }

    /// "; write .mkv or .mp4", the containers that help, at the end of a sentence about what is left out: `others`, or for
    /// a file of sound the formats of sound that hold it. Empty if there are none.
    func advice(_ others: [Container], _ holds: (Container) -> Bool) -> String {
        let helping = traits.isOfSound ? Container.ofSound.filter(holds) : others
        return helping.isEmpty ? "" : "; write \(Container.names(helping))"
    }

    var holdsCovers: Bool {
        if case .none = traits.attachments { false } else { true }
    }

    /// ".mkv, .mov or .nut".
    static func names(_ containers: [Container]) -> String {
        Wording.list(containers.map { ".\($0.rawValue)" }, last: "or")
    }
}

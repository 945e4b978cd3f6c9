internal import ReelCore

// Words for the facts of failures, as parts of sentences.

extension SourceChange {
    func words(_ number: Int) -> String {
        switch self {
        case .stream: "stream \(number) is not what it was"
        case .packetPlace: "packet \(number) is not where it was"
        case .packetSize: "packet \(number) has another size"
        case .sound: "no sound of stream \(number) decodes"
        }
    }
}

extension FrameDamage {
    var words: String {
        switch self {
        case .missing: "does not decode"
        case .concealed: "decodes with errors"
        }
    }
}

extension SandboxPart {
    var words: String {
        switch self {
        case .files: "Landlock for files"
        case .calls: "filter of system calls (seccomp)"
        }
    }
}

extension PlanDisproof {
    var words: String {
        switch self {
        case .missing: "a planned frame is missing"
        case .unplanned: "a frame comes that is not in the plan"
        case .order: "frames come in another order"
        case .picture: "a frame looks different"
        case .damage: "a frame is damaged"
        }
    }
}

extension MediaStep {
    /// The step that failed, with its codec, file or format.
    func words(_ subject: String?) -> String {
        let name = subject.map { " \($0)" } ?? ""
        return switch self {
        case .openFile: "opening\(name.isEmpty ? " a file" : name)"
        case .readFile: "reading\(name.isEmpty ? " a file" : name)"
        case .openDecoder: "opening the\(name) decoder"
        case .decode: "decoding\(name)"
        case .openEncoder: "opening the\(name) encoder"
        case .encode: "encoding\(subject.map { " with \($0)" } ?? "")"
        case .openParser: "opening a parser"
        case .filterPackets: "filtering packets"
        case .makePacket: "making a packet"
        case .makeFrame: "making a frame"
        case .makeSideData: "making side data"
        case .convertPicture: "converting a picture"
        case .readPicture: "reading a picture"
        case .convertSamples: "converting samples"
        case .layOutChannels: "using the channel layout\(name)"
        case .openMuxer: "opening\(name.isEmpty ? " a muxer" : name) for writing"
        case .describeStream: "describing a stream"
        case .addChapter: "adding a chapter"
        case .writeHeader: "writing the header of\(name)"
        case .writePackets: "writing\(name)"
        case .writeTrailer: "writing the end of\(name)"
        case .closeFile: "closing\(name)"
        case .checksum: "making a checksum"
        }
    }
}

extension FileStep {
    var words: String {
        switch self {
        case .open: "opening"
        case .make: "making a file in"
        case .read: "reading"
        case .write: "writing"
        case .sync: "syncing"
        case .rename: "renaming"
        case .measure: "measuring"
        }
    }
}

extension PlanPart {
    var words: String {
        switch self {
        case .videoPass: "video pass"
        case .audioPass: "audio pass"
        case .audioTrack: "audio track"
        }
    }
}

extension OutputPart {
    var words: String {
        switch self {
        case .segments: "segments"
        case .packets: "source's packets"
        case .cues: "subtitles of a track"
        }
    }
}

extension IndexFlaw {
    var words: String {
        switch self {
        case .start: "it does not begin like an index"
        case .checksum: "its checksum does not match"
        case .truncated: "it ends too early"
        case .number: "a number is cut off"
        case .count: "it counts more entries than it holds"
        case .parameters: "its parameters are not what they should be"
        case .excess: "trailing bytes"
        case .packetSize: "a packet has no size"
        case .time: "a time is out of range"
        case .framePacket: "a frame has no packet"
        case .overlap: "frames overlap"
        case .durationFrame: "a duration has no frame"
        case .duration: "a duration is out of range"
        case .randomAccessPoint: "a random access point lies outside the tables"
        }
    }
}

extension SegmentFlaw {
    var words: String {
        switch self {
        case .noStream: "has no stream"
        case .otherParameters: "was encoded with other parameters than the job's: its worker's encoder differs"
        case .otherContent: "does not match the plan for these frames"
        case .missingFrames(let count): "lacks \(Wording.count(count, "frame"))"
        case .unplannedFrame: "shows a frame at a time that is not in the plan, or twice"
        case .reordering: "needs more reordering than it states"
        case .short: "ends before its record does"
        }
    }
}

extension VerificationFlaw {
    var words: String {
        switch self {
        case .missing: "is missing"
        case .decodeTimes: "has decode times that do not increase"
        case .excessPackets: "has more packets than were written"
        case .packetWithoutTime: "has a packet without a time"
        case .packetTime(let packet, let found, let planned):
            "has packet \(packet) at \(Wording.exact(found)) instead of \(Wording.exact(planned))"
        case .packetDuration(let packet, let found, let planned):
            "has packet \(packet) last \(Wording.exact(found)) instead of \(Wording.exact(planned))"
        case .packetCount(let found, let planned): "has \(found) packets instead of \(planned)"
        case .payload: "holds other bytes than were encoded"
        case .undecodable: "does not decode"
        case .frameCount(let found, let planned): "decodes to \(found) frames instead of \(planned)"
        case .frameTime(let frame, let found, let planned):
            "decodes to a frame \(frame) at \(Wording.exact(found)) instead of \(Wording.exact(planned))"
        case .framePicture(let frame):
            "decodes to a frame \(frame) that does not look like its counterpart in the source"
        case .attachments: "has other covers or attached files"
        case .chapters: "has other chapters"
        }
    }
}

extension EditFlaw {
    /// As a sentence about the place.
    var words: String {
        switch self {
        case .notJSON(let said): "it is not JSON: \(said)"
        case .tooLong(let bytes): "it has more than \(Wording.mebibytes(bytes)), more than any edit"
        case .unknownKey(let known): "an edit has no such key; known are \(Wording.list(known))"
        case .missing: "it is missing"
        case .malformed(let wanted): "it is not \(wanted.words)"
        case .excludes(let key): "it excludes \(key)"
        case .rangeEmpty(let from, let to):
            "\(from.words) is not before to: \(to.words)"
        case .clipCount(let found): "it has \(found) clips, repeats counted; an edit has 1 to \(Edit.mostClips)"
        case .onlyGaps: "no clip has a source"
        case .sourceMissing(let path): "there is no file \(path)"
        case .notTaken(let part, let name): "\(part.words(name)); \(part.remedy)"
        case .timeScalar(let scalar, let name):
            "\(Wording.named("the clip", name)) has the time scalar \(scalar), which means different things in different "
                + "programs; only -1, 0 and 1 are taken: write an edit in a .json file, and give the clip a speed"
        case .unknownSchema(let schema):
            "it has the unknown schema \(schema); write the timeline with a version of OpenTimelineIO from 0.15 to 0.18"
        case .noVideoTrack: "there is no enabled video track"
        case .timelineCount(let found):
            "it has \(found) objects, of which none is the only timeline; write a file for each timeline"
        }
    }
}

extension Position {
    /// "12.345 s", "frame 30", or the timecode.
    var words: String {
        switch self {
        case .seconds(let seconds): Wording.seconds(seconds)
        case .frames(let frames): "frame \(frames)"
        case .timecode(let timecode): timecode.description
        }
    }
}

extension TimecodeFlaw {
    /// As a sentence about the timecode.
    var words: String {
        switch self {
        case .rateUnknown: "the video does not say how many frames a second it has; give seconds (1.5) or frames (36f)"
        case .rateNotDropped(let rate):
            "frames are dropped (;) at 29.97 and 59.94 a second, and the video has \(rate.decimalWords); write : instead"
        case .frameTooHigh(let rate):
            "the video has \(rate.decimalWords) frames a second, so that the last number is at most "
                + "\(TimeBase(1, 1).ticks(in: rate, rounding: .nearest) - 1)"
        case .labelDropped:
            "drop-frame timecodes leave out the first numbers of each minute but every tenth; write : instead of ; to count "
                + "all frames"
        }
    }
}

extension Rational {
    /// With at most three decimals: "29.97", "25".
    var decimalWords: String {
        let thousandths = TimeBase(1, 1000).ticks(in: self, rounding: .nearest)
        let (whole, rest) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String("000\(rest)".suffix(3)).reversed().drop { $0 == "0" }.reversed()
        return (thousandths < 0 ? "-" : "") + "\(whole)" + (digits.isEmpty ? "" : "." + String(digits))
    }
}

extension EditForm {
    /// As an object of a sentence.
    var words: String {
        switch self {
        case .object: "an object"
        case .list: "a list"
        case .text: "a text"
        case .flag: "true or false"
        case .time: "a time: seconds as a number, or a text such as \"0:01.5\" or \"15015/30000\""
        case .position:
            "a position: seconds as a number, or a text such as \"0:01.5\", \"15015/30000\", \"36f\" or \"00:00:01:12\""
        case .length:
            "a length above 0: seconds as a number, or a text such as \"0:01.5\", \"36f\" or \"00:00:01:12\""
        case .duration: "a time above 0: seconds as a number, or a text such as \"0:01.5\" or \"15015/30000\""
        case .count(let least, let most): "a whole number from \(least) to \(most)"
        case .ratio(let least, let most):
            "a number from \(least.shortWords) to \(most.shortWords), or a ratio such as \"3/2\""
        case .word(let words): Wording.list(words, last: "or")
        case .number: "a number"
        case .rate: "a rate above 0"
        case .moment: "a time within a billion seconds"
        case .schema(let names): "an object of the schema \(Wording.list(names, last: "or"))"
        }
    }
}

extension Rational {
    var shortWords: String { denominator == 1 ? "\(numerator)" : description }
}

extension TimelinePart {
    /// As a sentence about the part of this name.
    func words(_ name: String) -> String {
        switch self {
        case .transition: "\(Wording.named("the transition", name)) cannot be shown"
        case .nested: "\(Wording.named("the item", name)) is a timeline of its own within this one"
        case .schema(let schema): "\(Wording.named("the object", name)) has the unknown schema \(schema)"
        case .generator: "\(Wording.named("the clip", name)) is made by a generator, and is no file"
        case .imageSequence: "\(Wording.named("the clip", name)) is a sequence of images"
        case .noMedia: "\(Wording.named("the clip", name)) has no media"
        case .remoteMedia(let url): "\(Wording.named("the clip", name)) has media that are no file: \(url)"
        case .missingFile(let path): "\(Wording.named("the clip", name)) needs a file that is not there: \(path)"
        case .effect(let effect): "\(Wording.named("the clip", name)) has the effect \(effect), which is unknown"
        case .otherSound:
            "\(Wording.named("the audio track", name)) has other sound than the clips of the video track"
        case .trimmedTrack: "of \(Wording.named("the track", name)) only a range is shown"
        case .videoTrack: "\(Wording.named("the video track", name)) is not the first"
        case .otherTrack(let kind): "\(Wording.named("the track", name)) is of the kind \(kind)"
        case .startTime: "the start time counts no frames"
        }
    }

    /// What a user can do about it, in the imperative.
    fileprivate var remedy: String {
        switch self {
        case .transition: "make it a cut"
        case .nested: "put its clips on the video track"
        case .schema, .effect, .otherTrack: "remove it"
        case .generator, .imageSequence, .remoteMedia: "make a video file of it"
        case .noMedia, .missingFile: "link the clip to a file"
        case .otherSound: "remove the track, or render its sound beforehand"
        case .trimmedTrack: "trim the clips instead"
        case .videoTrack: "put its clips on the first"
        case .startTime: "give it the frame rate of the timeline"
        }
    }
}

extension PassthroughObstacle {
    /// As a sentence.
    var words: String {
        switch self {
        case .interFrames(let codec): "frames of \(codec) may need other frames"
        case .interlaced: "the video \(PacketFault.interlaced.words)"
        case .blackPictures: "the black pictures of a gap must be encoded"
        case .sourcesDiffer: "the sources differ in codec, parameters or pictures"
        case .packetsNotFrames(let packets, let frames): "\(packets) packets do not make \(frames) frames one by one"
        case .packet(let number, let time, let fault):
            "packet \(number)\(time.map { " at \(Wording.seconds($0))" } ?? "") \(fault.words)"
        }
    }
}

extension PacketFault {
    var words: String {
        switch self {
        case .corrupt: "is damaged"
        case .changesParameters: "changes how the video is decoded"
        case .reordered: "is not shown when it is decoded"
        case .backwards: "is not shown after the packet before it"
        case .incomplete: "is not a whole picture"
        case .empty: "is empty"
        case .pictureSize: "has another picture size"
        case .format: "has another format than the first"
        case .packetSize: "is of another size than the first"
        case .notKey: "is not a key frame"
        case .notIDR: "is not an IDR picture"
        case .parameterSets: "brings parameter sets of its own"
        case .layers: "has layers"
        case .severalPictures: "holds several pictures"
        case .header: "has a damaged header"
        case .noTables: "lacks tables of its own"
        case .huffmanTables: "has Huffman tables only now and then"
        case .cutOff: "ends in the middle of a picture"
        case .interlaced: "is interlaced: its fields would come in the wrong order"
        case .dependent: "does not decode by itself"
        }
    }
}

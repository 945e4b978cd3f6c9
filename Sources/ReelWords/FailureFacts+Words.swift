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

extension StoreStep {
    /// The operation that failed; a path follows.
    var words: String {
        switch self {
        case .open: "write in the store"
        case .makeFolder: "make a folder at"
        case .read: "read"
        case .write: "write"
        case .lock: "lock"
        case .copySource: "copy the source to"
        case .remove: "remove"
        }
    }
}

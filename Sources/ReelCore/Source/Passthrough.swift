/// Whether the main video's packets can be shown in another order without being decoded.
package enum PassthroughSupport: Hashable, Codable, Sendable {
    case possible(coded: CodedVideo)
    case impossible(why: PassthroughObstacle)

    /// The same if every shown packet is one of the track's frames and none of them is damaged; else `.impossible` with
    /// the reason.
    package func checked(against track: VideoTrack) -> PassthroughSupport {
        guard case .possible = self else { return self }
        if let frame = track.pictures.firstIndex(where: \.isDamaged) {
            let (packet, start) = (Int(track.frames[frame].packet), track.frames[frame].interval.start)
            let time = track.stream.timeBase.seconds(start)
            return .impossible(why: .packet(number: packet, time: time, fault: .corrupt))
        }
        let shown = track.packets.reduce(0) { $0 + ($1.flags.contains(.discarded) ? 0 : 1) }
        if shown == track.frames.count { return self }
        return .impossible(why: .packetsNotFrames(packets: shown, frames: track.frames.count))
    }
}

/// The coding of packets that are passed through, for muxers and decoders.
package struct CodedVideo: Hashable, Codable, Sendable {
    /// The FourCC that the source's container has for the codec, the first character in the lowest bits; 0 for none.
    package var fourCC: UInt32
    package var extradata: [UInt8]
    package var profile: Int32
    package var level: Int32
    /// Bits per pixel as coded; 0 if unspecified.
    package var bitsPerCodedSample: Int32
    /// Containers that give such packets back unchanged, as found by writing and reading one.
    package var containers: [Container]

    package init(
        fourCC: UInt32, extradata: [UInt8], profile: Int32, level: Int32, bitsPerCodedSample: Int32,
        containers: [Container]
    ) {
        self.fourCC = fourCC
        self.extradata = extradata
        self.profile = profile
        self.level = level
        self.bitsPerCodedSample = bitsPerCodedSample
        self.containers = containers
    }

    package enum CodingKeys: String, CodingKey {
        case fourCC = "tag"
        case extradata, profile, level, bitsPerCodedSample, containers
    }
}

/// Why a video's packets cannot be shown in another order. Its keys are stored: never change one.
package enum PassthroughObstacle: Hashable, Codable, Sendable {
    case interFrames(codec: String)
    /// The video is interlaced: reversed frames would show their fields in the wrong order.
    case interlaced
    /// The number of shown packets differs from the number of frames, or they do not match one to one.
    case packetsNotFrames(packets: Int, frames: Int)
    /// The first packet that prevents it, counted in the order of the file; `time` in seconds on the file's clock, nil
    /// if the packet has none.
    case packet(number: Int, time: Rational?, fault: PacketFault)

    /// A gap of the edit shows black pictures, which have to be encoded.
    case blackPictures
    case sourcesDiffer

    package enum CodingKeys: String, CodeKey {
        case interFrames, interlaced, packetsNotFrames, packet, blackPictures, sourcesDiffer
    }
}

/// Why a packet is not a single whole progressive frame that refers to no other and is shown when it is decoded.
package enum PacketFault: String, CodeFact, Sendable {
    case corrupt, changesParameters, reordered, backwards, incomplete, empty, pictureSize, format, packetSize, notKey,
        notIDR, parameterSets, layers, severalPictures, header
    /// It lacks quantisation tables of its own.
    case noTables
    /// It has Huffman tables and others have none, or the reverse.
    case huffmanTables
    case cutOff, interlaced, dependent
}

/// Whether the main video's packets can be shown in another order as they are, without being decoded.
public enum PassthroughSupport: Hashable, Codable, Sendable {
    /// Every packet is one whole progressive frame that needs no other, shown when it is decoded.
    case possible(CodedVideo)
    /// The first reason why not.
    case impossible(PassthroughObstacle)

    public enum CodingKeys: String, CodingKey {
        case possible = "possible"
        case impossible = "impossible"
    }

    public enum PossibleCodingKeys: String, CodingKey {
        case _0 = "coded"
    }

    public enum ImpossibleCodingKeys: String, CodingKey {
        case _0 = "why"
    }

    /// The same, where every packet that is shown is one of the track's frames, and none of them is damaged.
    public func checked(against track: VideoTrack) -> PassthroughSupport {
        guard case .possible = self else { return self }
        if let frame = track.pictures.firstIndex(where: \.isDamaged) {
            let (packet, start) = (Int(track.frames[frame].packet), track.frames[frame].interval.start)
            let time = track.stream.timeBase.seconds(start)
            return .impossible(.packet(number: packet, time: time, fault: .corrupt))
        }
        let shown = track.packets.reduce(0) { $0 + ($1.flags.contains(.discarded) ? 0 : 1) }
        if shown == track.frames.count { return self }
        return .impossible(.packetsNotFrames(packets: shown, frames: track.frames.count))
    }
}

/// How packets that are passed on as they are were coded: what a muxer and a decoder must be told of them.
public struct CodedVideo: Hashable, Codable, Sendable {
    /// The source container's tag for the codec, of four characters, the first in the lowest bits; 0 for none.
    public var tag: UInt32
    public var extradata: [UInt8]
    /// As libavcodec counts them.
    public var profile: Int32
    public var level: Int32
    public var bitsPerCodedSample: Int32
    /// Containers that give such packets back as they were, seen by trying.
    public var containers: [Container]

    public init(
        tag: UInt32, extradata: [UInt8], profile: Int32, level: Int32, bitsPerCodedSample: Int32,
        containers: [Container]
    ) {
        self.tag = tag
        self.extradata = extradata
        self.profile = profile
        self.level = level
        self.bitsPerCodedSample = bitsPerCodedSample
        self.containers = containers
    }

    public enum CodingKeys: String, CodingKey {
        case tag = "tag"
        case extradata = "extradata"
        case profile = "profile"
        case level = "level"
        case bitsPerCodedSample = "bitsPerCodedSample"
        case containers = "containers"
    }
}

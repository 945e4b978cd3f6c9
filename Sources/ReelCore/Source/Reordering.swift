/// Whether the main video's packets can be shown in another order as they are, without being decoded.
public enum Reordering: Hashable, Codable, Sendable {
    /// Every packet is one whole progressive frame that needs no other, shown when it is decoded.
    case possible(CodedVideo)
    /// The one reason why not, as a sentence without its full stop.
    case impossible(String)

    /// The same, where every packet that is shown is one of the track's frames.
    public func checked(against track: VideoTrack) -> Reordering {
        guard case .possible = self else { return self }
        let shown = track.packets.reduce(0) { $0 + ($1.flags.contains(.discarded) ? 0 : 1) }
        if shown == track.frames.count { return self }
        return .impossible("\(shown) packets do not make \(track.frames.count) frames one by one")
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
}

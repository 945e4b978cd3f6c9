/// One packet of the main video as a demuxer gives it, with what its bytes say about decoding from here.
public struct ScannedPacket: Hashable, Sendable {
    // There are millions of these: the order in which they stand here leaves no gaps.
    public var pts: Timestamp?
    public var dts: Timestamp?
    public var flags: PacketEntry.Flags
    /// Decoding can start with this packet: what it and later packets show at or after its own time is correct.
    public var startsDecoding: Bool
    public var size: Int32
    public var duration: Ticks
    public var position: Int64
    public var picture: CodedPicture

    public init(
        pts: Timestamp?, dts: Timestamp?, duration: Ticks, size: Int32, position: Int64, flags: PacketEntry.Flags,
        startsDecoding: Bool, picture: CodedPicture = CodedPicture()
    ) {
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.size = size
        self.position = position
        self.flags = flags
        self.startsDecoding = startsDecoding
        self.picture = picture
    }
}

/// What the bytes of a packet say about the place of its picture among the others.
public struct CodedPicture: Hashable, Sendable {
    /// The picture order count (ITU-T H.264 8.2.1, H.265 8.3.1), nil for codecs that have none.
    public var order: Int32?
    /// The second field of the frame whose first field the packet before holds.
    public var isSecondField: Bool
    /// A B-picture of a codec that shows it as soon as it is decoded (MPEG-1, -2 and -4, VC-1).
    public var isBidirectional: Bool
    /// Order counts begin anew here: nothing before is shown after it.
    public var startsSequence: Bool

    public init(
        isSecondField: Bool = false, isBidirectional: Bool = false, order: Int32? = nil, startsSequence: Bool = false
    ) {
        self.isSecondField = isSecondField
        self.isBidirectional = isBidirectional
        self.order = order
        self.startsSequence = startsSequence
    }
}

/// One packet of the main video as the demuxer gives it, with what its bytes say about decoding.
package struct ScannedPacket: Hashable, Sendable {
    // There are millions of these: this order of properties leaves no gaps in memory.
    /// Presentation time; nil if the file states none.
    package var pts: Timestamp?
    /// Decode time; nil if the file states none.
    package var dts: Timestamp?
    package var flags: PacketEntry.Flags
    /// Whether decoding can start with this packet: every frame that it and later packets show at or after its own time
    /// is correct.
    package var startsDecoding: Bool
    package var size: Int32
    /// The duration that the demuxer states; 0 if unknown.
    package var duration: Ticks
    /// Byte position in the file; −1 if unknown.
    package var position: Int64
    package var picture: CodedPicture

    package init(
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

/// What a packet's bytes say about the place of its picture among the others.
package struct CodedPicture: Hashable, Sendable {
    /// The picture order count (ITU-T H.264 8.2.1, H.265 8.3.1); nil for codecs that have none.
    package var order: Int32?
    /// Whether it is the second field of the frame whose first field is in the previous packet.
    package var isSecondField: Bool
    /// Whether it is a B-picture of a codec that shows B-pictures as soon as they are decoded (MPEG-1, -2 and -4,
    /// VC-1).
    package var isBidirectional: Bool
    /// Whether picture order counts restart here: no earlier picture is shown after it.
    package var startsSequence: Bool

    package init(
        isSecondField: Bool = false, isBidirectional: Bool = false, order: Int32? = nil, startsSequence: Bool = false
    ) {
        self.isSecondField = isSecondField
        self.isBidirectional = isBidirectional
        self.order = order
        self.startsSequence = startsSequence
    }
}

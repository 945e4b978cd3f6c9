/// Why a video's packets cannot be shown in another order. Its keys are stored: never change one.
public enum PassthroughObstacle: Hashable, Codable, Sendable {
    /// Frames of this codec may need others.
    case interFrames(codec: String)
    /// The fields of interlaced frames would come in the wrong order.
    case interlaced
    /// So many packets that are shown do not make so many frames one by one.
    case packetsNotFrames(packets: Int, frames: Int)
    /// The first packet against it, counted in the order of the file; `time` in seconds on the file's clock, none where
    /// the packet has none.
    case packet(number: Int, time: Rational?, fault: PacketFault)

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case interFrames = "inter-frames"
        case interlaced
        case packetsNotFrames = "packets-not-frames"
        case packet
    }
}

/// Why a packet is not a whole progressive frame that needs no other, shown when it is decoded.
public enum PacketFault: String, Codable, CaseIterable, Sendable {
    case corrupt
    /// It changes how the video is decoded.
    case changesParameters = "changes-parameters"
    /// It is not shown when it is decoded.
    case reordered
    /// It is not shown after the packet before it.
    case backwards
    /// It is no whole picture.
    case incomplete
    case empty
    case pictureSize = "picture-size"
    /// Its pixel format, or another format of the picture, is not the first packet's.
    case format
    case packetSize = "packet-size"
    case notKey = "not-key"
    /// It is not an IDR picture of H.264.
    case notIDR = "not-idr"
    /// It brings parameter sets of its own.
    case parameterSets = "parameter-sets"
    case layers
    case severalPictures = "several-pictures"
    case header
    /// It lacks tables of its own.
    case noTables = "no-tables"
    /// It has Huffman tables where others have none, or the other way round.
    case huffmanTables = "huffman-tables"
    /// It ends in the midst of a picture.
    case cutOff = "cut-off"
    case interlaced
    /// It does not decode by itself.
    case dependent
}

/// Why a video's packets cannot be shown in another order. Its keys are stored: never change one.
package enum PassthroughObstacle: Hashable, Codable, Sendable {
    /// Frames of this codec may refer to other frames.
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
    /// The sources' codecs, parameters or pictures differ.
    case sourcesDiffer

    package enum CodingKeys: String, CodeKey {
        case interFrames, interlaced, packetsNotFrames, packet, blackPictures, sourcesDiffer
    }
}

/// Why a packet is not a single whole progressive frame that refers to no other and is shown when it is decoded.
package enum PacketFault: String, Codable, CaseIterable, Sendable {
    /// The demuxer flagged it as corrupt.
    case corrupt
    /// It carries data that changes how the video is decoded.
    case changesParameters = "changes-parameters"
    /// It is shown at another time than it is decoded.
    case reordered
    /// It is not shown after the packet before it.
    case backwards
    /// It is not a whole picture.
    case incomplete
    case empty
    case pictureSize = "picture-size"
    /// Its pixel format, or another property of the picture, differs from the first packet's.
    case format
    case packetSize = "packet-size"
    case notKey = "not-key"
    /// It is not an IDR picture of H.264.
    case notIDR = "not-idr"
    /// It contains parameter sets of its own.
    case parameterSets = "parameter-sets"
    case layers
    case severalPictures = "several-pictures"
    case header
    /// It lacks quantisation tables of its own.
    case noTables = "no-tables"
    /// It has Huffman tables and others have none, or the reverse.
    case huffmanTables = "huffman-tables"
    /// It ends in the middle of a picture.
    case cutOff = "cut-off"
    case interlaced
    /// It does not decode by itself.
    case dependent
}

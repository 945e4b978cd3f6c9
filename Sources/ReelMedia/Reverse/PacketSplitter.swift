internal import CFFmpeg
internal import ReelCore

/// Splits packets of AMR: 3GP stores several frames in a packet, of which libavcodec decodes only the first.
struct PacketSplitter {
    /// Bytes of a frame with its header, by frame type (RFC 4867 4.3.1 and 5.3); nil for other codecs.
    private let frameBytes: [Int]?

    init(codec: AVCodecID) {
        switch codec {
        case AV_CODEC_ID_AMR_NB: frameBytes = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
        case AV_CODEC_ID_AMR_WB: frameBytes = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]
        default: frameBytes = nil
        }
    }

    /// Calls `body` with each frame in the packet. Only the first has the packet's time.
    func forEachFrame(
        of packet: borrowing Packet, _ body: (borrowing Packet) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        guard let frameBytes, let data = packet.native.pointee.data else { return try body(packet) }
        var place = 0
        while place < packet.size {
            let size = min(frameBytes[Int(data[place] >> 3) & 15], packet.size - place)
            let part = try Packet()
            try check(av_new_packet(part.native, Int32(size)), .makePacket)
            part.native.pointee.data.update(from: data + place, count: size)
            part.pts = place == 0 ? packet.pts : nil
            try body(part)
            place += size
        }
    }
}

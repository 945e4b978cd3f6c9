extension VideoTrack {
    /// Bytes of packets that are read at a time to be copied, where a single one is not larger: files are read forwards.
    static let readBlockBytes: Int64 = 16 << 20
    /// Bytes a packet takes beside its payload.
    private static let packetOverhead: Int64 = 1 << 10

    /// The last frames of a range, as many as are read at a time to be copied, one at least.
    public func readBlock(endOf frames: Range<Int>) -> Range<Int> {
        var (first, bytes) = (frames.upperBound, Int64(0))
        while first > frames.lowerBound {
            bytes += packetBytes(of: first - 1)
            guard first == frames.upperBound || bytes <= VideoTrack.readBlockBytes else { break }
            first -= 1
        }
        return first..<frames.upperBound
    }

    /// Bytes that the packet of a frame takes in memory.
    func packetBytes(of frame: Int) -> Int64 {
        Int64(packets[Int(frames[frame].packet)].size) + VideoTrack.packetOverhead
    }
}

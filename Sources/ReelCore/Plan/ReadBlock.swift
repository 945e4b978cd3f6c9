extension VideoTrack {
    /// The size of a read block in bytes, unless a single packet is larger. Files are read forwards, so passthrough
    /// reads a block at a time.
    static let readBlockBytes: Int64 = 16 << 20
    /// Bytes that a packet takes in memory beside its payload.
    private static let packetOverhead: Int64 = 1 << 10

    /// The last frames of a range whose packets make a read block; at least one frame.
    public func readBlock(endOf frames: Range<Int>) -> Range<Int> {
        var (first, bytes) = (frames.upperBound, Int64(0))
        while first > frames.lowerBound {
            bytes += packetBytes(of: first - 1)
            guard first == frames.upperBound || bytes <= VideoTrack.readBlockBytes else { break }
            first -= 1
        }
        return first..<frames.upperBound
    }

    /// Bytes that a frame's packet takes in memory.
    func packetBytes(of frame: Int) -> Int64 {
        Int64(packets[Int(frames[frame].packet)].size) + VideoTrack.packetOverhead
    }
}

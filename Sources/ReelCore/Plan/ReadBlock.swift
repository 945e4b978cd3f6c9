extension VideoTrack {
    /// The size of a read block in bytes, unless a single packet is larger. Files are read forwards, so passthrough
    /// reads a block at a time.
    static let readBlockBytes: Int64 = 16 << 20
    /// Bytes that a packet takes in memory beside its payload.
    private static let packetOverhead: Int64 = 1 << 10

    /// The frames of a range that come first in a direction, and whose packets make a read block; at least one frame.
    package func readBlock(of frames: Range<Int>, _ direction: Direction) -> Range<Int> {
        var (count, bytes) = (0, Int64(0))
        for frame in direction.order(frames) {
            bytes += packetBytes(of: frame)
            guard count == 0 || bytes <= VideoTrack.readBlockBytes else { break }
            count += 1
        }
        return direction == .forwards ? frames.prefix(count) : frames.suffix(count)
    }

    /// Bytes that a frame's packet takes in memory.
    func packetBytes(of frame: Int) -> Int64 {
        Int64(packets[Int(frames[frame].packet)].size) + VideoTrack.packetOverhead
    }
}

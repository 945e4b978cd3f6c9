internal import ReelCore

/// Reads a track's composition offsets one after the other: by how much each sample is shown later than it is decoded
/// (ISO 14496-12 8.6.1.3).
struct CompositionOffsets {
    /// The number of samples in the track.
    let samples: Int
    private let read: MovieBoxes.Read
    /// The part of the table that is not read yet; nil if the track has no table.
    private var rest: Range<Int64>?
    private var chunk: [UInt8] = []
    private var place = 0
    private var offset: Int64 = 0
    private var repeats = 0

    /// Nil if the file has no such track, or if an edit list shows more than one piece of it: demuxers then do not give
    /// the track's samples in their order.
    init?(track id: Int, _ read: @escaping MovieBoxes.Read) throws(ReelFailure) {
        guard let track = try MovieBoxes.track(id, read),
            let table = try MovieBoxes.content(of: "mdia", "minf", "stbl", in: track, read),
            let sizes = try MovieBoxes.content(of: "stsz", in: table, read),
            try Self.showsOnePiece(track, read)
        else { return nil }
        // The box holds version and flags, the size of all samples or 0, their number (8.7.3.2).
        let header = try read(sizes.lowerBound, 12)
        guard header.count == 12 else { return nil }
        samples = header.bigEndian(at: 8, bytes: 4)
        self.read = read
        // Skips version and flags, and the number of entries.
        rest = try MovieBoxes.content(of: "ctts", in: table, read).map { $0.dropFirst(8) }
    }

    /// Whether the edit list (8.6.6) has at most one entry that shows media.
    private static func showsOnePiece(
        _ track: Range<Int64>, _ read: @escaping MovieBoxes.Read
    ) throws(ReelFailure) -> Bool {
        guard let edits = try MovieBoxes.content(of: "edts", "elst", in: track, read) else { return true }
        let list = try read(edits.lowerBound, 48)
        guard list.count >= 8 else { return false }
        let (isLong, count) = (list[0] == 1, list.bigEndian(at: 4, bytes: 4))
        guard count == 2 else { return count < 2 }
        // An entry has its duration, then its time in the media; -1 as the first time only delays the second entry.
        let (time, length) = isLong ? (16, 8) : (12, 4)
        return list.count >= time + length && list[time..<time + length].allSatisfy { $0 == 0xff }
    }

    /// The offset of the next sample in the track's time base; 0 if there is no table, nil after its end.
    mutating func next() throws(ReelFailure) -> Int64? {
        while repeats == 0 {
            if place == chunk.count {
                guard let table = rest else { return 0 }
                chunk = try read(table.lowerBound, Int(min(Self.chunkSize, Int64(table.count))))
                rest = table.dropFirst(Self.chunkSize)
                place = 0
            }
            guard place + 8 <= chunk.count else { return nil }
            repeats = chunk.bigEndian(at: place, bytes: 4)
            offset = Int64(Int32(truncatingIfNeeded: chunk.bigEndian(at: place + 4, bytes: 4)))
            place += 8
        }
        repeats -= 1
        return offset
    }

    /// The number of bytes read at once, a multiple of an entry's size.
    private static let chunkSize: Int64 = 8 << 10
}

extension Range<Int64> {
    fileprivate var count: Int64 { upperBound - lowerBound }
    fileprivate func dropFirst(_ length: Int64) -> Self { Swift.min(lowerBound + length, upperBound)..<upperBound }
}

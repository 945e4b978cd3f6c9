internal import ReelCore

/// A box of an MP4 or QuickTime file (ISO 14496-12 4.2).
struct MovieBox {
    let kind: String
    let content: Range<Int64>
}

/// Reads the boxes of a file, or those inside one box, one after the other.
struct MovieBoxes {
    /// Reads `count` bytes at an offset, fewer at the end of the file.
    typealias Read = (_ offset: Int64, _ count: Int) throws(ReelFailure) -> [UInt8]

    private var place: Int64
    private let end: Int64
    private let read: Read

    init(in range: Range<Int64> = 0..<Int64.max, _ read: @escaping Read) {
        (place, end, self.read) = (range.lowerBound, range.upperBound, read)
    }

    /// The next box; nil after the last, or if damage hides the next one, which stops libavformat, too.
    mutating func next() throws(ReelFailure) -> MovieBox? {
        guard place < end else { return nil }
        let head = try read(place, 16)
        guard head.count >= 8 else { return nil }
        let short = Int64(head.bigEndian(at: 0, bytes: 4))
        let isLong = short == 1 && head.count == 16
        let size = isLong ? Int64(head.bigEndian(at: 8, bytes: 8)) : short
        // A box of size 0 lasts to the end of the file, so none follows. Another size below that of its head is damage.
        let (next, isBeyond) = place.addingReportingOverflow(size)
        let length: Int64 = isLong ? 16 : 8
        guard size >= length, !isBeyond else { return nil }
        defer { place = next }
        return MovieBox(kind: String(decoding: head[4..<8], as: UTF8.self), content: place + length..<next)
    }

    mutating func first(_ kind: String) throws(ReelFailure) -> MovieBox? {
        while let box = try next() {
            if box.kind == kind { return box }
        }
        return nil
    }

    /// The content of the box at a path of kinds, from the outermost box to the one itself; nil if there is none.
    static func content(
        of path: String..., in range: Range<Int64>, _ read: @escaping Read
    ) throws(ReelFailure) -> Range<Int64>? {
        var found = range
        for kind in path {
            var boxes = MovieBoxes(in: found, read)
            guard let box = try boxes.first(kind) else { return nil }
            found = box.content
        }
        return found
    }

    /// Whether the tables of the movie box list every packet of the file. They do not if it has fragments, which have
    /// tables of their own.
    static func listEverything(_ read: @escaping Read) throws(ReelFailure) -> Bool {
        var boxes = MovieBoxes(read)
        while let box = try boxes.next() {
            if ["moof", "sidx", "mfra"].contains(box.kind) { return false }
            if box.kind == "moov", try content(of: "mvex", in: box.content, read) != nil { return false }
        }
        return true
    }

    /// The content of the track box of a track; nil if there is no such track.
    static func track(_ id: Int, _ read: @escaping MovieBoxes.Read) throws(ReelFailure) -> Range<Int64>? {
        guard let movie = try MovieBoxes.content(of: "moov", in: 0..<Int64.max, read) else { return nil }
        var boxes = MovieBoxes(in: movie, read)
        while let track = try boxes.first("trak")?.content {
            guard let header = try MovieBoxes.content(of: "tkhd", in: track, read) else { continue }
            // The box holds version and flags, two times of 32 bits (64 in version 1), the track's id (8.3.2.2).
            let bytes = try read(header.lowerBound, 24)
            if bytes.count == 24, bytes.bigEndian(at: bytes[0] == 1 ? 20 : 12, bytes: 4) == id { return track }
        }
        return nil
    }

    /// Whether a track is encrypted by its description (ISO 14496-12 8.12): its sample entry has the name of a
    /// protected one.
    static func encrypts(track id: Int, _ read: @escaping Read) throws(ReelFailure) -> Bool {
        guard let track = try track(id, read),
            let description = try content(of: "mdia", "minf", "stbl", "stsd", in: track, read)
        else { return false }
        // Version and flags, and the number of entries.
        var entries = MovieBoxes(in: description.dropFirst(8), read)
        while let entry = try entries.next() {
            if ["encv", "enca", "drmi", "drms"].contains(entry.kind) { return true }
        }
        return false
    }
}

/// Reads a track's composition offsets one after the other: by how much each sample is shown later than it is decoded
/// (ISO 14496-12 8.6.1.3).
struct CompositionOffsets {
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
            let sizes = try MovieBoxes.content(of: "stsz", in: table, read), try Self.showsOnePiece(track, read)
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
                chunk = try read(table.lowerBound, min(Self.chunkSize, table.count))
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
    private static let chunkSize = 8 << 10
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The unsigned big-endian number of `bytes` bytes at an offset. All of them must be inside the collection.
    func bigEndian(at offset: Int, bytes: Int) -> Int { self[offset..<offset + bytes].reduce(0) { $0 << 8 | Int($1) } }
}

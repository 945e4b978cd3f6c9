internal import ReelCore

/// A box of an MP4 or QuickTime file (ISO 14496-12 4.2).
struct MovieBox {
    let kind: String
    /// The place of its content in the file.
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

    /// The next box of a kind.
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
}

internal import ReelCore

/// The outermost boxes of an MP4 or QuickTime file (ISO 14496-12 4.2).
enum MovieBoxes {
    /// Whether the tables of the movie box list every packet there is: the file has no fragments, which bring tables of
    /// their own. `read` gives so many bytes at an offset, fewer at the end of the file.
    static func listEverything(
        _ read: (_ offset: Int64, _ count: Int) throws(ReelFailure) -> [UInt8]
    ) throws(ReelFailure) -> Bool {
        try holdNone(of: ["moof", "sidx", "mfra"], from: 0, to: .max, read)
    }

    private static func holdNone(
        of kinds: Set<String>, from start: Int64, to end: Int64,
        _ read: (Int64, Int) throws(ReelFailure) -> [UInt8]
    ) throws(ReelFailure) -> Bool {
        var place = start
        while place < end {
            let head = try read(place, 16)
            guard head.count >= 8 else { return true }
            let kind = String(decoding: head[4..<8], as: UTF8.self)
            if kinds.contains(kind) { return false }
            let short = head[..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let isLong = short == 1 && head.count == 16
            let size = isLong ? head[8...].reduce(Int64(0)) { $0 << 8 | Int64($1) } : short
            // 0 lasts to the end of the file; anything else below its own head is damage, where libavformat stops, too.
            let (next, isBeyond) = place.addingReportingOverflow(size)
            guard size >= (isLong ? 16 : 8), !isBeyond else { return true }
            if kind == "moov", try !holdNone(of: ["mvex"], from: place + (isLong ? 16 : 8), to: next, read) {
                return false
            }
            place = next
        }
        return true
    }
}

internal import Glibc
public import ReelCore

/// The file that names an assembly's segments, a line of JSON each: it can be read while it grows.
public final class SegmentListFile: Sendable {
    public let path: String

    /// Creates the file empty, or empties it.
    public init(path: String) throws(ReelFailure) {
        self.path = path
        try AtomicFile.write([], to: path)
    }

    public func append(_ records: [SegmentRecord]) throws(ReelFailure) {
        var lines: [UInt8] = []
        for record in records { lines += try AtomicFile.json(of: record) + [UInt8(ascii: "\n")] }
        do {
            try Descriptor(regular: path, O_WRONLY | O_APPEND).write(lines[...])
        } catch {
            throw ReelFailure(.segmentListUnwritable(path: path, errno: error.value))
        }
    }
}

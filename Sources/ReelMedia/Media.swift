internal import CFFmpeg
internal import Crypto
internal import Foundation
internal import Glibc
package import ReelCore

/// Set-up that an engine does once, and the files that it shares with its callers.
package enum Media {
    /// Limits the log output of libav*, and of encoders that print past it, to errors. Keeps threads from reserving
    /// address space, and keeps freed memory for reuse.
    package static func prepare() {
        reel_set_heaps()
        reel_set_stacks()
        av_log_set_level(AV_LOG_ERROR)
        LoggedErrors.listen()
        setenv("SVT_LOG", "0", 0)
    }

    /// Returns the freed memory that is kept for reuse to the system.
    package static func rest() { reel_empty_heaps() }

    /// Keeps blocks that are larger than a decoded picture out of the heaps. Those are an encoder's own pictures: the system
    /// gives and takes back each of them. In the heaps, they would leave gaps between decoded pictures, and after a window
    /// of another length neither kind would fit into the gaps.
    ///
    /// - Parameter bytes: those of a decoded picture.
    static func keepInHeaps(pictures bytes: Int64) {
        // A decoder allocates a picture's planes with room around them.
        reel_set_largest_in_heaps(Int(clamping: max(bytes + bytes / 4, 1 << 20)))
    }

    /// The encoder builds of this FFmpeg, as plans name them.
    package static var encoderBuilds: [String] { EncoderBuilds.all }

    /// Writes an index and returns the SHA-256 of the file, in hexadecimal.
    package static func write(_ index: SourceIndex, to locator: Locator) throws(ReelFailure) -> String {
        let bytes = index.encoded()
        try locator.write(bytes)
        return Hexadecimal.text(SHA256.hash(data: bytes))
    }

    /// Reads an index. Throws `.indexMissing` if the file's SHA-256, in hexadecimal, is not the given one; nil accepts
    /// any.
    package static func index(_ locator: Locator, hash: String? = nil) throws(ReelFailure) -> SourceIndex {
        let bytes = try locator.bytes()
        if let hash, Hexadecimal.text(SHA256.hash(data: bytes)) != hash {
            throw ReelFailure(.indexMissing(hash: hash, folder: locator.name))
        }
        return try SourceIndex(decoding: bytes)
    }

    /// Reads a plan. Throws `.planOfOtherVersion` for a plan of another version.
    package static func plan(_ locator: Locator) throws(ReelFailure) -> Plan {
        let bytes = try locator.bytes()
        do {
            return try Plan.decoded(from: bytes)
        } catch let failure as ReelFailure {
            throw failure
        } catch {
            throw ReelFailure(.jobFileUnreadable(path: locator.name, said: "\(error)"))
        }
    }
}

extension PlannedSegments {
    /// The contents that a plan's segments must have; `indexes` are those from which it was made.
    init(plan: Plan, indexes: [SourceIndex]) {
        self.init(plan: plan, indexes: indexes) { Hexadecimal.text(SHA256.hash(data: $0)) }
    }
}

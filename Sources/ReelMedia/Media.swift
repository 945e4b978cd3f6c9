internal import CFFmpeg
internal import Crypto
internal import Foundation
internal import Glibc
public import ReelCore

/// What an engine does once, and the files it shares with those who start it.
public enum Media {
    /// Quietens libav*, and the encoders that print past it, to their errors; keeps threads from reserving addresses, and
    /// memory that was used once for the next use.
    public static func prepare() {
        reel_set_heaps()
        reel_set_stacks()
        av_log_set_level(AV_LOG_ERROR)
        DecoderLog.listen()
        setenv("SVT_LOG", "0", 0)
    }

    /// Gives back what memory is kept for the next use.
    public static func rest() { reel_empty_heaps() }

    /// The encoders that this FFmpeg has, as plans name them.
    public static var encoderBuilds: [String] { EncoderTraits.builds }

    /// Writes an index; returns the SHA-256 of the file, in hexadecimal.
    public static func write(_ index: SourceIndex, to path: String) throws(ReelFailure) -> String {
        let bytes = index.encoded()
        try Files.write(bytes, to: path)
        return hexadecimal(SHA256.hash(data: bytes))
    }

    /// Throws `.indexMissing` where the file is another than the one with this SHA-256, in hexadecimal; nil takes any.
    public static func index(_ path: String, hash: String? = nil) throws(ReelFailure) -> SourceIndex {
        let bytes = try Files.read(path)
        if let hash, hexadecimal(SHA256.hash(data: bytes)) != hash {
            throw ReelFailure(.indexMissing(hash: hash, folder: path))
        }
        return try SourceIndex(decoding: bytes)
    }

    /// Throws `.planOfOtherVersion` for a plan of another version.
    public static func plan(_ path: String) throws(ReelFailure) -> Plan {
        let bytes = try Files.read(path)
        do {
            return try Plan.decoded(from: bytes)
        } catch let failure as ReelFailure {
            throw failure
        } catch {
            throw ReelFailure(.jobFileUnreadable(path: path, said: "\(error)"))
        }
    }
}

extension PlannedSegments {
    /// What the segments of a plan are to be; `indexes` are those that it was made from.
    init(plan: Plan, indexes: [SourceIndex]) {
        self.init(plan: plan, indexes: indexes) { hexadecimal(SHA256.hash(data: $0)) }
    }
}

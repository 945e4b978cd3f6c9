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

    /// Keeps blocks that are larger than a decoded picture out of the heaps. Those are an encoder's own pictures: the
    /// system gives and takes back each of them. In the heaps, they would leave gaps between decoded pictures, and
    /// after a window of another length neither kind would fit into the gaps.
    /// `bytes` is the size of a decoded picture.
    static func keepInHeaps(pictures bytes: Int64) {
        // A decoder allocates a picture's planes with room around them.
        reel_set_largest_in_heaps(Int(clamping: max(bytes + bytes / 4, 1 << 20)))
    }

    /// The encoder builds of this FFmpeg, as plans name them.
    package static var encoderBuilds: [String] {
        let names =
            EncoderTraits.all.filter(\.isListed).map(\.name) + AudioEncoderTraits.all.filter(\.isReported).map(\.name)
        return (names.filter { avcodec_find_encoder_by_name($0) != nil } + [VideoTarget.copy]).map(
            EncoderIdentity.build)
    }

    /// Writes an index and returns the SHA-256 of the file, in hexadecimal. The store that keeps it makes it durable.
    package static func write(_ index: SourceIndex, to locator: Locator) throws(ReelFailure) -> String {
        let bytes = index.encoded()
        try locator.write(bytes, isDurable: false)
        return sha256(of: bytes)
    }

    /// Reads an index. Throws `.indexMissing` if the file's SHA-256, in hexadecimal, is not the given one; nil accepts
    /// any.
    package static func index(_ locator: Locator, hash: String? = nil) throws(ReelFailure) -> SourceIndex {
        let bytes = try locator.bytes()
        if let hash, sha256(of: bytes) != hash { throw ReelFailure(.indexMissing(hash: hash, folder: locator.name)) }
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
    /// The contents that a plan's segments must have; `indexes` are the ones from which the plan was made.
    init(plan: Plan, indexes: [SourceIndex]) { self.init(plan: plan, indexes: indexes) { sha256(of: $0) } }
}

/// A source of a job: its file and its index.
package struct IndexedSource: Sendable {
    package let locator: Locator
    package let index: SourceIndex

    package init(_ locator: Locator, index: SourceIndex) { (self.locator, self.index) = (locator, index) }
}

/// The limit on this process's address space.
package enum AddressLimit {
    /// Limits the address space to a number of bytes. Beyond it an allocation fails, and the pass with it, instead of
    /// the machine. The limit is a soft one: an encoder that does not survive a refusal while it starts may exceed it.
    ///
    /// Call it before the process is confined: it opens a file of /proc.
    package static func set(_ bytes: UInt64) {
        _ = statistics
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(bytes), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    }

    /// Runs `body`, with the limit raised if `isAllowed`. Also returns whether the process is within the limit
    /// afterwards.
    @discardableResult
    static func exceed<R>(if isAllowed: Bool, _ body: () -> R) -> (result: R, isWithin: Bool) {
        guard isAllowed, var limit = lowered else { return (body(), true) }
        var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &raised)
        let result = body()
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        return (result, bytes() <= limit.rlim_cur)
    }

    /// Whether so little of the address space is left that an allocation may just have failed: an eighth of the limit,
    /// or 64 MiB if that is more. Encoders ask for whole pictures at once, and do not all say that they got none.
    static var isNearlyReached: Bool {
        guard let limit = lowered else { return false }
        return bytes() >= limit.rlim_cur - min(limit.rlim_cur, max(64 << 20, limit.rlim_cur / 8))
    }

    /// The limit, if it is lower than it may be.
    private static var lowered: rlimit? {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        return isKnown && limit.rlim_cur != limit.rlim_max ? limit : nil
    }

    /// Descriptor of the kernel's figures about this process's memory.
    private static let statistics = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

    /// Bytes of address space that the process has; 0 if /proc cannot be read.
    private static func bytes() -> UInt64 {
        var line = [UInt8](repeating: 0, count: 128)
        let count = pread(statistics, &line, line.count, 0)
        guard count > 0 else { return 0 }
        let pages = String(decoding: line[..<count], as: UTF8.self).split(separator: " ").first.flatMap { UInt64($0) }
        return (pages ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// SHA-256 in hexadecimal.
func sha256(of bytes: some DataProtocol) -> String { Hexadecimal.text(SHA256.hash(data: bytes)) }

/// Runs `body` and adds the seconds that it took to `seconds`.
func measured<R>(_ seconds: inout Double, _ body: () throws(ReelFailure) -> R) throws(ReelFailure) -> R {
    let start = ContinuousClock.now
    defer { seconds += (ContinuousClock.now - start) / .seconds(1) }
    return try body()
}

/// The peak of this process's resident memory so far, in bytes.
package func peakResidentBytes() -> Int64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int64(usage.ru_maxrss) * 1024
}

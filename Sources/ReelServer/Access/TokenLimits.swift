internal import Foundation
internal import HTTPTypes
internal import ReelCore
internal import ReelJobs
internal import ReelStore

/// What each token may have at a time: jobs that have not ended, and bytes in the store. Callers without a token share one
/// name.
actor TokenLimits {
    private let jobs: JobService
    private let store: FolderStore
    private let access: StoreAccess
    private let (mostJobs, mostBytes): (Int?, Int64?)
    /// What each name had in the store when that was last looked at, with what it was let have since.
    private var kept: (bytes: [String: Int64], at: ContinuousClock.Instant)?

    /// Every record of the store is read for it.
    private static let memory = Duration.seconds(60)

    init(_ settings: ServerSettings, jobs: JobService, store: FolderStore, access: StoreAccess) {
        self.jobs = jobs
        self.store = store
        self.access = access
        (mostJobs, mostBytes) = (settings.jobsPerToken, settings.bytesPerToken)
    }

    /// The name of a token, as its jobs have it; that of callers without one if it is nil.
    static func name(_ token: String?) -> String { token ?? "reel-server" }

    /// Throws a problem if a token may have no further job now.
    func admitJob(of token: String?) async throws {
        guard let mostJobs else { return }
        let name = TokenLimits.name(token)
        let found = try await jobs.unfinishedJobs(of: name)
        guard found < mostJobs else {
            throw Problem(
                .tooManyRequests, "token-jobs-exceeded", "The token has too many jobs",
                detail: "\(name) has \(found) jobs that have not ended; it may have \(mostJobs). "
                    + "Wait for one to end, or cancel one.", retryAfter: 30)
        }
    }

    /// Throws a problem if a token's uploads and results would then have too many bytes.
    ///
    /// - Parameter further: bytes that are to come; 0 if that is not known.
    func admitBytes(_ further: Int64, of token: String?) async throws {
        guard let mostBytes else { return }
        let name = TokenLimits.name(token)
        if kept.map({ $0.at + TokenLimits.memory < .now }) ?? true {
            let bytes = try await access.use { [store] in try TokenLimits.bytes(in: store) }
            kept = (bytes, .now)
        }
        let found = kept?.bytes[name] ?? 0
        guard found < mostBytes, further <= mostBytes - found else {
            throw Problem(
                .insufficientStorage, "token-bytes-exceeded", "The token has too many bytes in the store",
                detail: "\(name) has \(found) bytes of uploads and results, and asks for \(further); it may have "
                    + "\(mostBytes). Remove jobs or uploads.")
        }
        kept?.bytes[name, default: 0] += further
    }

    /// Bytes of each name: its uploads, the results of its jobs, and the files of its jobs' uploads while they have not ended.
    private static func bytes(in store: FolderStore) throws -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for (owner, bytes) in try store.uploads.bytesByOwner() { sums[name(owner), default: 0] += bytes }
        for id in try store.jobs() {
            // One that cannot be read, or is being removed, counts no more.
            guard let record = try? store.job(id).read(), let submitter = record.submission?.submitter else { continue }
            let name = submitter.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(
                separator: "@")
            let sources = record.state == nil ? record.sources.filter { $0.staged != nil } : []
            sums[name, default: 0] += sources.reduce(record.result?.bytes ?? 0) { $0 + $1.fingerprint.size }
        }
        return sums
    }
}

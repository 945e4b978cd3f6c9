internal import Foundation
internal import HTTPTypes
internal import ReelCore
internal import ReelJobs
internal import ReelStore

/// Limits what each token has at a time: jobs that have not ended, and bytes in the store. Callers without a token
/// share one name.
actor TokenLimits {
    private let jobs: JobService
    private let store: any JobStore
    private let uploads: Uploads
    private let access: StoreAccess
    private let (mostJobs, mostBytes): (Int?, Int64?)
    /// The bytes that each name had in the store at the last look, and the bytes that it was granted since.
    private var kept: [String: Int64] = [:]
    /// The part of them in results, at the last look.
    private var results: [String: Int64] = [:]
    private var looked: ContinuousClock.Instant?
    /// The waiting requests of each name that has a request at work.
    private var turns: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// How old a look may be, since it reads every record of the store: usually, and before a name is refused.
    private static let memory = (usual: Duration.seconds(60), refusing: Duration.seconds(2))

    init(_ settings: ServerSettings, jobs: JobService, store: any JobStore, uploads: Uploads, access: StoreAccess) {
        (self.jobs, self.store, self.uploads, self.access) = (jobs, store, uploads, access)
        (mostJobs, mostBytes) = (settings.jobsPerToken, settings.bytesPerToken)
    }

    /// The name of a token, as its jobs have it; nil stands for callers without one.
    static func name(_ token: String?) -> String { token ?? "reel-server" }

    /// The name of a job's submitter, without the host.
    static func name(ofSubmitter submitter: String) -> String {
        submitter.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
    }

    // MARK: Turns

    /// Runs work that asks for room and then takes it, so that each request of a token sees the room that earlier ones
    /// have taken.
    func inTurn<Result: Sendable>(
        of token: String?, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard mostJobs != nil || mostBytes != nil else { return try await body() }
        let name = TokenLimits.name(token)
        if turns[name] == nil {
            turns[name] = []
        } else {
            await withCheckedContinuation { turns[name, default: []].append($0) }
        }
        defer {
            if turns[name]?.isEmpty == false { turns[name]?.removeFirst().resume() } else { turns[name] = nil }
        }
        return try await body()
    }

    /// Runs work that begins a job: a new one, or one that has ended. Throws a problem if the token may not have
    /// another job now. Requests of the token at other servers of the store wait, too.
    ///
    /// - Parameter going: the answer if no job is to begin, since it runs already, or is done; nil if one is.
    func beginningJob<Result: Sendable>(
        of token: String?, unless going: @Sendable () async throws -> Result? = { nil },
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard mostJobs != nil || mostBytes != nil else { return try await body() }
        return try await inTurn(of: token) {
            let lock: FileLock? =
                if mostJobs != nil {
                    try await access.use { [uploads] in try uploads.lock(owner: TokenLimits.name(token)) }
                } else { nil }
            defer { lock?.release() }
            if let going = try await going() { return going }
            try await admitJob(of: token)
            try await admitBytes(0, of: token)
            return try await body()
        }
    }

    // MARK: Room

    private func admitJob(of token: String?) async throws {
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

    /// Throws a problem if a token's uploads and results would then have too many bytes. Call it in the token's turn.
    ///
    /// Other servers of the store may have granted the token more since the last look. So the caller must not exceed
    /// the returned bytes, which all uploads of the token may have together; nil if there is no limit.
    ///
    /// - Parameter further: the bytes that will come; 0 if unknown.
    @discardableResult
    func admitBytes(_ further: Int64, of token: String?) async throws -> Int64? {
        guard let mostBytes else { return nil }
        let name = TokenLimits.name(token)
        try await look(for: name, ifOlderThan: TokenLimits.memory.usual)
        // Uploads may have been removed just now.
        if excess(further, name) != nil { try await countUploads(of: name) }
        if excess(further, name) != nil { try await look(for: name, ifOlderThan: TokenLimits.memory.refusing) }
        if let excess = excess(further, name) { throw excess }
        kept[name, default: 0] += further
        return mostBytes - (results[name] ?? 0)
    }

    /// The problem of a token for whose granted bytes there was no room; nil if the token's limit is not the reason.
    /// Looks at its uploads alone. Call it in the token's turn.
    func bytesExceeded(_ further: Int64, of token: String?) async throws -> Problem? {
        guard mostBytes != nil else { return nil }
        let name = TokenLimits.name(token)
        try await countUploads(of: name)
        return excess(further, name)
    }

    /// Counts the bytes of a name's uploads anew, and not those of its results.
    private func countUploads(of name: String) async throws {
        let found = try await access.use { [uploads] in try uploads.bytesByOwner() }
        kept[name] = found.reduce(results[name] ?? 0) { $0 + (TokenLimits.name($1.key) == name ? $1.value : 0) }
    }

    private func excess(_ further: Int64, _ name: String) -> Problem? {
        let found = kept[name] ?? 0
        guard let mostBytes, found >= mostBytes || further > mostBytes - found else { return nil }
        return Problem(
            .insufficientStorage, "token-bytes-exceeded", "The token has too many bytes in the store",
            detail: "\(name) has \(found) bytes of uploads and results, and asks for \(further); it may have "
                + "\(mostBytes). Remove jobs or uploads.")
    }

    /// Looks how many bytes each name has, unless the last look is recent. Bytes granted to other names meanwhile may
    /// not be in the store yet: for them the greater number counts.
    private func look(for name: String, ifOlderThan age: Duration) async throws {
        guard looked.map({ $0 + age < .now }) ?? true else { return }
        let before = kept
        let found = try await access.use { [store, uploads] in try await TokenLimits.bytes(in: store, uploads) }
        let changing = kept.filter { $0.key != name && (turns[$0.key] != nil || $0.value != before[$0.key]) }
        (kept, results, looked) = (found.all.merging(changing) { max($0, $1) }, found.results, .now)
    }

    /// How many bytes each name has in the store: in its uploads, in removed uploads that a job still uses, and in
    /// results.
    private static func bytes(
        in store: any JobStore, _ uploads: Uploads
    ) async throws -> (all: [String: Int64], results: [String: Int64]) {
        var results: [String: Int64] = [:]
        for id in try await store.jobs() {
            // A job that cannot be read, or is being removed, does not count.
            guard let outline = try? await store.job(id).outline(), let bytes = outline.recorded?.bytes,
                let submitter = outline.submission?.submitter
            else { continue }
            results[name(ofSubmitter: submitter), default: 0] += bytes
        }
        var all = results
        for (owner, bytes) in try uploads.bytesByOwner() { all[name(owner), default: 0] += bytes }
        return (all, results)
    }
}

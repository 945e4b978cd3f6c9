internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Tells an assembly which segments to join: first those of the passes that are finished, then the others as they come.
/// So an assembly can begin while other workers still work at passes.
actor AssemblyFeed {
    private let job: JobID
    private let board: any Board
    private let entry: any JobEntry
    private let store: any JobStore
    private let clock: WorkerClock
    /// Passes whose segments have not been named.
    private var missing: Set<Int>
    private var hasBegun = false

    init(job: JobID, passCount: Int, board: any Board, store: any JobStore, clock: WorkerClock) {
        self.job = job
        self.board = board
        entry = store.job(job)
        self.store = store
        self.clock = clock
        missing = Set(0..<passCount)
    }

    /// The next segments, when there are any; nil when all are named. Throws `.interrupted` if a pass waits for another
    /// attempt, because the slot that waits here could do it; and if the job is paused, because the slot could work at
    /// another job.
    func next() async throws(ReelFailure) -> [StoredSegment]? {
        guard !missing.isEmpty else { return nil }
        let finished = hasBegun ? try await next(of: missing) : try await board.results(job)
        let results = finished.filter { missing.contains($0.key) }
        hasBegun = true
        try await waitUntilVisible(results)
        missing.subtract(results.keys)
        return entry.stored(results.sorted { $0.key < $1.key }.flatMap(\.value.segments))
    }

    private func next(of missing: Set<Int>) async throws(ReelFailure) -> [Int: PassResult] {
        while true {
            guard await clock.sleep(for: .milliseconds(200)) else { throw ReelFailure(.interrupted) }
            do throws(ReelFailure) {
                let results = try await board.results(job, at: missing.sorted())
                if !results.isEmpty { return results }
                guard try await board.retries(job) == 0 else { throw ReelFailure(.passesWait(job: job)) }
                try await checkNotPaused()
            } catch  where error.kind != .interrupted && error.cause == .transient {
                // Redis is out of reach. The workers at the passes go on, and so does this assembly.
                continue
            }
        }
    }

    /// Waits up to 60 s if another host's files may become visible here only later, as on NFS. Throws `.segmentMissing`
    /// for a segment that is not there then.
    private func waitUntilVisible(_ results: [Int: PassResult]) async throws(ReelFailure) {
        let showsWritesLate = await store.showsWritesLate
        let deadline = clock.now + .seconds(showsWritesLate ? 60 : 0)
        while let (pass, missing) = await firstMissing(of: results) {
            guard clock.now < deadline else {
                throw ReelFailure(.segmentMissing(segment: missing.name.text, pass: pass))
            }
            guard await clock.sleep(for: .seconds(1)) else { throw ReelFailure(.interrupted) }
        }
    }

    private func firstMissing(
        of results: [Int: PassResult]
    ) async -> (pass: Int, segment: SegmentRecord)? {
        let missing = Set(await entry.missingSegments(of: results.values.flatMap(\.segments)).map(\.name))
        for (pass, result) in results {
            if let segment = result.segments.first(where: { missing.contains($0.name) }) { return (pass, segment) }
        }
        return nil
    }

    private func checkNotPaused() async throws(ReelFailure) {
        guard let status = try? await board.status(job), status.isPaused else { return }
        throw ReelFailure(.jobHeldBack(job: job))
    }
}

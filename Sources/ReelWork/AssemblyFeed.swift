internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Tells an assembly which segments to join: first those of the passes that are finished, then the others as they come.
/// So an assembly can begin while other workers still work at passes.
struct AssemblyFeed: Sendable {
    let job: JobID
    let passCount: Int
    let board: any Board
    let folder: JobFolder
    let list: SegmentListFile
    let clock: WorkerClock

    /// Returns when all segments are named. Throws `.interrupted` if a pass waits for another attempt, because the slot
    /// that waits here could do it; and if the job is held back, because the slot could work at another job.
    func run() async throws(ReelFailure) {
        var missing = Set(0..<passCount)
        var results = try await board.results(job).filter { missing.contains($0.key) }
        while true {
            try await waitUntilVisible(results)
            try list.append(results.sorted { $0.key < $1.key }.flatMap(\.value.segments))
            missing.subtract(results.keys)
            if missing.isEmpty { return }
            results = try await next(of: missing)
        }
    }

    private func next(of missing: Set<Int>) async throws(ReelFailure) -> [Int: PassResult] {
        while true {
            guard await clock.sleep(for: .milliseconds(200)) else { throw ReelFailure(.interrupted) }
            do throws(ReelFailure) {
                let results = try await board.results(job, at: missing.sorted())
                if !results.isEmpty { return results }
                guard try await board.retries(job) == 0 else { throw ReelFailure(.passesWait(job: job)) }
                try await checkNotHeldBack()
            } catch  where error.kind != .interrupted && error.cause == .transient {
                // Redis is out of reach. The workers at the passes go on, and so does this assembly.
                continue
            }
        }
    }

    /// Waits up to 60 s if another host's files may become visible here only later, as on NFS. Throws `.segmentMissing`
    /// for a segment that is not there then.
    private func waitUntilVisible(_ results: [Int: PassResult]) async throws(ReelFailure) {
        let deadline = clock.now + .seconds(folder.store.showsFilesLate ? 60 : 0)
        while let (pass, missing) = firstMissing(of: results) {
            // If this is the job of an early start, the whole job has taken the segments over.
            try await checkNotHeldBack()
            guard clock.now < deadline else {
                throw ReelFailure(.segmentMissing(segment: missing.name.text, pass: pass))
            }
            guard await clock.sleep(for: .seconds(1)) else { throw ReelFailure(.interrupted) }
        }
    }

    private func firstMissing(of results: [Int: PassResult]) -> (pass: Int, segment: SegmentRecord)? {
        let missing = Set(folder.missingSegments(of: results.values.flatMap(\.segments)).map(\.name))
        for (pass, result) in results {
            if let segment = result.segments.first(where: { missing.contains($0.name) }) { return (pass, segment) }
        }
        return nil
    }

    private func checkNotHeldBack() async throws(ReelFailure) {
        guard let status = try? await board.status(job), status.isPaused else { return }
        throw ReelFailure(.jobHeldBack(job: job))
    }
}

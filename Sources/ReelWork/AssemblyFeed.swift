internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Names the segments to an assembly: those of passes that are finished, then the others as they come, since it may
/// begin while passes are still in hand.
struct AssemblyFeed: Sendable {
    let job: JobID
    let passCount: Int
    let board: any Board
    let folder: JobFolder
    let list: SegmentListFile

    /// Returns when all are named. Throws `.interrupted` where passes wait for somebody to take them, since the slot that
    /// waits here could; and where the job is held back, since it could work on another.
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
            guard (try? await Task.sleep(for: .milliseconds(200))) != nil else {
                throw ReelFailure(.interrupted)
            }
            do throws(ReelFailure) {
                let results = try await board.results(job, at: missing.sorted())
                if !results.isEmpty { return results }
                guard try await board.retries(job) == 0 else {
                    throw ReelFailure(.passesWait(job: job))
                }
                try await checkNotHeldBack()
            } catch  where error.kind != .interrupted && error.cause == .transient {
                // Redis is away: whoever is at the passes goes on, and so does this.
                continue
            }
        }
    }

    /// Waits for 60 s where another host's files may be seen here only later, as on NFS. Throws `.segmentMissing` for what
    /// is not there then.
    private func waitUntilVisible(_ results: [Int: PassResult]) async throws(ReelFailure) {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(folder.store.showsFilesLate ? 60 : 0)
        while let (pass, missing) = firstMissing(of: results) {
            // A head's: the whole job has taken them over.
            try await checkNotHeldBack()
            guard clock.now < deadline else {
                throw ReelFailure(.segmentMissing(segment: missing.name.text, pass: pass))
            }
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { throw ReelFailure(.interrupted) }
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

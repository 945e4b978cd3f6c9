internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Names the segments to an assembly: those of passes that are finished, then the others as they come, since it may
/// begin while passes are still in hand.
struct AssemblyFeed: Sendable {
    let job: JobID
    let passCount: Int
    let board: Board
    let folder: JobFolder
    let list: SegmentListFile

    /// Returns when all are named. Throws `.interrupted` where passes wait for somebody to take them, since the slot that
    /// waits here could; and where the job is held back, since it could work on another.
    func run() async throws(ReelFailure) {
        var missing = Set(0..<passCount)
        var results = try await board.results(job).filter { missing.contains($0.key) }
        while true {
            let segments = results.sorted { $0.key < $1.key }.flatMap(\.value.segments)
            try await waitUntilVisible(segments)
            try list.append(segments)
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

    /// On NFS, what another host recorded as done may be seen here only later: it is looked for during 60 s.
    private func waitUntilVisible(_ segments: [SegmentRecord]) async throws(ReelFailure) {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while let missing = folder.missingSegments(of: segments).first {
            // A head's: the whole job has taken them over.
            try await checkNotHeldBack()
            guard clock.now < deadline, (try? await Task.sleep(for: .seconds(1))) != nil else {
                throw ReelFailure(.segmentNotVisible(name: missing.name.text, folder: folder.segments))
            }
        }
    }

    private func checkNotHeldBack() async throws(ReelFailure) {
        guard let status = try? await board.status(job), status.isPaused else { return }
        throw ReelFailure(.jobHeldBack(job: job))
    }
}

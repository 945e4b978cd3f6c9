internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// How an attempt at a pass ends: on the board, in the store, in the log.
struct Settlement: Sendable {
    let work: Work
    let worker: WorkerID
    let board: any Board
    let claimer: Claimer
    let holdings: Holdings
    let drain: Drain
    let log: Logger

    private var claim: Claim { work.assignment.claim }
    private var name: String { work.assignment.description }

    /// Settles the attempt. What the board says to a failure; nil where it was told of none, or did not answer.
    func settle(_ outcome: Result<PassResult, ReelFailure>) async -> FailAnswer? {
        switch (holdings.verdict(on: claim), outcome) {
        case (.lost, _):
            log.warning("lost \(name): its lease had lapsed")
            work.removePartial()
        case (.cancelled, _):
            log.notice("stopped \(name): the job was cancelled")
            work.removePartial()
        case (.drained, .success(let result)), (nil, .success(let result)):
            await complete(result)
        case (.drained, .failure):
            await handBack()
        case (nil, .failure(let failure)) where failure.kind == .interrupted:
            await handBack()
        case (nil, .failure(let failure)) where failure.reason.passToRepeat != nil:
            guard await takeBack(failure) else { return await fail(failure) }
            await handBack()
        case (nil, .failure(let failure)) where failure.reason.disprovesPlan:
            return await disprove(failure)
        case (nil, .failure(let failure)):
            return await fail(failure)
        }
        return nil
    }

    /// Has the passes done again whose segments are not what was recorded: the one that the assembly met, and all whose
    /// files are not there. Whether there were any: the assembly waits for them then, and is not to blame.
    private func takeBack(_ failure: ReelFailure) async -> Bool {
        log.error("\(name) stopped: \(failure.words)")
        let folder = work.assignment.context.folder
        let taken = await insist { () throws(ReelFailure) in
            let wrong = try await board.recordedResults(claim.job).filter { pass, recorded in
                pass == failure.reason.passToRepeat || !folder.missingSegments(of: recorded.result.segments).isEmpty
            }
            return try await board.invalidate(
                claim.job, passes: wrong.map { ($0.key, $0.value.token) }, plan: claim.plan, by: worker, reason: failure
            )
        }
        return taken ?? 0 > 0
    }

    /// Has the whole source decoded and the job planned anew. The disproof is written to the store first, so that the next
    /// probe does not believe the same tables again.
    private func disprove(_ failure: ReelFailure) async -> FailAnswer? {
        work.removePartial()
        log.notice("\(name) stopped: \(failure.words)")
        let record = work.assignment.context.record
        // What began early with a part of the source is of no use then.
        guard record.headBytes == nil else { return await fail(failure, as: .permanent) }
        do throws(ReelFailure) {
            try claimer.store.source(record.source.fingerprint).disprove(failure)
        } catch {
            return await fail(error)
        }
        let isProbed = await insist { () throws(ReelFailure) in
            try await board.disprove(claim, worker: worker, job: record.beginning)
        }
        if isProbed == true { log.notice("job \(claim.job) is planned anew") }
        return nil
    }

    private func complete(_ result: PassResult) async {
        let folder = work.assignment.context.folder
        if work.assignment.isAssembly { await folder.recordEnd(.done, nil, on: board) }
        let answer = await insist { () throws(ReelFailure) in
            try await board.complete(claim, worker: worker, result: result)
        }
        switch answer {
        case .ok?, .duplicate?:
            log.info("finished \(name)")
            guard work.assignment.isAssembly else { return }
            work.removePartial()
            // Whoever asks for the same again gets the result; its parts have served.
            let keeps = work.assignment.context.record.terms.keepsSegments
            do throws(ReelFailure) {
                try folder.removeParts(keepingSegments: keeps)
                let control = JobControl(board: board, store: claimer.store)
                try await control.withdraw(headOf: work.assignment.context.record)
            } catch {
                log.warning("\(error.words)")
            }
        case .late?: log.notice("\(name) had been finished by another worker")
        case .cancelled?: log.notice("\(name) is not needed: the job was cancelled")
        case nil: log.warning("\(name) is whole, but the board could not be told; its next holder will find it")
        }
    }

    private func fail(_ failure: ReelFailure, as cause: FailureCause? = nil) async -> FailAnswer? {
        work.removePartial()
        log.error("\(name) failed (\(failure.cause.rawValue)): \(failure.words)")
        await claimer.heed(failure, in: claim.job)
        let answer = await insist { () throws(ReelFailure) in
            try await board.fail(claim, worker: worker, failure: failure, as: cause)
        }
        if answer == .jobFailed {
            await work.assignment.context.folder.recordEnd(.failed, failure, on: board)
        }
        return answer
    }

    private func handBack() async {
        work.removePartial()
        log.info("hands back \(name)")
        // Once: whoever is in a hurry to end leaves the rest to the lease.
        do { try await board.release(claim) } catch { log.warning("\(error.words)") }
    }

    /// Tries until the board answers, or the pass is no longer ours.
    private func insist<Answer>(_ call: () async throws(ReelFailure) -> Answer) async -> Answer? {
        var outage = Outage(log: log)
        while true {
            do {
                return try await call()
            } catch {
                guard error.cause == .transient, holdings.verdict(on: claim) == nil, !drain.isOn else { return nil }
                // Not cancelled with the engine: what is finished is to be told.
                let pause = outage.pause(after: error)
                await Task.detached { try? await Task.sleep(for: pause) }.value
            }
        }
    }
}

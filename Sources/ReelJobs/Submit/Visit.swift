internal import Foundation
package import ReelCore
package import ReelQueue
internal import ReelStore

/// One who submits a job, from its first look at the board until the job has a plan, or is refused.
struct Visit: Sendable {
    let submit: Submit
    let board: any Board
    let wanted: JobRecord
    /// Unlike any other's.
    private let name: WorkerID

    init(submit: Submit, board: any Board, wanted: JobRecord) {
        self.submit = submit
        self.board = board
        self.wanted = wanted
        let process = ProcessInfo.processInfo
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        name = WorkerID("\(process.hostName)-\(process.processIdentifier)-\(random)")
    }

    private var id: JobID { wanted.id }
    private var store: Store { submit.store }

    /// Where the job stands.
    enum Entry: Sendable {
        case finished(PlacedJob)
        case running(PlacedJob)
        /// It has no plan yet; with a claim this visitor is to make one.
        case probing(Claim?)
    }

    // MARK: Coming

    /// Puts the job on the board unless it is there.
    ///
    /// - Parameter told: hears of the job's state as soon as the board knows the job.
    func enter(told: (JobState) -> Void) async throws(ReelFailure) -> Entry {
        while true {
            if let job = try? PlacedJob(store.job(id)), job.result != nil {
                told(.done)
                return .finished(job)
            }
            // The record is there before anybody can be told of the job, so that anybody can go on with it.
            try store.job(id).create()
            let isNew = try store.job(id).create(wanted)
            // What has ended in the store ends on the board, when a worker sees it: it begins again before it is there.
            if !isNew, try store.job(id).read().state != nil { try submit.take(wanted) }
            switch try await board.begin(wanted.beginning, holder: name) {
            case .begun(let claim):
                told(.probing)
                do throws(ReelFailure) {
                    if !isNew { try submit.take(wanted) }
                    try await attend(claim)
                } catch {
                    await say(goodbye: claim, abandoning: true)
                    throw error
                }
                return .probing(claim)
            case .probing:
                told(.probing)
                try await attend(nil)
                return .probing(nil)
            case .running:
                guard let status = try await board.status(id) else { continue }
                if let job = try? PlacedJob(store.job(id), plan: status.job.plan) {
                    told(status.state)
                    return .running(job)
                }
                // Without its plan in the store nobody can work at it.
                try await board.withdraw(id)
            case .busy:
                try await pause(.milliseconds(100))
            }
        }
    }

    // MARK: Waiting

    /// Probes where that is this visitor's part, and waits for the plan.
    func untilPlanned(_ claim: Claim?) async throws(ReelFailure) -> (job: PlacedJob, outcome: Submission) {
        var claim = claim
        do throws(ReelFailure) {
            while true {
                if let held = claim, let job = try await probe(held) {
                    await say(goodbye: nil, abandoning: false)
                    return (job, job.resumed ? .resumed : .published)
                }
                claim = nil
                switch try await wait() {
                case .planned(let job):
                    await say(goodbye: nil, abandoning: false)
                    return (job, .attached)
                case .free(let taken): claim = taken
                }
            }
        } catch {
            await say(goodbye: claim, abandoning: error.kind != .interrupted)
            throw error
        }
    }

    private enum Sight: Sendable {
        case planned(PlacedJob)
        /// Whoever held the probe let go of it: it is this visitor's now.
        case free(Claim)
    }

    /// Watches others probe.
    private func wait() async throws(ReelFailure) -> Sight {
        while true {
            if let sight = try await board.patiently({ () throws(ReelFailure) in try await look() }) { return sight }
            try await pause(.milliseconds(250))
        }
    }

    private func look() async throws(ReelFailure) -> Sight? {
        guard let status = try await board.status(id) else { throw ReelFailure(.jobForgotten(job: id)) }
        switch status.state {
        case .probing: break
        case .failed where status.isRefused: throw status.failure ?? ReelFailure(.jobForgotten(job: id))
        case .cancelled: throw ReelFailure(.jobCancelled(job: id))
        case .running, .assembling, .done, .failed:
            return .planned(try PlacedJob(store.job(id), plan: status.job.plan))
        }
        // Where no worker is left to do it, whoever waits gives back what the dead held.
        _ = try await board.reap()
        guard try await attend(nil), case .begun(let claim) = try await board.begin(wanted.beginning, holder: name)
        else {
            return nil
        }
        return .free(claim)
    }

    /// A sign of life; whether the probe is free to be taken. Throws where the claim given does not hold it any more.
    @discardableResult
    private func attend(_ claim: Claim?) async throws(ReelFailure) -> Bool {
        let attendance = try await board.attend(id, waiter: name.text, claim: claim)
        guard claim == nil || attendance?.holds == true else { throw ReelFailure(.probeLost(job: id)) }
        return attendance?.isFree ?? false
    }

    // MARK: Probing

    /// Makes a plan and publishes it. Nil where that is another's part by now, or where the source or the request was
    /// refused: then `wait` learns of it, as everybody does.
    private func probe(_ claim: Claim) async throws(ReelFailure) -> PlacedJob? {
        do {
            return try await withThrowingTaskGroup(of: PlacedJob?.self) { group in
                group.addTask { try await ProbeAttempt(submit: submit, board: board, claim: claim).run() }
                group.addTask {
                    while true {
                        try await Task.sleep(for: .seconds(3))
                        try await board.patiently { () throws(ReelFailure) in _ = try await attend(claim) }
                    }
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        } catch {
            let failure = ReelFailure.of(error)
            if case .probeLost = failure.reason { return nil }
            // This host's own trouble says nothing of the job; nor does an engine's, of a job that was worked at before.
            guard ![.host, .passing].contains(failure.owner),
                failure.owner != .worker || !store.job(id).hasFinishedSegments
            else { throw failure }
            // A second try here would end as this one did, and a person waits for the answer.
            let answer = try await board.patiently { () throws(ReelFailure) in
                try await board.fail(claim, worker: name, failure: failure, as: .permanent)
            }
            if answer == .jobFailed { await store.job(id).recordEnd(.failed, failure, on: board) }
            return nil
        }
    }

    // MARK: Leaving

    /// Waits no more. Where this was the last that waited for a job that was refused, or that nobody has come to work at,
    /// nothing of it remains; else it goes on. What was finished before stays in any case.
    private func say(goodbye claim: Claim?, abandoning: Bool) async {
        // Not cancelled with the task: what others rely on is to be put in order. What cannot be done is done when
        // leases lapse.
        await Task {
            let hasWork = store.job(id).hasFinishedSegments
            guard
                let departure = try? await board.leave(
                    id, waiter: name.text, claim: claim, abandoning: abandoning && !hasWork),
                case .remove(let removal) = departure, !hasWork
            else { return }
            try? await JobControl(board: board, store: store).discard(id, removal)
        }.value
    }

    private func pause(_ duration: Duration) async throws(ReelFailure) {
        do { try await Task.sleep(for: duration) } catch { throw .of(error) }
    }
}

extension Board {
    /// Repeats a call as long as Redis is out of reach, for a minute. Throws what the call throws.
    package func patiently<Answer: Sendable>(
        _ call: () async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(ReelFailure) {
                return try await call()
            } catch {
                guard error.kind == .unreachable, error.cause == .transient, ContinuousClock.now < deadline else {
                    throw error
                }
                do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .of(error) }
            }
        }
    }
}

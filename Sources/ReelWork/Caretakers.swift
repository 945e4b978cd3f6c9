internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Requeues the passes of workers that vanished, and removes the scratch files that they left on this host. Every worker
/// runs one.
package struct Reaper: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at every interval, the first time after one, until cancelled.
    func run(every interval: Duration) async { while await environment.clock.sleep(for: interval) { await reap() } }

    package func reap() async {
        do throws(ReelFailure) {
            let count = try await environment.board.reap()
            if count > 0 { environment.log.notice("\(count) expired leases were given back") }
        } catch {
            environment.log.debug("nothing reaped: \(error.words)")
        }
        // A worker that was killed on this host may have lost its leases to a process of another host, or held none. An
        // engine's start removes what it left, too, but a slot that goes on with the next pass starts none.
        TemporaryFolder.removeAbandoned(scratchIn: environment.scratch)
    }
}

/// Checks the board after Redis was started anew, and reports jobs that the board has lost. Every worker runs one.
package struct Auditor: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at every interval, the first time at once, until cancelled.
    func run(every interval: Duration) async {
        var wasEmpty = false
        repeat { wasEmpty = await look(wasEmpty: wasEmpty) } while await environment.clock.sleep(for: interval)
    }

    /// Looks once. If the board is empty and was not before, it reports the unfinished jobs of the store.
    ///
    /// - Returns: whether the board is empty; `wasEmpty` if that cannot be seen.
    package func look(wasEmpty: Bool) async -> Bool {
        do throws(ReelFailure) {
            if let audit = try await environment.board.auditAfterRestart() {
                if audit.repairs > 0 {
                    environment.log.notice("the board was audited: \(audit.repairs) repairs in \(audit.jobs) jobs")
                }
                report(lost: audit.lost)
                await remind()
            }
            let isEmpty = try await environment.board.isEmpty()
            if isEmpty, !wasEmpty { await report(lost: (try? environment.store.unfinishedJobs()) ?? []) }
            return isEmpty
        } catch {
            environment.log.debug("no audit: \(error.words)")
            return wasEmpty
        }
    }

    /// Tells the board of jobs that began again, and of names and weights that were changed, in the second that Redis lost.
    private func remind() async {
        for job in (try? await environment.store.jobs()) ?? [] { await environment.remind(job) }
    }

    private func report(lost jobs: [JobID]) {
        guard !jobs.isEmpty else { return }
        let failure = ReelFailure(.boardLost(jobs: jobs))
        environment.log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
    }
}

extension WorkerEnvironment {
    /// Tells the board what only the store knows of a job, and the log of a job that goes on.
    fileprivate func remind(_ job: JobID) async {
        do throws(ReelFailure) {
            switch try await JobService(store: store, board: { board }).remind(job) {
            case .recovered(let passes):
                log.notice("job \(job) goes on: the board had forgotten that; \(passes) of its passes are finished")
            case .lost(let why): log.warning("job \(job) cannot go on, as the board had forgotten: \(why.words)")
            case .known, nil: break
            }
        } catch {
            log.debug("nothing told to the board of job \(job): \(error.words)")
        }
    }
}

/// Puts jobs back on the board that only the store has: Redis may lose its last second in a crash, and a replica that
/// becomes the master may lack more. Takes ended jobs off the board that the store has no more: their removal may have been
/// lost. Every worker of a farm runs one.
package struct Registrar: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    package struct Look: Sendable {
        /// Jobs of the store that the board does not have.
        fileprivate var missing: Set<JobID> = []
        /// Missing jobs that belong in the store alone, or that a warning has reported as lost.
        fileprivate var settled: Set<JobID> = []
        /// Jobs of the board that the store does not have.
        fileprivate var removed: Set<JobID> = []

        package init() {}
    }

    /// Looks at every interval, the first time after one, until cancelled.
    func run(every interval: Duration) async {
        var last = Look()
        while await environment.clock.sleep(for: interval) { last = await look(after: last) }
    }

    /// Looks once. Puts back unfinished jobs that the board lacked at the last look, too: a process that submits a job
    /// writes its record a moment before the board learns of it.
    ///
    /// - Returns: what the next look is to know; the same as before if store or board cannot be seen.
    package func look(after last: Look) async -> Look {
        guard let stored = try? await environment.store.jobs(), let known = try? await environment.board.jobs() else {
            return last
        }
        var look = Look()
        look.missing = Set(stored).subtracting(known)
        look.settled = last.settled.intersection(look.missing)
        for job in look.missing.intersection(last.missing).subtracting(look.settled).sorted(by: { $0.text < $1.text }) {
            if await putBack(job) { look.settled.insert(job) }
        }
        look.removed = Set(known).subtracting(stored)
        for job in look.removed.intersection(last.removed) { await forgetRemoved(job) }
        return look
    }

    /// Takes a job off the board if it has ended and the store, which is at its place, has not got it.
    private func forgetRemoved(_ job: JobID) async {
        let (store, board) = (environment.store, environment.board)
        guard await !store.job(job).exists, (try? await store.check()) != nil,
            (try? await board.state(of: job))?.isTerminal == true
        else { return }
        try? await board.forget(job)
        environment.log.notice("took job \(job) off the board: the store has it no more")
    }

    /// Returns whether nothing is left to do for the job.
    private func putBack(_ job: JobID) async -> Bool {
        let (store, board, log) = (environment.store, environment.board, environment.log)
        do throws(ReelFailure) {
            let record = try await store.job(job).read()
            guard record.state == nil else { return true }
            switch try await JobService(store: store, board: { board }).recover(job) {
            case .known: break
            case .recovered(let passes):
                log.notice("put job \(job) back on the board, which had lost it; \(passes) of its passes are finished")
            case .lost(let why): throw why
            }
            return false
        } catch {
            guard error.cause != .transient else { return false }
            log.warning("job \(job) is not on the board, and cannot come back: \(error.words)")
            return true
        }
    }
}

/// Removes jobs from the store when their retention is over, by Redis's clock and by this machine's: if one of them is
/// wrong, nothing is removed too early. Also removes copies of sources and segments that ended jobs do not need, writes
/// into records how jobs ended, and removes what submitters left that died before they wrote a record. Every worker runs
/// one.
package struct Janitor: Sendable {
    /// Seconds that a submitter has for the record of a job whose folder it has made. It takes milliseconds, but the
    /// clock of a file server may differ from this machine's.
    private static let patience = 3600.0
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Cleans at every interval, the first time at once, until cancelled.
    func run(every interval: Duration) async {
        repeat { await clean() } while await environment.clock.sleep(for: interval)
    }

    /// Cleans once, and notes by how much the two clocks differ.
    package func clean() async {
        let (store, board, log) = (environment.store, environment.board, environment.log)
        guard let clocks = try? await board.clocks() else { return }
        environment.notes.setClocks(clocks)
        for job in (try? await store.jobs()) ?? [] {
            // A process that ends a job writes so into its record, but may be killed before that.
            try? await store.job(job).settle(on: board)
            await environment.remind(job)
            try? await store.job(job).giveBackParts()
            guard let record = await pastRecord(store.job(job), at: clocks.earlier) else { continue }
            do throws(ReelFailure) {
                guard try await JobService(store: store, board: { board }).removeEnded(job, record) else { continue }
                log.notice("removed job \(job): it was kept as long as it was to be")
            } catch {
                log.debug("job \(job) stays: \(error.words)")
            }
        }
        await store.removeUnrecordedJobs(before: clocks.earlier - Janitor.patience)
        await store.removeUnusedSources()
    }

    /// The record of an ended job whose retention is over, else nil. People remove jobs whose record cannot be read.
    private func pastRecord(_ entry: any JobEntry, at now: Double) async -> JobRecord? {
        guard let record = try? await entry.read(), record.state != nil, let finished = record.finished else {
            return nil
        }
        return finished + record.terms.retain < now ? record : nil
    }
}

/// Looks whether the store is at its place, for monitoring. A file system may hang, so callers get the last answer.
package struct StoreWatch: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at once and at every interval, until cancelled.
    func run(every interval: Duration) async {
        repeat { await look() } while await environment.clock.sleep(for: interval)
    }

    package func look() async {
        let store = environment.store
        let room = await withTaskExecutorPreference(StoreExecutor.shared) { () -> WorkerNotes.Room? in
            do throws(ReelFailure) { try await store.check() } catch { return nil }
            return WorkerNotes.Room(freeBytes: await store.freeSpace)
        }
        environment.notes.setStore(room)
    }
}

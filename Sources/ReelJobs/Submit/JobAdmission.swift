internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Puts a job into the store and onto the board, unless it is there.
struct JobAdmission: Sendable {
    let board: any Board
    let store: any JobStore
    let wanted: JobRecord
    /// Unlike the name of any other submitter.
    let name: WorkerID = {
        let process = ProcessInfo.processInfo
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        return WorkerID("\(process.hostName)-\(process.processIdentifier)-\(random)")
    }()

    private var id: JobID { wanted.id }
    private var entry: any JobEntry { store.job(id) }

    /// The state in which a submitter finds its job.
    enum Found: Sendable {
        case finished(StoredJob)
        case running(StoredJob)
        /// It has no plan yet. With a claim, this submitter is to make one.
        case unplanned(Claim?)
    }

    /// Returns as soon as board or store know the job.
    ///
    /// - Parameters:
    ///   - created: hears whether this call has written the job's record, when that says that the job has not ended.
    ///   - known: hears of the job's state as soon as it is known.
    func admit(
        created: (Bool) throws(ReelFailure) -> Void = { _ in }, known: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> Found {
        while true {
            if let job = try? await StoredJob(entry), await job.result != nil {
                known(.done)
                return .finished(job)
            }
            // The record is there before any process can learn of the job, so that each can go on with it.
            let isNew = try await entry.create(wanted)
            // A worker ends a job on the board if the store says that it has ended, so the record is reopened first.
            // From then on no copies of sources are given back.
            do throws(ReelFailure) {
                if !isNew, try await entry.read().state != nil { try await entry.open(wanted) }
            } catch {
                // It is being removed: it begins anew then.
                guard case .jobUnknownHere = error.reason else { throw error }
                continue
            }
            try created(isNew)
            switch try await board.begin(wanted.beginning, holder: name) {
            case .begun(let claim):
                known(.probing)
                do throws(ReelFailure) {
                    if !isNew { try await entry.open(wanted) }
                } catch {
                    _ = try? await board.leave(id, waiter: name.text, claim: claim, abandoning: false)
                    throw error
                }
                return .unplanned(claim)
            case .probing:
                known(.probing)
                return .unplanned(nil)
            case .running:
                guard let status = try await board.status(id) else { continue }
                if let job = try? await StoredJob(entry, plan: status.job.plan) {
                    known(status.state)
                    return .running(job)
                }
                // Without its plan in the store no worker can work at it.
                try await board.withdraw(id)
            case .busy:
                do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .of(error) }
            }
        }
    }

    /// Tells the board what the submitter says of the job, and its webhooks. A job that another process has begun keeps
    /// its name and labels if this submitter gives none.
    ///
    /// Throws `.webhooksTooMany`, and `.jobNotOnBoard` if only the store has the job, so that no webhook of it can be
    /// sent.
    ///
    /// - Parameter claim: holds the planning if this submitter has begun the job.
    func describe(_ claim: Claim? = nil) async throws(ReelFailure) {
        if claim != nil {
            try await entry.describe(on: board)
            try await board.hook(entry.read())
            return
        }
        try await board.hook(wanted)
        if let submission = wanted.submission, submission.isTelling {
            try await entry.describe(on: board) { $0 = submission }
        }
    }
}

extension Board {
    /// Adds the webhooks of a record to its job.
    ///
    /// Throws `.webhooksTooMany`, and `.jobNotOnBoard` if the board does not have the job.
    func hook(_ record: JobRecord) async throws(ReelFailure) {
        for url in record.webhooks {
            switch try await hook(record.id, url) {
            case .added, .due: break
            case .full: throw ReelFailure(.webhooksTooMany(job: record.id, most: BoardPolicy.webhooksKept))
            case nil: throw ReelFailure(.jobNotOnBoard(job: record.id))
            }
        }
    }
}

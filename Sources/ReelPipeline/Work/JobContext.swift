internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelStore

/// What a worker must know of a job before it can work on it, read from the store.
struct JobContext: Sendable {
    let record: JobRecord
    let plan: Plan
    let folder: JobFolder
    /// The job that began with the source's head, as long as it is there.
    private let head: PlacedJob?

    init(_ record: JobRecord, in store: Store) throws(ReelFailure) {
        self.record = record
        folder = store.job(record.id)
        plan = try folder.readPlan()
        head = record.head.flatMap { try? PlacedJob(store.job($0)) }
    }

    /// Takes over what the head's job made of a pass.
    func takeOver(_ pass: Pass, at index: Int) throws(ReelFailure) { try head?.give([pass: index], to: folder) }

    var files: JobFiles { JobFiles(source: folder.source(of: record), index: folder.index, plan: folder.plan) }

    /// Whether an earlier context still describes the job that the store has now.
    func describes(_ record: JobRecord) -> Bool {
        self.record.created == record.created && self.record.fingerprint == record.fingerprint
    }

    /// Throws, with cause permanent, where the source is no longer the one that was planned for, and with cause
    /// incompatible where this host does not see it.
    func checkSource() throws(ReelFailure) {
        let isTheSame: Bool
        do {
            isTheSame = try record.fingerprint.matches(folder.source(of: record))
        } catch {
            throw ReelFailure(.input, "on this host: \(error.message)", cause: .incompatible)
        }
        guard isTheSame else {
            throw ReelFailure(
                .input, "\(record.source) has changed since the job was submitted; submit it again")
        }
    }
}

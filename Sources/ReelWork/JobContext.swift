internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelStore
internal import Synchronization

/// What a worker must know of a job before it can work at one of its passes, read from the store.
final class JobContext: Sendable {
    let record: JobRecord
    let plan: Plan
    let folder: JobFolder
    private let store: Store
    /// Of the indexes, in the order of the plan's sources.
    private let indexPaths: [String]
    /// The job that began early, as long as it is there.
    private let early: PlacedJob?
    private let planned = Mutex<PlannedSegments?>(nil)

    /// - Parameter number: of the plan that the pass is of.
    init(_ record: JobRecord, plan number: Int, in store: Store) throws(ReelFailure) {
        let job = try PlacedJob(store.job(record.id), plan: number)
        self.record = record
        (plan, folder) = (job.plan, job.folder)
        self.store = store
        indexPaths = try store.indexes(of: plan, record)
        early = record.head.flatMap { try? PlacedJob(store.job($0)) }
    }

    /// Takes over what the job that began early made of a pass.
    func takeOver(_ pass: Pass) throws(ReelFailure) {
        guard let early, early.folder.hasSegments(of: Set(plan.subjects(of: pass).map(\.part))) else { return }
        try early.give(try segments().contents(of: pass), to: folder)
    }

    /// For each chunk of a pass the record of its segment, where that is whole already, whoever made it.
    func wholeSegments(of pass: Pass) throws(ReelFailure) -> [SegmentRecord?] {
        let subjects = plan.subjects(of: pass)
        guard folder.hasSegments(of: Set(subjects.map(\.part))) else { return subjects.map { _ in nil } }
        return folder.wholeSegments(try segments().contents(of: pass))
    }

    /// What the plan's segments are to be. Reading the index for it takes a large job's memory and time, so that is done
    /// only where there are segments to compare.
    private func segments() throws(ReelFailure) -> PlannedSegments {
        if let known = planned.withLock(\.self) { return known }
        let made = PlannedSegments(plan: plan, indexes: try store.readIndexes(of: plan, record))
        planned.withLock { $0 = made }
        return made
    }

    var files: JobFiles {
        JobFiles(
            sources: zip(record.sources, indexPaths).map { SourceFiles(source: folder.path(of: $0), index: $1) },
            plan: folder.plan(plan.number))
    }

    /// Whether an earlier context still describes the job that the store has now.
    func describes(_ record: JobRecord, plan number: Int) -> Bool {
        self.record.created == record.created && self.record.sources == record.sources && plan.number == number
    }

    /// Throws, with cause permanent, where the source is no longer the one that was planned for, and with cause
    /// incompatible where this host does not see it.
    func checkSource() throws(ReelFailure) {
        let isTheSame: Bool
        do {
            isTheSame = try record.source.fingerprint.matches(folder.source(of: record))
        } catch {
            throw ReelFailure(.sourceOutOfReach(last: error))
        }
        guard isTheSame else { throw ReelFailure(.sourceReplaced(path: record.source.path)) }
    }
}

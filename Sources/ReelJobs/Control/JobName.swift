package import ReelCore
internal import ReelQueue
internal import ReelStore

/// What people call a job: its id, the beginning of the id in any case, or "@" for the job that was submitted last.
package struct JobName {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Whether it has the 16 digits of an id.
    var isWhole: Bool { text.count == 16 }

    var isLast: Bool { text == "@" }

    /// The job that it names, or nil. Throws `.jobAmbiguous` if several ids begin so.
    package func job(among ids: some Sequence<JobID>) throws(ReelFailure) -> JobID? {
        // An empty text is the beginning of every id, and so names no job.
        guard !text.isEmpty else { return nil }
        let beginning = text.lowercased()
        let matches = Set(ids.filter { $0.text.hasPrefix(beginning) }).sorted { $0.text < $1.text }
        if let exact = matches.first(where: { $0.text == beginning }) { return exact }
        guard matches.count < 2 else { throw ReelFailure(.jobAmbiguous(name: text, matches: Array(matches.prefix(5)))) }
        return matches.first
    }
}

extension JobService {
    /// The job of this name: an id, the unambiguous beginning of one, or "@" for the job that was submitted last. A
    /// name that no job has is taken as an id.
    ///
    /// Throws `.jobAmbiguous` if several ids begin so, and `.jobUnknown` for "@" if there is no job.
    package func job(named text: String) async throws(ReelFailure) -> JobID {
        let name = JobName(text)
        if name.isWhole { return JobID(text.lowercased()) }
        let known = try await board.jobs()
        if name.isLast {
            guard let last = known.last else { throw ReelFailure(.jobUnknown(job: JobID(text))) }
            return last
        }
        let stored = try await store?.jobs() ?? []
        return try name.job(among: known + stored) ?? JobID(text)
    }
}

extension JobResults {
    /// The job of this name among those of the store, as `JobService.job(named:)` finds it.
    package func job(named text: String) async throws(ReelFailure) -> JobID {
        let name = JobName(text)
        if name.isWhole { return JobID(text.lowercased()) }
        let ids = try await store.jobs()
        guard name.isLast else { return try name.job(among: ids) ?? JobID(text) }
        var last: (id: JobID, created: Double)?
        for id in ids {
            guard let record = try? await store.job(id).read() else { continue }
            if record.created > last?.created ?? 0 { last = (id, record.created) }
        }
        guard let last else { throw ReelFailure(.jobUnknown(job: JobID(text))) }
        return last.id
    }
}

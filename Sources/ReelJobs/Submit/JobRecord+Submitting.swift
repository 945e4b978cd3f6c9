internal import Foundation
public import ReelCore
public import ReelStore

extension JobRecord {
    /// The job that a source and a spec make, before it is in any store. Reads the first and the last MiB of the source, no
    /// more.
    ///
    /// Throws `.input` if the source cannot be read.
    ///
    /// - Parameters:
    ///   - source: path of the video.
    ///   - spec: the output that is wanted.
    ///   - terms: conditions that do not change the output.
    ///   - stages: copy the source into the store, for workers that do not see it at its path.
    public init(
        submitting source: String, spec: JobSpec, terms: JobTerms = JobTerms(), stages: Bool = false
    ) throws(ReelFailure) {
        let url = URL(fileURLWithPath: source).standardizedFileURL
        let fingerprint = try Fingerprint.of(url.path)
        self.init(
            id: try JobID.make(sources: [fingerprint], spec: spec), spec: spec,
            source: JobSource(
                path: url.path, staged: stages ? url.lastPathComponent : nil, fingerprint: fingerprint),
            terms: terms, created: Date().timeIntervalSince1970)
    }
}

extension JobEntry {
    /// Writes the record of a job that is about to run. If there is one, it is marked as not ended, and takes the terms and
    /// the path of the source from the one given: the same bytes may lie elsewhere now.
    func open(_ wanted: JobRecord) async throws(ReelFailure) {
        guard try await !create(wanted) else { return }
        var record = try await read()
        record.reopen()
        record.terms = wanted.terms
        record.source = wanted.source
        try await write(record)
    }
}

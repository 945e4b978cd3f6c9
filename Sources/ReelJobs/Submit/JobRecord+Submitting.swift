internal import Foundation
internal import Glibc
package import ReelCore
internal import ReelQueue
internal import ReelSandbox
package import ReelStore

extension JobRecord {
    /// The job that sources and a spec make, before it is in any store. Reads the first and the last MiB of each source, no
    /// more.
    ///
    /// Throws `.input` if a source cannot be read, lies outside the roots, or is a URL.
    ///
    /// - Parameters:
    ///   - sources: paths of the files; at least one.
    ///   - spec: the output that is wanted.
    ///   - terms: conditions that do not change the output.
    ///   - submission: what the submitter says of the job.
    ///   - roots: the folders from which sources are taken; nil for any.
    ///   - stages: copy the sources into the store, for workers that do not see them at their paths.
    package init(
        submitting sources: [String], spec: JobSpec, terms: JobTerms = JobTerms(), submission: Submission? = nil,
        within roots: SourceRoots? = nil,
        stages: Bool = false
    ) throws(ReelFailure) {
        let files = try sources.enumerated().map { (number, source) throws(ReelFailure) in
            guard source.firstMatch(of: /^[A-Za-z][A-Za-z0-9+.-]*:\/\//) == nil else {
                throw ReelFailure(.sourceIsURL(url: source))
            }
            let url = URL(fileURLWithPath: try JobRecord.lasting(source)).standardizedFileURL
            try roots?.check(url.path)
            // Files of two folders may have the same name.
            let copy = sources.count > 1 ? "\(number)-\(url.lastPathComponent)" : url.lastPathComponent
            return JobSource(
                path: url.path, staged: stages ? copy : nil, fingerprint: try Fingerprint.of(url.path))
        }
        self.init(
            id: try JobID.make(sources: files.map(\.fingerprint), spec: spec), spec: spec, sources: files,
            terms: terms, submission: submission, created: Date().timeIntervalSince1970)
    }

    /// The file's own path in place of one, such as `/dev/stdin`, that means another file in another process. Throws
    /// `.sourceNotAFile` for a pipe.
    private static func lasting(_ path: String) throws(ReelFailure) -> String {
        guard ["/dev/", "/proc/"].contains(where: path.hasPrefix) else { return path }
        guard let real = realpath(path, nil) else { throw ReelFailure(.sourceNotAFile(path: path)) }
        defer { free(real) }
        return String(cString: real)
    }
}

extension JobEntry {
    /// Writes the record of a job that is about to run. If there is one, it is marked as not ended, and takes the terms and
    /// the paths of the sources from the one given: the same bytes may lie elsewhere now. It also takes what the submitter
    /// says, and webhooks; of a job that had ended, the earlier ones go.
    func open(_ wanted: JobRecord) async throws(ReelFailure) {
        guard try await !create(wanted) else { return }
        try await change { record in
            let earlier = record.state == nil ? record.webhooks : []
            let added = wanted.webhooks.filter { !earlier.contains($0) }
            record.webhooks = Array((earlier + added).suffix(BoardPolicy.webhooksKept))
            record.reopen()
            record.terms = wanted.terms
            record.submission = wanted.submission?.after(record.submission) ?? record.submission
            record.sources = wanted.sources
        }
    }
}

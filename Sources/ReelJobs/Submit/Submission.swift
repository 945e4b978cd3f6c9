internal import Foundation
internal import Glibc
package import ReelCore
package import ReelEngine
internal import ReelQueue
internal import ReelSandbox
package import ReelStore

extension JobRecord {
    /// The job that sources and a spec make, before any store has it. Reads only the first and last MiB of each source.
    ///
    /// Throws `.input` if a source cannot be read or lies outside the roots, and `.interrupted` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - sources: paths of the files, or URLs; at least one.
    ///   - web: the fingerprints of the URLs among them. Others are refused.
    ///   - roots: the folders from which sources are taken; nil for any.
    ///   - stages: copy the files into the store, for workers that do not see them at their paths.
    package init(
        submitting sources: [String], spec: JobSpec, terms: JobTerms = JobTerms(), submission: Submission? = nil,
        within roots: SourceRoots? = nil, stages: Bool = false, web: [String: Fingerprint] = [:]
    ) throws(ReelFailure) {
        let files = try sources.enumerated().map { (number, source) throws(ReelFailure) in
            // Many sources take long, and the caller may have given up.
            if Task.isCancelled { throw ReelFailure(.interrupted) }
            guard !WebAddress.isWritten(source) else {
                guard let known = web[source] else {
                    throw ReelFailure(.sourceIsURL(url: WebAddress.shown(source)))
                }
                return JobSource(path: source, fingerprint: known)
            }
            let url = URL(fileURLWithPath: try JobRecord.lasting(source)).standardizedFileURL
            try roots?.check(url.path)
            // Files of two folders may have the same name.
            let copy = sources.count > 1 ? "\(number)-\(url.lastPathComponent)" : url.lastPathComponent
            return JobSource(path: url.path, staged: stages ? copy : nil, fingerprint: try Fingerprint.of(url.path))
        }
        self.init(
            id: try JobID.make(sources: files.map(\.fingerprint), spec: spec), spec: spec, sources: files,
            terms: terms, submission: submission, created: Date().timeIntervalSince1970)
    }

    /// The file's own path for one, such as `/dev/stdin`, that differs by process. Throws `.sourceNotAFile` for a pipe.
    private static func lasting(_ path: String) throws(ReelFailure) -> String {
        guard ["/dev/", "/proc/"].contains(where: path.hasPrefix) else { return path }
        guard let real = realpath(path, nil) else { throw ReelFailure(.sourceNotAFile(path: path)) }
        defer { free(real) }
        return String(cString: real)
    }
}

extension RemoteSources {
    /// The fingerprints of the URLs among sources, by URL. Reads the first and the last MiB of each.
    ///
    /// Throws `.input` if one cannot be read.
    package func fingerprints(of sources: [String]) async throws(ReelFailure) -> [String: Fingerprint] {
        var found: [String: Fingerprint] = [:]
        for url in sources where WebAddress.isWritten(url) && found[url] == nil {
            let (version, first, last) = try await look(at: url, Fingerprint.edge)
            found[url] = .of(version, first: first, last: last)
        }
        return found
    }
}

extension JobRecord {
    /// Adds webhooks that it does not have yet; the oldest ones beyond the most that a job keeps are dropped.
    mutating func add(_ webhooks: [String]) {
        let added = webhooks.filter { !self.webhooks.contains($0) }
        self.webhooks = Array((self.webhooks + added).suffix(BoardPolicy.webhooksKept))
    }
}

extension JobEntry {
    /// Writes the record of a job that is about to run. A record that exists is reopened, and takes terms, sources
    /// (whose paths may differ now), submission and webhooks from the new one; an ended job drops its earlier webhooks.
    func open(_ wanted: JobRecord) async throws(ReelFailure) {
        guard try await !create(wanted) else { return }
        try await change { record in
            if record.state == nil {
                record.reopen()
            } else {
                record.webhooks = []
                record.runAgain()
            }
            record.add(wanted.webhooks)
            record.terms = wanted.terms
            record.submission = wanted.submission?.after(record.submission) ?? record.submission
            record.sources = wanted.sources
        }
    }
}

extension JobEntry {
    /// Copies sources into the store that are to be staged and have no copy yet. Throws as the other `stage` does.
    func stage(_ sources: [JobSource]) async throws(ReelFailure) {
        for source in sources {
            guard let name = source.staged, await !hasCopy(of: source) else { continue }
            try await stage(source.location, as: name, source.fingerprint)
        }
    }
}

extension JobStatus {
    /// What the submitter says of the job; nil if the board has nothing that can be read.
    var said: Submission? { submission.flatMap { try? JSONDecoder().decode(Submission.self, from: Data($0.utf8)) } }
}

extension Submission {
    var text: String {
        get throws(ReelFailure) {
            do { return try CanonicalJSON.text(of: self) } catch { throw .of(error) }
        }
    }

    /// Whether it says how the job is called.
    var isTelling: Bool { name != nil || !labels.isEmpty }

    /// A submission by the user of this process.
    ///
    /// - Parameters:
    ///   - name: keeps the rule of `isText`.
    ///   - labels: keep the rules of `isLabelName` and `isText`.
    package static func byThisUser(name: String?, labels: [String: String]) -> Submission {
        let user = NSUserName()
        return Submission(
            name: name, labels: labels,
            submitter: (user.isEmpty ? "uid-\(getuid())" : user) + "@" + ProcessInfo.processInfo.hostName)
    }

    /// Reads labels such as "project=trailer": more than a job can have, since filters read theirs here, too.
    package static func labels(_ texts: [String]) throws(LabelFault) -> [String: String] {
        var labels: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, isLabelName(parts[0]), isText(parts[1]) else { throw .malformed(text) }
            guard labels.updateValue(parts[1], forKey: parts[0]) == nil else { throw .repeated(name: parts[0]) }
        }
        return labels
    }

    package static func check(labels: [String: String]) throws(LabelFault) {
        guard labels.count <= mostLabels else { throw .tooMany(labels.count) }
    }
}

/// Why texts are not the labels of a job.
package enum LabelFault: Error, Hashable, Sendable {
    /// A text that is not NAME=VALUE, or whose name or value no label can have.
    case malformed(String)
    case repeated(name: String)
    case tooMany(Int)
}

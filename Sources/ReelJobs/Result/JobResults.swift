internal import Foundation
package import ReelCore
internal import ReelQueue
internal import ReelSandbox
package import ReelStore

/// The verified outputs of jobs that are done. They are in the store, so this needs no board.
package struct JobResults: Sendable {
    let store: any JobStore

    package init(in store: any JobStore) { self.store = store }

    /// The output of a job, as the store has it.
    ///
    /// Throws `.jobUnknown` if the store has no such job, `.noResult` if it is not done or its result is not there, and
    /// `.storeFileForeign` or `.resultDiffers` if something else is in its place.
    package func result(of id: JobID) async throws(ReelFailure) -> StoredResult { try await entry(id).storedResult() }

    /// Opens the output of a job. Throws as `result` does.
    package func open(_ id: JobID) async throws(ReelFailure) -> (result: StoredResult, file: any StoredBytes) {
        let entry = try await entry(id)
        let result = try await entry.storedResult()
        return (result, try await entry.open(result))
    }

    /// Copies a job's output to a place; the store keeps it as well. Blocks until the copy is whole.
    ///
    /// Throws `.resultDiffers` if the copy is not the verified file, and delivers nothing then;
    /// `.outputContainerDiffers` if the path names another container; `.output`; and as `result` does.
    package func deliver(_ id: JobID, to destination: Destination) async throws(ReelFailure) {
        let entry = try await entry(id)
        let result = try await entry.storedResult()
        let container = try await entry.read().spec.container
        let choice = try OutputChoice(named: destination.path, lossless: false)
        guard choice.container == container else {
            throw ReelFailure(.outputContainerDiffers(job: id, container: container, output: destination.path))
        }
        try await destination.copy(entry.local(result))
    }

    /// Hands out a job's output in pieces, once all of it matches its recorded hash. Throws as `verify` does.
    package func read(_ id: JobID, _ take: ([UInt8]) -> Void) async throws(ReelFailure) {
        let entry = try await entry(id)
        try await entry.local(entry.storedResult()).read(take)
    }

    /// Where a job's output goes.
    ///
    /// - Parameter asked: a path, or that of a folder; nil for the path that the submitter named. A job of release
    ///   0.1.0 names none: then it is the job's id in the current folder.
    package func path(of id: JobID, asked: String?) async throws(ReelFailure) -> String {
        let record = try await entry(id).read()
        let wanted = record.terms.output ?? "\(id).\(record.spec.container.rawValue)"
        guard let asked else { return WebAddress.isWritten(wanted) ? wanted : URL(fileURLWithPath: wanted).path }
        let name = WebAddress.fileName(wanted).split(separator: "/").last.map(String.init) ?? wanted
        guard !WebAddress.isWritten(asked) else { return asked.hasSuffix("/") ? asked + name : asked }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: asked, isDirectory: &isFolder)
        guard asked.hasSuffix("/") || exists && isFolder.boolValue else { return URL(fileURLWithPath: asked).path }
        return URL(fileURLWithPath: asked).appendingPathComponent(name).path
    }

    /// Compares a job's output with its recorded size and hash. Blocks until all of the file is read.
    ///
    /// Throws `.resultDiffers` if they differ, as `result` does, and `.input` if the copy cannot be read.
    ///
    /// - Parameters:
    ///   - copy: path or address of a copy to compare instead of the file in the store.
    ///   - remote: reads copies at addresses.
    package func verify(
        _ id: JobID, copy: String? = nil, remote: (any RemoteOutputs)? = nil
    ) async throws(ReelFailure) -> VerifiedFile {
        let entry = try await entry(id)
        let result = try await entry.storedResult()
        if let copy, WebAddress.isWritten(copy) {
            guard let remote else { throw ReelFailure(.sourceIsURL(url: WebAddress.shown(copy))) }
            try await remote.verify(result, copy: copy)
            return VerifiedFile(path: copy, bytes: result.recorded.bytes, sha256: result.recorded.sha256)
        }
        let found = if let copy { try result.verify(copy: copy) } else { try await entry.local(result).verify() }
        return VerifiedFile(path: copy ?? result.locator.name, bytes: found.bytes, sha256: found.sha256)
    }

    /// A job as the store alone knows it; nil if it has not ended. Throws `.jobUnknown` if the store has no such job.
    package func view(_ id: JobID) async throws(ReelFailure) -> JobView? { try await JobView(entry(id)) }

    private func entry(_ id: JobID) async throws(ReelFailure) -> any JobEntry {
        let entry = store.job(id)
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
        return entry
    }
}

/// A file that is, byte for byte, the result that was verified.
package struct VerifiedFile: Hashable, Sendable {
    package let path: String
    package let bytes: Int64
    package let sha256: String
}

extension JobService {
    /// Opens the first source of a job: its copy in the store, or the file at its path if that lies below a root.
    ///
    /// Throws `.jobUnknown` if the store does not have the job, `.sourceOutside` if the file lies elsewhere, and
    /// `.sourceInaccessible` if it cannot be opened.
    package func source(
        of id: JobID, within roots: SourceRoots?
    ) async throws(ReelFailure) -> (file: any StoredBytes, name: String) {
        let entry = try requiredStore().job(id)
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
        let source = try await entry.read().source
        let name = source.path.split(separator: "/").last.map(String.init) ?? source.path
        if await entry.hasCopy(of: source) { return (try await entry.open(copyOf: source), name) }
        let file = try (roots ?? SourceRoots([])).withName(of: source.path) { place throws(ReelFailure) in
            try OpenFile.named(by: place, path: source.path)
        }
        return (file, name)
    }
}

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
        if name.isLast {
            guard let last = try await board.jobs(before: nil, count: 1).first else {
                throw ReelFailure(.jobUnknown(job: JobID(text)))
            }
            return last.id
        }
        let stored = try await store?.jobs() ?? []
        return try await name.job(among: board.jobs() + stored) ?? JobID(text)
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

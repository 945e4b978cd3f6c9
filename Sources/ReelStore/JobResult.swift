internal import Glibc
package import ReelCore

/// The verified output of a job, as recorded. Only a file with the same bytes is delivered.
package struct JobResult: Hashable, Codable, Sendable {
    /// Name of the file in the job's folder.
    package var name: String
    package var bytes: Int64
    /// SHA-256 of the file, in hexadecimal.
    package var sha256: String
    /// How many pictures the file shows. Nil if an earlier release made it.
    package var frames: Int?

    package init(name: String, bytes: Int64, sha256: String, frames: Int? = nil) {
        self.name = name
        self.bytes = bytes
        self.sha256 = sha256
        self.frames = frames
    }

    /// The size and hash of a file that is open at its start; reads all of it.
    init(reading file: borrowing Descriptor, as name: String) throws(SystemCode) {
        self.init(name: name, bytes: Int64(try file.status().st_size), sha256: try file.sha256Hex())
    }
}

/// The output in the store of a job that is done.
package struct StoredResult: Hashable, Sendable {
    package let job: JobID
    package let locator: Locator
    /// Size and hash that the file had when it was verified.
    package let recorded: JobResult

    package init(job: JobID, locator: Locator, recorded: JobResult) {
        self.job = job
        self.locator = locator
        self.recorded = recorded
    }

    /// Reads the file and compares size and hash with those recorded.
    ///
    /// Throws `.resultDiffers` if they differ, and `.storeUnusable` or `.storeFileForeign` if the file cannot be read.
    @discardableResult
    package func verify() throws(ReelFailure) -> JobResult {
        let found = try SystemError.inStore(.read, locator.name) { () throws(SystemCode) in
            try JobResult(reading: Descriptor(regular: locator.path), as: recorded.name)
        }
        if let failure = difference(of: found, at: locator.name) { throw failure }
        return found
    }

    /// Verifies the file, then hands out its bytes in pieces. Throws as `verify` does.
    package func read(_ take: ([UInt8]) -> Void) throws(ReelFailure) {
        try verify()
        try SystemError.inStore(.read, locator.name) { () throws(SystemCode) in
            try Descriptor(regular: locator.path).forEachBlock { take(Array($0)) }
        }
    }

    /// Does the same as `verify` with a file elsewhere that should be a copy of the result; links to it are followed.
    ///
    /// Throws `.resultDiffers` as well, `.sourceInaccessible` if the copy cannot be read, and `.sourceNotAFile` if it
    /// is not a regular file.
    @discardableResult
    package func verify(copy: String) throws(ReelFailure) -> JobResult {
        var found: JobResult?
        do {
            let file = try Descriptor(open: copy, O_RDONLY | O_NONBLOCK)
            if try file.status().st_mode & S_IFMT == S_IFREG { found = try JobResult(reading: file, as: recorded.name) }
        } catch {
            throw ReelFailure(.sourceInaccessible(path: copy, errno: error.value))
        }
        guard let found else { throw ReelFailure(.sourceNotAFile(path: copy)) }
        if let failure = difference(of: found, at: copy) { throw failure }
        return found
    }

    /// Throws `.resultDiffers` if bytes of this size and hash are not the result.
    package func compare(bytes: Int64, sha256: String, at place: String) throws(ReelFailure) {
        let found = JobResult(name: recorded.name, bytes: bytes, sha256: sha256)
        if let failure = difference(of: found, at: place) { throw failure }
    }

    /// Nil if a file of this size and hash is the result.
    func difference(of found: JobResult, at path: String) -> ReelFailure? {
        guard found.bytes != recorded.bytes || found.sha256 != recorded.sha256 else { return nil }
        return ReelFailure(
            .resultDiffers(
                job: job, path: path, bytes: found.bytes, sha256: found.sha256, recordedBytes: recorded.bytes,
                recordedSha256: recorded.sha256))
    }
}

extension JobFolder {
    package func adoptOutput(
        assembledBy token: String, as container: Container, bytes: Int64, sha256: String
    ) throws(ReelFailure) -> JobResult {
        let assembled = assembling(container, token: token).path
        let found = (try? Files.entry(assembled)) ?? nil
        guard let found, found.st_mode & S_IFMT == S_IFREG, Int64(found.st_size) == bytes else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        let output = output(container)
        try SystemError.inStore(.write, output, Files.adopt(assembled, as: output))
        return JobResult(name: JobFileName.output(container).text, bytes: bytes, sha256: sha256)
    }

    package var publishedOutput: StoredResult? {
        guard let output = (try? read())?.result.map(stored) else { return nil }
        guard let entry = try? Files.entry(output.locator.path), entry.st_mode & S_IFMT == S_IFREG,
            Int64(entry.st_size) == output.recorded.bytes
        else { return nil }
        return output
    }

    /// The file that the record names, if it has the recorded size. Any other file that looks like an output is
    /// ignored.
    package func storedResult() throws(ReelFailure) -> StoredResult { try result(of: read()) }

    private func stored(_ recorded: JobResult) -> StoredResult {
        StoredResult(job: id, locator: .file("\(path)/\(recorded.name)"), recorded: recorded)
    }

    func result(of record: JobRecord) throws(ReelFailure) -> StoredResult {
        let none = ReelFailure(.noResult(job: id, state: record.state))
        guard record.state == .done, let result = record.result.map(stored) else { throw none }
        guard let entry = try? Files.entry(result.locator.path) else { throw none }
        guard entry.st_mode & S_IFMT == S_IFREG else { throw ReelFailure(.storeFileForeign(path: result.locator.name)) }
        // Lists of jobs call this repeatedly, so the bytes of a file of another size are not read: its hash stays
        // empty.
        let found = JobResult(name: result.recorded.name, bytes: Int64(entry.st_size), sha256: "")
        if found.bytes != result.recorded.bytes, let failure = result.difference(of: found, at: result.locator.name) {
            throw failure
        }
        return result
    }
}

internal import Glibc
package import ReelCore

/// Everything the store holds of one job.
package struct JobFolder: JobEntry {
    /// The job.
    package let id: JobID
    /// The store that it is in.
    package let store: FolderStore
    /// Path of the folder, which begins with the store's root as it was given.
    package let path: String

    /// The job's record, written first and removed last.
    package var jobFile: String { path(.record) }
    /// The folder of the segments.
    package var segments: String { path(.segments) }
    /// The folder of outputs that are being assembled: an engine writes there, and not beside the record.
    package var assemblies: String { path(.assemblies) }
    /// The folder of the engines' standard error, a file per attempt that failed.
    package var attempts: String { path(.attempts) }

    /// The folder of the source's copy, if one was asked for.
    package var stage: String { path(.stage) }

    func path(_ name: JobFileName) -> String { "\(path)/\(name.text)" }

    /// The place of a source's bytes: in the store if it is staged, else where the record says.
    package func locator(of source: JobSource) -> Locator {
        .file(source.staged.map { "\(stage)/\($0)" } ?? source.path)
    }

    /// Whether the copy of a source that is to be staged is there.
    package func hasCopy(of source: JobSource) -> Bool {
        source.staged.map { access("\(stage)/\($0)", F_OK) == 0 } ?? false
    }

    /// The verified result.
    package func output(_ container: Container) -> String { path(.output(container)) }

    /// The place at which the assembler that holds `token` writes its result before it is published.
    package func assembling(_ container: Container, token: String) -> Locator {
        .file("\(assemblies)/\(token).\(container.rawValue)")
    }

    /// The folders in which the job's engines write, made if there are none: of its segments, and of outputs that are
    /// being assembled. The job's record is in neither.
    package func engineFolders() throws(ReelFailure) -> [Locator] {
        try create()
        return [.file(segments), .file(assemblies)]
    }

    /// The place at which an engine writes the segment of a name.
    package func place(of name: SegmentName) -> SegmentPlace {
        SegmentPlace(
            name: name, data: .file("\(segments)/\(name.text)"), record: .file("\(segments)/\(name.recordName)"))
    }

    /// The bytes of JSON above which a file takes a good part of a second to decode.
    package static let largeBytes = 1 << 20

    /// Whether a file of its record or of a plan has more than `largeBytes`. Blocks.
    package var isLarge: Bool {
        ((try? names()) ?? []).contains { name in
            switch JobFileName(name) {
            case .record, .plan: ((try? Files.entry("\(path)/\(name)"))??.st_size ?? 0) > JobFolder.largeBytes
            default: false
            }
        }
    }

    /// Whether the store has a record of the job.
    package var exists: Bool { access(jobFile, F_OK) == 0 }

    /// Makes the folder and those inside it.
    package func create() throws(ReelFailure) {
        try store.makeFolders([segments, assemblies, attempts])
        do {
            for folder in [path, Files.folder(of: path)] { try Files.syncFolder(folder) }
        } catch {
            throw SystemError.store(.makeFolder, path, error.value)
        }
    }

    /// Writes a changed record if the record is still the one that was read; else returns false. Blocks.
    package func replace(_ read: JobRecord, with changed: JobRecord) throws(ReelFailure) -> Bool {
        guard exists else { throw ReelFailure(.jobUnknownHere(job: id, path: jobFile)) }
        return try whileRecordStays { () throws(ReelFailure) in
            guard try self.read() == read else { return false }
            try AtomicFile.write(json: changed, to: jobFile)
            return true
        }
    }

    /// Runs the body while no other process writes the record.
    private func whileRecordStays<Answer>(
        _ body: () throws(ReelFailure) -> Answer
    ) throws(ReelFailure) -> Answer {
        let lock: FileLock
        do {
            lock = try FileLock.waiting(for: path(.recordLock))
        } catch {
            // The folder has been removed meanwhile.
            guard error.value != ENOENT || exists else { throw ReelFailure(.jobUnknownHere(job: id, path: jobFile)) }
            throw SystemError.store(.lock, path(.recordLock), error.value)
        }
        // A process that waits for it takes a new file then.
        defer {
            unlink(path(.recordLock))
            lock.release()
        }
        return try body()
    }

    /// Writes the record of a new job, and makes its folder. False if it has one, which stays as it is.
    package func create(_ record: JobRecord) throws(ReelFailure) -> Bool {
        let bytes = try AtomicFile.json(of: record)
        while true {
            try create()
            do throws(ReelFailure) {
                return try whileRecordStays { () throws(ReelFailure) in try AtomicFile.create(bytes, at: jobFile) }
            } catch {
                // The folder was removed before the lock was taken.
                guard case .jobUnknownHere = error.reason else { throw error }
            }
        }
    }

    /// Throws `.unreachable`, cause incompatible, if this host does not see the job; `.jobOfOtherVersion` if this
    /// release does not know the record's version.
    package func read() throws(ReelFailure) -> JobRecord { try record { $0 } }

    /// The record that is left of its bytes.
    func record(_ leave: ([UInt8]) -> [UInt8]) throws(ReelFailure) -> JobRecord {
        guard exists else {
            throw ReelFailure(.jobUnknownHere(job: id, path: jobFile))
        }
        let bytes = leave(try AtomicFile.read(jobFile))
        let record = try AtomicFile.checked(jobFile) { try CanonicalJSON.value(JobRecord.self, from: bytes) }
        // Any user with write access to the store can copy a record into another job's folder.
        guard record.id == id else {
            throw ReelFailure(.storeFileDamaged(path: jobFile, said: "it is the record of job \(record.id)"))
        }
        return record
    }

    /// Keeps the end of an engine's standard error, so that a user can look into a failed attempt.
    package func writeAttempt(pass: Int, token: String, standardError: String) throws(ReelFailure) {
        try AtomicFile.write(Array(standardError.utf8), to: attempt(pass: pass, token: token))
    }

    /// The last words of a failed attempt's engine; nil if none were kept.
    package func readAttempt(pass: Int, token: String) -> String? {
        guard let bytes = try? AtomicFile.read(attempt(pass: pass, token: token)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func attempt(pass: Int, token: String) -> String {
        "\(attempts)/\(AttemptName(pass: pass, token: token).text)"
    }

    /// Takes over a file that was written elsewhere in the store under its final name.
    func adopt(_ file: String, as final: String) throws(ReelFailure) {
        do {
            try Descriptor(regular: file).sync()
            try Files.rename(file, to: final)
            try Files.syncFolder(path)
        } catch {
            throw SystemError.store(.write, final, error.value)
        }
    }

    /// When a process took the lock last, in seconds since 1970; nil if none has.
    package var lastUse: Int? { (try? Files.entry(path(.lock)))?.st_mtim.tv_sec }

    /// Locks the job folder, and makes it if there is none.
    ///
    /// Throws `.unreachable` if another holds it, naming that process.
    package func lock() throws(ReelFailure) -> JobLock {
        while true {
            try create()
            if let lock = try JobLock.take(in: self) { return lock }
        }
    }

    /// Removes the parts that a finished job no longer needs: segments, the source's copy, and half-written files of
    /// killed processes.
    package func removeParts(keepingSegments: Bool) throws(ReelFailure) {
        if !keepingSegments { try remove(segments) }
        for folder in [stage, assemblies] { try remove(folder) }
        guard exists else { return }
        // A process that is writing the record has a file there that is not whole yet, too.
        try whileRecordStays { () throws(ReelFailure) in
            for name in try names() where JobFileName(name)?.isPart == true { try remove("\(path)/\(name)") }
        }
    }

    /// Removes the copies of the sources if the job is done or was cancelled. Blocks.
    package func giveBackCopies() throws(ReelFailure) {
        guard exists, access(stage, F_OK) == 0 else { return }
        try whileRecordStays { () throws(ReelFailure) in
            guard try [.done, .cancelled].contains(read().state) else { return }
            try remove(stage)
        }
    }

    /// Removes everything of the job, its record too; the holder of its lock keeps it.
    package func removeContents() throws(ReelFailure) {
        for name in try names() where JobFileName(name) != .lock { try remove("\(path)/\(name)") }
    }

    /// Removes the job. Its record goes last: until then it can be removed again.
    package func remove() throws(ReelFailure) {
        // A process that wants the same job makes its folders before it learns that another holds the lock.
        for _ in 0..<8 {
            if (try? removeAll()) != nil { return }
        }
        try removeAll()
    }

    /// Removes the job if its record is still the one that was read; else returns false. No process changes the record
    /// meanwhile, which goes last. Blocks.
    package func remove(ifStill read: JobRecord) throws(ReelFailure) -> Bool {
        guard exists else { return true }
        let isRemoved = try whileRecordStays { () throws(ReelFailure) in
            guard try self.read() == read else { return false }
            for name in try names() where ![.record, .recordLock].contains(JobFileName(name)) {
                try remove("\(path)/\(name)")
            }
            try remove(jobFile)
            return true
        }
        // If a process begins the same job by now, the folder is not empty and is that job's.
        if isRemoved { rmdir(path) }
        return isRemoved
    }

    /// Removes the folder if it has no record, nor anything that is made after it, nothing directly in it has changed since a
    /// moment, in seconds since 1970, and no process holds its lock. A process that begins the job meanwhile makes the folder
    /// anew. Blocks.
    func removeUnlessRecorded(before moment: Double) throws(ReelFailure) {
        guard !exists, let changed = lastChangeBeforeRecord, Double(changed) < moment,
            let lock = try JobLock.take(in: self)
        else { return }
        defer { withExtendedLifetime(lock) {} }
        let isRemoved = try whileRecordStays { () throws(ReelFailure) in
            guard !exists else { return false }
            for name in try names() where JobFileName(name) != .recordLock { try remove("\(path)/\(name)") }
            return true
        }
        if isRemoved { rmdir(path) }
    }

    /// When the folder, or anything directly in it, was last changed, in seconds since 1970. Nil if it has files that are made
    /// after a record, or that no release makes: they may be all that is left of a job whose record somebody removed.
    private var lastChangeBeforeRecord: Int? {
        guard let names = try? names() else { return nil }
        let isBeginning = names.allSatisfy { name in
            switch JobFileName(name) {
            case .segments, .assemblies, .attempts, .lock, .recordLock, .temporary: true
            default: false
            }
        }
        guard isBeginning else { return nil }
        return ([path] + names.map { "\(path)/\($0)" }).compactMap { (try? Files.entry($0))??.st_mtim.tv_sec }.max()
    }

    private func removeAll() throws(ReelFailure) {
        for name in try names() where JobFileName(name) != .record { try remove("\(path)/\(name)") }
        try remove(path)
    }

    func names() throws(ReelFailure) -> [String] {
        do {
            return try Files.names(in: path)
        } catch {
            throw SystemError.store(.read, path, error.value)
        }
    }

    private func remove(_ item: String) throws(ReelFailure) {
        do {
            try Files.removeTree(item, beneath: store.root)
        } catch {
            throw SystemError.store(.remove, item, error.value)
        }
    }
}

internal import Glibc
package import ReelCore

/// The folder of a job. `JobEntry` documents the functions that it requires; comments here cover the specifics of a
/// folder.
package struct JobFolder: JobEntry {
    package let id: JobID
    package let store: FolderStore
    /// Path of the folder, which begins with the store's root as it was given.
    package let path: String

    /// The job's record, written first and removed last.
    package var jobFile: String { path(.record) }
    package var segments: String { path(.segments) }
    /// The folder of outputs that are being assembled: an engine writes there, and not beside the record.
    package var assemblies: String { path(.assemblies) }
    /// The folder of the engines' standard error, a file for each failed attempt.
    package var attempts: String { path(.attempts) }
    /// The folder of the sources' copies, if the job has any.
    package var stage: String { path(.stage) }

    func path(_ name: JobFileName) -> String { "\(path)/\(name.text)" }

    package func locator(of source: JobSource) -> Locator {
        source.staged.map { .file("\(stage)/\($0)") } ?? source.original
    }

    package func hasCopy(of source: JobSource) -> Bool {
        source.staged.map { access("\(stage)/\($0)", F_OK) == 0 } ?? false
    }

    package func output(_ container: Container) -> String { path(.output(container)) }

    package func assembling(_ container: Container, token: String) -> Locator {
        .file("\(assemblies)/\(token).\(container.rawValue)")
    }

    package func engineFolders() throws(ReelFailure) -> [Locator] {
        try create()
        return [.file(segments), .file(assemblies)]
    }

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

    package var exists: Bool { access(jobFile, F_OK) == 0 }

    /// Makes the folder and the ones inside it, durably.
    package func create() throws(ReelFailure) {
        guard try makeFolders() else { return }
        try SystemError.inStore(.makeFolder, path, Files.syncFolder(path))
        try syncName()
    }

    /// Returns whether a folder was missing.
    private func makeFolders() throws(ReelFailure) -> Bool { try store.makeFolders([segments, assemblies, attempts]) }

    /// Makes the folder's name durable.
    private func syncName() throws(ReelFailure) {
        try SystemError.inStore(.makeFolder, path, FolderSync.shared.sync(store.jobsFolder))
    }

    package func replace(_ read: JobRecord, with changed: JobRecord) throws(ReelFailure) -> Bool {
        guard exists else { throw ReelFailure(.jobUnknownHere(job: id, path: jobFile)) }
        return try whileRecordStays { () throws(ReelFailure) in
            guard try self.read() == read else { return false }
            try AtomicFile.write(json: changed, to: jobFile)
            return true
        }
    }

    /// Runs the body while no other process writes the record.
    func whileRecordStays<Answer>(_ body: () throws(ReelFailure) -> Answer) throws(ReelFailure) -> Answer {
        let lock: FileLock
        do {
            lock = try FileLock.waiting(for: path(.recordLock))
        } catch {
            // The folder has been removed meanwhile.
            guard error.value != ENOENT || exists else { throw ReelFailure(.jobUnknownHere(job: id, path: jobFile)) }
            throw SystemError.store(.lock, path(.recordLock), error.value)
        }
        // A process that waits for the lock then makes a new file.
        defer {
            unlink(path(.recordLock))
            lock.release()
        }
        return try body()
    }

    /// Makes the folder, too.
    package func create(_ record: JobRecord) throws(ReelFailure) -> Bool {
        let bytes = try AtomicFile.json(of: record)
        while true {
            _ = try makeFolders()
            do throws(ReelFailure) {
                let isNew = try whileRecordStays { () throws(ReelFailure) in
                    try AtomicFile.create(bytes, at: jobFile)
                }
                // With the record's name, the names of the folders beside it have become durable. Also if another process
                // has made them all: it may not have come to this.
                try syncName()
                return isNew
            } catch {
                // The folder was removed before the lock was taken, or before the record was written.
                switch error.reason {
                case .jobUnknownHere, .storeUnusable(_, _, ENOENT): continue
                default: throw error
                }
            }
        }
    }

    package func read() throws(ReelFailure) -> JobRecord { try record { $0 } }

    /// The record, decoded from what `reduce` returns for the file's bytes.
    func record(_ reduce: ([UInt8]) -> [UInt8]) throws(ReelFailure) -> JobRecord {
        guard exists else { throw ReelFailure(.jobUnknownHere(job: id, path: jobFile)) }
        return try JobRecord.read(reduce(try AtomicFile.read(jobFile)), of: id, at: jobFile)
    }

    package func writeAttempt(pass: Int, token: String, standardError: String) throws(ReelFailure) {
        try AtomicFile.write(Array(standardError.utf8), to: attempt(pass: pass, token: token))
    }

    package func readAttempt(pass: Int, token: String) -> String? {
        (try? AtomicFile.read(attempt(pass: pass, token: token))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The file of a failed attempt's log; of planning, `pass` is -1.
    package func attempt(pass: Int, token: String) -> String { "\(attempts)/\(pass).\(token).log" }

    /// When a process last took the lock, in seconds since 1970; nil if no process has.
    package var lastUse: Int? { (try? Files.entry(path(.lock)))?.st_mtim.tv_sec }

    func names() throws(ReelFailure) -> [String] { try SystemError.inStore(.read, path, Files.names(in: path)) }
}

extension JobRecord {
    /// The record that is stored at a place, which failures name. Throws `.storeFileDamaged`, also if it is another job's.
    package static func read(_ bytes: [UInt8], of id: JobID, at place: String) throws(ReelFailure) -> JobRecord {
        let record = try AtomicFile.checked(place) { try CanonicalJSON.value(JobRecord.self, from: bytes) }
        // Any user with write access to the store can copy a record into another job's folder.
        guard record.id == id else {
            throw ReelFailure(.storeFileDamaged(path: place, said: "it is the record of job \(record.id)"))
        }
        return record
    }
}

extension Plan {
    /// The plan that is stored at a place, which failures name. Throws `.storeFileDamaged` and `.planOfOtherVersion`.
    package static func read(_ bytes: [UInt8], at place: String) throws(ReelFailure) -> Plan {
        try AtomicFile.checked(place) { try Plan.decoded(from: bytes) }
    }

    /// Bytes of the largest plan that is read.
    package static let mostBytes: Int64 = 256 << 20

    /// SHA-256 of the plan as it is stored, in hexadecimal. The board has it, so that a worker notices if its store has
    /// another plan of the same number.
    package func hash() throws(ReelFailure) -> String { Fingerprint.sha256Hex(try AtomicFile.json(of: self)) }
}

/// Its plans: numbered, and never changed once they are there.
extension JobFolder {
    package func plan(_ number: Int) -> Locator { .file(path(.plan(number))) }

    package func planNumbers() throws(ReelFailure) -> [Int] { try names().compactMap(JobFolder.planNumber).sorted() }

    /// The number of the plan that a file of this name has; nil for others.
    package static func planNumber(_ name: String) -> Int? {
        if case .plan(let number) = JobFileName(name) { number } else { nil }
    }

    package func writePlan(_ plan: Plan) throws(ReelFailure) -> Int {
        var plan = plan
        plan.number = (try planNumbers().last ?? 0) + 1
        while try !AtomicFile.create(AtomicFile.json(of: plan), at: path(.plan(plan.number))) { plan.number += 1 }
        return plan.number
    }

    package func readPlan(_ number: Int) throws(ReelFailure) -> Plan {
        let path = path(.plan(number))
        return try Plan.read(AtomicFile.read(path, mostBytes: Plan.mostBytes), at: path)
    }

    package func latestPlan() throws(ReelFailure) -> Plan? {
        try planNumbers().last.map { number throws(ReelFailure) in try readPlan(number) }
    }

    /// As `JobStore.readIndexes`.
    package func readIndexes(of plan: Plan) async throws(ReelFailure) -> [SourceIndex] {
        try await store.readIndexes(of: plan, read())
    }
}

// Copies of its sources, and pictures for people, which engines make on demand.
extension JobFolder {
    /// Makes a clone that shares the source's blocks if the file system can do that. The copy has the source's
    /// modification time, which is part of its fingerprint.
    package func stage(_ source: String, as name: String, _ fingerprint: Fingerprint) throws(ReelFailure) {
        let copy = "\(stage)/\(name)"
        let temporary = Files.temporaryName(beside: copy)
        defer { unlink(temporary) }
        do throws(SystemCode) {
            try Files.makeFolders(stage)
            let original = try Descriptor(open: source, O_RDONLY)
            let shared = try Files.target(store.root)?.st_mode ?? 0
            let mode = Sharing.modeOfCopy(source: try original.status().st_mode, store: shared)
            try FileCopy.write(original, to: temporary, mode: mode)
            let seconds = fingerprint.mtimeNanoseconds / 1_000_000_000
            let rest = fingerprint.mtimeNanoseconds % 1_000_000_000
            let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
            guard utimensat(AT_FDCWD, temporary, [time, time], 0) == 0 else { throw SystemCode(errno) }
        } catch {
            if error.value == ECANCELED { throw ReelFailure(.copyInterrupted(path: copy)) }
            throw SystemError.store(.copySource, copy, error.value)
        }
        // Another process may have written to it while it was being read.
        guard try fingerprint.matches(.file(source)), try fingerprint.matches(.file(temporary)) else {
            throw ReelFailure(.sourceChangedWhileCopied(path: source))
        }
        try SystemError.inStore(.copySource, copy) { () throws(SystemCode) in
            try Files.rename(temporary, to: copy)
            try Files.syncFolder(stage)
        }
    }

    private var pictures: String { path(.pictures) }

    /// Nil also if something else is in its place.
    package func picture(_ name: PictureName) -> OpenFile? { try? OpenFile(inStore: .file("\(pictures)/\(name.text)")) }

    package func place(of picture: PictureName) -> Locator { .file("\(pictures)/\(picture.text)") }

    package func roomForPicture(of most: Int) throws(ReelFailure) -> Locator {
        try SystemError.inStore(.makeFolder, pictures) { () throws(SystemCode) in
            // Do not make the folders above it, which would bring back a job that is being removed.
            guard mkdir(pictures, 0o777) == 0 || errno == EEXIST else { throw SystemCode(errno) }
            let names = try Files.names(in: pictures)
            if names.count >= most {
                let ages = names.map { ($0, (try? Files.entry("\(pictures)/\($0)"))??.st_mtim.tv_sec ?? 0) }
                for (name, _) in ages.sorted(by: { $0.1 < $1.1 }).prefix(names.count - most + 1) {
                    unlink("\(pictures)/\(name)")
                }
            }
        }
        return .file(pictures)
    }
}

extension JobFolder {
    package func removeParts(keepingSegments: Bool) throws(ReelFailure) {
        if !keepingSegments { try remove(segments) }
        for folder in [stage, assemblies] { try remove(folder) }
        guard exists else { return }
        // A process that is writing the record has a file there that is not whole yet, too.
        try whileRecordStays { () throws(ReelFailure) in
            for name in try names() where JobFileName(name)?.isPart == true { try remove("\(path)/\(name)") }
        }
    }

    package func giveBackParts() throws(ReelFailure) {
        guard exists, access(stage, F_OK) == 0 || access(segments, F_OK) == 0 else { return }
        try whileRecordStays { () throws(ReelFailure) in
            let record = try read()
            if record.needsNoCopies { try remove(stage) }
            if record.needsNoSegments { try remove(segments) }
        }
    }

    /// Removes the record, too, but not the lock, which its holder keeps.
    package func removeContents() throws(ReelFailure) {
        for name in try names() where JobFileName(name) != .lock { try remove("\(path)/\(name)") }
    }

    package func remove() throws(ReelFailure) {
        // A process that wants the same job makes its folders before it learns that another holds the lock.
        for _ in 0..<8 {
            if (try? removeAll()) != nil { return }
        }
        try removeAll()
    }

    /// No process changes the record meanwhile. Blocks.
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

    /// Removes the folder if it has no record, nor any file that is made after the record, nothing directly in it has
    /// changed since a moment, in seconds since 1970, and no process holds its lock. A process that begins the job
    /// meanwhile makes the folder again. Blocks.
    func removeUnlessRecorded(before moment: Double) throws(ReelFailure) {
        guard !exists, let changed = lastChangeBeforeRecord, Double(changed) < moment,
            let lock = try takeLock()
        else { return }
        defer { withExtendedLifetime(lock) {} }
        let isRemoved = try whileRecordStays { () throws(ReelFailure) in
            guard !exists else { return false }
            for name in try names() where JobFileName(name) != .recordLock { try remove("\(path)/\(name)") }
            return true
        }
        if isRemoved { rmdir(path) }
    }

    /// When the folder, or anything directly in it, was last changed, in seconds since 1970. Nil if it has files that
    /// are made after a record, or that no release makes: they may be the rest of a job whose record a user removed.
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

    private func remove(_ item: String) throws(ReelFailure) {
        try SystemError.inStore(.remove, item, Files.removeTree(item, beneath: store.root))
    }
}

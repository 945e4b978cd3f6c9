internal import Glibc
package import ReelCore

/// The files of one source in the store, shared by all jobs made of it: its index, made once.
package struct SourceFolder: SourceEntry {
    /// Path of the folder, which begins with the store's root as it was given. It need not exist.
    package let path: String
    let store: FolderStore

    /// The folder's name: 16 hexadecimal digits of a hash over the fingerprint.
    static func key(_ fingerprint: Fingerprint) throws(ReelFailure) -> String {
        String(Fingerprint.sha256Hex(try AtomicFile.json(of: fingerprint)).prefix(16))
    }

    /// The index that this release can read; nil if there is none. Only its name is looked at. If there are several,
    /// because repeated recons had different results, the first by name.
    package func index(_ kind: IndexKind) -> (hash: String, locator: Locator)? {
        names().first { $0.kind == kind && $0.version == Int(SourceIndex.version) }
            .map { ($0.hash, .file(path(of: $0))) }
    }

    /// Whether a pass has disproved the index that tables and headers made.
    ///
    /// Throws `.unreachable` if the folder cannot be read.
    package func isDisproved() throws(ReelFailure) -> Bool {
        do {
            return try Files.entry(disproofPath) != nil
        } catch {
            throw SystemError.store(.read, disproofPath, error.value)
        }
    }

    /// Records that the index of this source is wrong, and why: from now on the whole source is decoded to plan a job.
    ///
    /// Throws `.unreachable` if the folder cannot be written.
    package func disprove(_ reason: ReelFailure) throws(ReelFailure) {
        try store.makeFolders([path])
        _ = try AtomicFile.create(AtomicFile.json(of: reason), at: disproofPath)
    }

    /// The folder in which the source's indexes are kept, made if there is none.
    ///
    /// Throws `.unreachable` if it cannot be made.
    package func indexFolder() throws(ReelFailure) -> Locator {
        try store.makeFolders([path])
        return .file(path)
    }

    private var disproofPath: String { path + "/disproof.json" }

    /// The place of the index with this hash, of any kind; nil if there is none.
    package func locator(of hash: String) -> Locator? { names().first { $0.hash == hash }.map { .file(path(of: $0)) } }

    /// Whether the index with this hash was made by decoding the whole source.
    package func isDecoded(_ hash: String) -> Bool { names().contains { $0.hash == hash && $0.kind == .decoded } }

    /// Room for an index that an engine is to write.
    ///
    /// Throws `.unreachable` if the store cannot be written.
    package func draft() throws(ReelFailure) -> IndexDraft {
        let folder = try store.temporaryFolder()
        return IndexDraft(at: .file(folder.path + "/index"), in: .file(folder.path), room: folder)
    }

    /// Keeps an index that an engine has written as a draft, and returns its SHA-256 in hexadecimal. It is harmless if
    /// another process keeps the same index at the same time.
    ///
    /// Throws `.unreachable` if the folder cannot be written.
    package func keep(_ draft: IndexDraft, as kind: IndexKind) throws(ReelFailure) -> String {
        let file = draft.locator.path
        let name = IndexName(kind: kind, hash: try Fingerprint.sha256Hex(of: file))
        try store.makeFolders([path])
        do {
            try Descriptor(regular: file).sync()
            try Files.rename(file, to: path(of: name))
            for folder in [path, Files.folder(of: path)] { try Files.syncFolder(folder) }
        } catch {
            throw SystemError.store(.write, path(of: name), error.value)
        }
        return name.hash
    }

    private func names() -> [IndexName] { ((try? Files.names(in: path)) ?? []).compactMap { IndexName($0) } }

    private func path(of name: IndexName) -> String { "\(path)/\(name.text)" }
}

extension FolderStore {
    /// The folder of a source, which may or may not exist yet.
    package func source(_ fingerprint: Fingerprint) throws(ReelFailure) -> SourceFolder {
        SourceFolder(path: "\(sourcesFolder)/\(try SourceFolder.key(fingerprint))", store: self)
    }

    /// The places of the indexes that a plan was made from, in the order of its sources.
    ///
    /// Throws `.unreachable`, cause incompatible, if this host does not see one, or if the plan is not one of the record's
    /// sources.
    package func indexes(of plan: Plan, _ record: JobRecord) throws(ReelFailure) -> [Locator] {
        guard plan.sources.count == record.sources.count else { throw unfit(plan, record) }
        return try zip(plan.sources, record.sources).map { (planned, recorded) throws(ReelFailure) in
            let folder = try source(recorded.fingerprint)
            if let found = folder.locator(of: planned.indexHash) { return found }
            throw ReelFailure(.indexMissing(hash: planned.indexHash, folder: folder.path))
        }
    }

    /// The indexes that a plan was made from, in the order of its sources, with everything that the plan names in them.
    ///
    /// Throws as `indexes` does, also if the plan names frames or tracks that the indexes do not have.
    package func readIndexes(of plan: Plan, _ record: JobRecord) throws(ReelFailure) -> [SourceIndex] {
        let indexes = try indexes(of: plan, record).map { locator throws(ReelFailure) in try readIndex(locator) }
        guard plan.fits(indexes) else { throw unfit(plan, record) }
        return indexes
    }

    private func unfit(_ plan: Plan, _ record: JobRecord) -> ReelFailure {
        ReelFailure(
            .jobFileUnreadable(
                path: job(record.id).plan(plan.number).name,
                said: "it names what its sources or their indexes do not have"))
    }

    /// The index at a locator that this store gave.
    ///
    /// Throws `.unreachable` if it cannot be read, and what decoding throws.
    package func readIndex(_ locator: Locator) throws(ReelFailure) -> SourceIndex {
        try SourceIndex(decoding: AtomicFile.read(locator.path, mostBytes: 1 << 30))
    }

    /// Removes the folders of sources that no job uses. A job's record is written before its source's index is moved
    /// in, so a job that is just being submitted loses nothing. If a record cannot be read, nothing is removed: the
    /// next call tries again, and no other job's end depends on it.
    package func removeUnusedSources() {
        try? removeSources()
    }

    private func removeSources() throws(ReelFailure) {
        let folders: [String]
        do {
            // List the sources first, then the jobs: a source that is listed here has its job's record already.
            folders = try Files.names(in: sourcesFolder)
        } catch {
            throw SystemError.store(.read, sourcesFolder, error.value)
        }
        var used: Set<String> = []
        guard !folders.isEmpty else { return }
        for id in try jobs() {
            do throws(ReelFailure) {
                for source in try job(id).read().sources { used.insert(try SourceFolder.key(source.fingerprint)) }
            } catch  where !job(id).exists {
                continue
            }
        }
        for folder in folders where !used.contains(folder) {
            do {
                try Files.removeTree("\(sourcesFolder)/\(folder)", beneath: root)
            } catch {
                throw SystemError.store(.remove, "\(sourcesFolder)/\(folder)", error.value)
            }
        }
    }
}

internal import Glibc
package import ReelCore

/// The folder of a source: its indexes, and the reason if one was disproved. `SourceEntry` documents the functions that
/// it requires.
package struct SourceFolder: SourceEntry {
    /// Path of the folder, which begins with the store's root as it was given. It need not exist.
    package let path: String
    let store: FolderStore

    package var name: String { path }

    /// The folder's name: 16 hexadecimal digits of a hash over the fingerprint.
    package static func key(_ fingerprint: Fingerprint) throws(ReelFailure) -> String {
        String(Fingerprint.sha256Hex(try AtomicFile.json(of: fingerprint)).prefix(16))
    }

    /// Reads names alone.
    package func index(_ kind: IndexKind) -> (hash: String, locator: Locator)? {
        names().first { $0.kind == kind && $0.version == Int(SourceIndex.version) }
            .map { ($0.hash, .file(path(of: $0))) }
    }

    package func isDisproved() throws(ReelFailure) -> Bool {
        try SystemError.inStore(.read, disproofPath, Files.entry(disproofPath)) != nil
    }

    package func disprove(_ reason: ReelFailure) throws(ReelFailure) {
        try store.makeFolders([path])
        _ = try AtomicFile.create(AtomicFile.json(of: reason), at: disproofPath)
    }

    package func indexFolder() throws(ReelFailure) -> Locator {
        try store.makeFolders([path])
        return .file(path)
    }

    package var disproofPath: String { path + "/disproof.json" }

    package func locator(of hash: String) -> Locator? { names().first { $0.hash == hash }.map { .file(path(of: $0)) } }

    package func isDecoded(_ hash: String) -> Bool { names().contains { $0.hash == hash && $0.kind == .decoded } }

    package func draft() throws(ReelFailure) -> IndexDraft {
        let folder = try store.temporaryFolder()
        return IndexDraft(at: .file(folder.path + "/index"), in: .file(folder.path), room: folder)
    }

    package func keep(_ draft: IndexDraft, as kind: IndexKind) throws(ReelFailure) -> String {
        let file = draft.locator.path
        let name = IndexName(kind: kind, hash: try Fingerprint.sha256Hex(of: file))
        try store.makeFolders([path])
        try SystemError.inStore(.write, path(of: name)) { () throws(SystemCode) in
            try Files.adopt(file, as: path(of: name))
            try Files.syncFolder(Files.folder(of: path))
        }
        return name.hash
    }

    private func names() -> [IndexName] { ((try? Files.names(in: path)) ?? []).compactMap { IndexName($0) } }

    package func path(of name: IndexName) -> String { "\(path)/\(name.text)" }
}

extension FolderStore {
    package func source(_ fingerprint: Fingerprint) throws(ReelFailure) -> SourceFolder {
        SourceFolder(path: "\(sourcesFolder)/\(try SourceFolder.key(fingerprint))", store: self)
    }

    package func readIndex(_ locator: Locator) throws(ReelFailure) -> SourceIndex {
        try SourceIndex(decoding: AtomicFile.read(locator.path, mostBytes: 1 << 30))
    }

    /// If a record cannot be read, nothing is removed: the next call tries again, and no other job's end depends on it.
    package func removeUnusedSources() { try? removeSources() }

    private func removeSources() throws(ReelFailure) {
        // List the sources first, then the jobs: a source that is listed here has its job's record already.
        let folders = try SystemError.inStore(.read, sourcesFolder, Files.names(in: sourcesFolder))
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
            let path = "\(sourcesFolder)/\(folder)"
            try SystemError.inStore(.remove, path, Files.removeTree(path, beneath: root))
        }
    }
}

/// The part of a source that an index describes, and how it was made.
package enum IndexKind: String, CaseIterable, Sendable {
    /// The whole source.
    case index
    /// The whole source, decoded completely because tables and headers had proved wrong.
    case decoded
    /// The sound alone, of a source whose pictures are not used.
    case sound
}

/// The name of an index in its source's folder: KIND.vVERSION.SHA256.
package struct IndexName: Hashable, Sendable {
    package let kind: IndexKind
    /// `SourceIndex.version` of the index.
    package let version: Int
    /// SHA-256 of the file, in hexadecimal.
    package let hash: String

    package init(kind: IndexKind, version: Int = Int(SourceIndex.version), hash: String) {
        self.kind = kind
        self.version = version
        self.hash = hash
    }

    package var text: String { "\(kind.rawValue).v\(version).\(hash)" }

    /// Parses a name; nil for anything that `text` never produces.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let kind = IndexKind(rawValue: parts[0]), let version = Int(parts[1].dropFirst()),
            ContentHash.isOne(parts[2])
        else { return nil }
        self.init(kind: kind, version: version, hash: parts[2])
        guard version >= 0, self.text == text else { return nil }
    }
}

/// Room for an index while an engine writes it. An index that is not kept is removed with the last reference to the
/// draft.
package final class IndexDraft: Sendable {
    /// The place at which the engine writes.
    package let locator: Locator
    /// The folder of that place, which has nothing else in it.
    package let folder: Locator
    /// An object that the store keeps as long as the draft, so that the room stays.
    private let room: any Sendable

    package init(at locator: Locator, in folder: Locator, room: any Sendable) {
        self.locator = locator
        self.folder = folder
        self.room = room
    }

    /// The size of the file that the engine has written, in bytes; nil before it has written one.
    package var bytes: Int64? { ((try? Files.entry(locator.path)) ?? nil).map { Int64($0.st_size) } }
}

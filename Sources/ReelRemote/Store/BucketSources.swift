internal import Foundation
package import ReelCore
package import ReelStore

/// What a ``BucketStore`` has of one source. Its indexes are named by their hashes, so one that was brought to this machine
/// is not asked for again.
package struct BucketSources: SourceEntry {
    /// The source's folder of this machine.
    let local: SourceFolder
    let store: BucketStore

    package var name: String { store.objects.shown(beginning) }

    private var beginning: String { store.name(of: local.path) + "/" }

    /// The indexes that the store lists, which may lack one that was kept a moment ago.
    private func names() async throws(ReelFailure) -> [IndexName] {
        try await store.objects.list(beginning).compactMap { IndexName(String($0.key.dropFirst(beginning.count))) }
            .sorted { $0.text < $1.text }
    }

    /// The place of an index on this machine, to which it is brought if it is not there; nil if there is no such index.
    private func bring(_ name: IndexName) async throws(ReelFailure) -> Locator? {
        let path = local.path(of: name)
        store.noteUse(of: local.path)
        if FileManager.default.fileExists(atPath: path) { return .file(path) }
        guard let bytes = try await store.objects.size(store.name(of: path)) else { return nil }
        _ = try local.indexFolder()
        try await store.objects.download(store.name(of: path), bytes: bytes, to: path)
        guard try Fingerprint.sha256Hex(of: path) == name.hash else {
            try? FileManager.default.removeItem(atPath: path)
            return nil
        }
        return .file(path)
    }

    package func index(_ kind: IndexKind) async throws(ReelFailure) -> (hash: String, locator: Locator)? {
        for name in try await names() where name.kind == kind && name.version == Int(SourceIndex.version) {
            if let locator = try await bring(name) { return (name.hash, locator) }
        }
        return nil
    }

    /// Asks for it by each name that it may have.
    package func locator(of hash: String) async throws(ReelFailure) -> Locator? {
        if let known = local.locator(of: hash) { return known }
        for kind in IndexKind.allCases {
            if let found = try await bring(IndexName(kind: kind, hash: hash)) { return found }
        }
        return nil
    }

    package func isDecoded(_ hash: String) async throws(ReelFailure) -> Bool {
        try await store.objects.exists(store.name(of: local.path(of: IndexName(kind: .decoded, hash: hash))))
    }

    package func indexFolder() throws(ReelFailure) -> Locator { try local.indexFolder() }

    package func draft() throws(ReelFailure) -> IndexDraft { try local.draft() }

    package func keep(_ draft: IndexDraft, as kind: IndexKind) async throws(ReelFailure) -> String {
        let hash = try local.keep(draft, as: kind)
        let path = local.path(of: IndexName(kind: kind, hash: hash))
        try await store.objects.upload(OpenFile(inStore: .file(path)), to: store.name(of: path)) { _, _ in }
        return hash
    }

    private var disproofName: String { store.name(of: local.disproofPath) }

    package func isDisproved() async throws(ReelFailure) -> Bool { try await store.objects.exists(disproofName) }

    package func disprove(_ reason: ReelFailure) async throws(ReelFailure) {
        guard try await !isDisproved() else { return }
        try await store.objects.write(AtomicFile.json(of: reason), to: disproofName)
    }
}

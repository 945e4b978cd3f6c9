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

    private func names() async -> [IndexName] {
        let listed = (try? await store.objects.list(beginning)) ?? []
        return listed.compactMap { IndexName(String($0.key.dropFirst(beginning.count))) }.sorted { $0.text < $1.text }
    }

    /// The place of an index on this machine, to which it is brought if it is not there; nil if it cannot be.
    private func bring(_ name: IndexName) async -> Locator? {
        let path = local.path(of: name)
        store.noteUse(of: local.path)
        if FileManager.default.fileExists(atPath: path) { return .file(path) }
        guard (try? local.indexFolder()) != nil,
            let bytes = try? await store.objects.size(store.name(of: path)),
            (try? await store.objects.download(store.name(of: path), bytes: bytes, to: path)) != nil,
            (try? Fingerprint.sha256Hex(of: path)) == name.hash
        else {
            try? FileManager.default.removeItem(atPath: path)
            return nil
        }
        return .file(path)
    }

    package func index(_ kind: IndexKind) async -> (hash: String, locator: Locator)? {
        for name in await names() where name.kind == kind && name.version == Int(SourceIndex.version) {
            if let locator = await bring(name) { return (name.hash, locator) }
        }
        return nil
    }

    package func locator(of hash: String) async -> Locator? {
        if let known = local.locator(of: hash) { return known }
        guard let name = await names().first(where: { $0.hash == hash }) else { return nil }
        return await bring(name)
    }

    package func isDecoded(_ hash: String) async -> Bool {
        await names().contains { $0.hash == hash && $0.kind == .decoded }
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

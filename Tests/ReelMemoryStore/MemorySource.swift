package import ReelCore
package import ReelStore

/// What a `MemoryStore` has of one source.
package struct MemorySource: SourceEntry {
    let fingerprint: Fingerprint
    let store: MemoryStore

    package var name: String { store.name }

    private var indexes: [MemoryStore.StoredIndex] { store.withState { $0.sources[fingerprint]?.indexes ?? [] } }

    package func index(_ kind: IndexKind) -> (hash: String, locator: Locator)? {
        indexes.filter { $0.kind == kind }.min { $0.hash < $1.hash }.map { ($0.hash, $0.draft.locator) }
    }

    package func locator(of hash: String) -> Locator? { indexes.first { $0.hash == hash }?.draft.locator }

    package func isDecoded(_ hash: String) -> Bool { indexes.contains { $0.hash == hash && $0.kind == .decoded } }

    package func draft() throws(ReelFailure) -> IndexDraft {
        let room = try store.room()
        return IndexDraft(at: room.locator("index"), in: .file(room.path), room: room)
    }

    package func indexFolder() throws(ReelFailure) -> Locator { .file(try store.room().path) }

    package func keep(_ draft: IndexDraft, as kind: IndexKind) throws(ReelFailure) -> String {
        let index = MemoryStore.StoredIndex(
            kind: kind, hash: try Fingerprint.sha256Hex(of: draft.locator.name), draft: draft)
        store.withState { state in
            guard !indexed(state, index) else { return }
            state.sources[fingerprint, default: MemoryStore.SourceState()].indexes.append(index)
        }
        return index.hash
    }

    private func indexed(_ state: MemoryStore.State, _ index: MemoryStore.StoredIndex) -> Bool {
        state.sources[fingerprint]?.indexes.contains { ($0.kind, $0.hash) == (index.kind, index.hash) } ?? false
    }

    package func isDisproved() -> Bool { store.withState { $0.sources[fingerprint]?.disproof != nil } }

    package func disprove(_ reason: ReelFailure) {
        store.withState { $0.sources[fingerprint, default: MemoryStore.SourceState()].disproof = reason }
    }
}

package import ReelCore
internal import ReelStore

extension MemoryJob {
    package func place(of name: SegmentName) -> SegmentPlace {
        let room = (try? segment(name))?.path ?? store.missing("segment").name
        return SegmentPlace(name: name, data: .file(room + "/data"), record: .file(room + "/record"))
    }

    /// The room of a segment, made if there is none.
    private func segment(_ name: SegmentName) throws(ReelFailure) -> Room {
        if let room = withState({ $0.segments[name] }) { return room }
        let room = try store.room()
        return withState { state in
            let kept = state.segments[name] ?? room
            state.segments[name] = kept
            return kept
        }
    }

    /// Every segment that has a record, in the order of names.
    private var finished: [(name: SegmentName, room: Room)] {
        withState(\.segments).filter { $0.value.size(of: "record") != nil }.map { ($0.key, $0.value) }
            .sorted { $0.name.text < $1.name.text }
    }

    package func hasSegments(of parts: Set<SegmentPart>) -> Bool {
        finished.contains { parts.contains($0.name.subject.part) }
    }

    package var hasFinishedSegments: Bool { !finished.isEmpty }

    package func wholeSegments(_ wanted: [[SegmentContent]]) -> [[SegmentRecord?]] {
        var found: [SegmentContent: SegmentRecord] = [:]
        for (record, room) in records(of: Set(wanted.joined())) where isWhole(record, room) {
            for content in record.content.uses where found[content] == nil { found[content] = record }
        }
        return wanted.map { contents in contents.map { found[$0] } }
    }

    package func recordedSegments(_ wanted: [SegmentContent]) -> [SegmentRecord?] {
        let records = records(of: Set(wanted)).map(\.record)
        return wanted.map { content in records.first { $0.content.uses.contains(content) } }
    }

    /// Records that say they are of these contents.
    private func records(of wanted: Set<SegmentContent>) -> [(record: SegmentRecord, room: Room)] {
        finished.compactMap { name, room in
            guard let bytes = room.read("record"),
                let record = try? CanonicalJSON.value(SegmentRecord.self, from: bytes),
                record.version == SegmentRecord.version, record.name == name,
                record.content.uses.contains(where: wanted.contains)
            else { return nil }
            return (record, room)
        }
    }

    private func isWhole(_ record: SegmentRecord, _ room: Room) -> Bool {
        guard let bytes = room.read("data"), Int64(bytes.count) == record.bytes else { return false }
        return Fingerprint.sha256Hex(bytes) == record.checksum
    }

    package func missingSegments(of records: [SegmentRecord]) -> [SegmentRecord] {
        let rooms = withState(\.segments)
        return records.filter { rooms[$0.name]?.size(of: "data") != $0.bytes }
    }

    package func areWhole(_ records: [SegmentRecord]) -> Bool {
        let rooms = withState(\.segments)
        return records.allSatisfy { record in rooms[record.name].map { isWhole(record, $0) } ?? false }
    }

    package func removeStrays() {
        let whole = Set(finished.map(\.name))
        withState { state in state.segments = state.segments.filter { whole.contains($0.key) } }
    }

    package func removePartial(token: String) {
        let whole = Set(finished.map(\.name))
        withState { state in
            state.segments = state.segments.filter { $0.key.token != token || whole.contains($0.key) }
            state.assembling = state.assembling.filter { $0.key.first != token }
        }
    }
}

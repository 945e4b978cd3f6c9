package import ReelCore
package import ReelStore

/// What a `MemoryStore` has of one job.
package struct MemoryJob: JobEntry {
    package let id: JobID
    let store: MemoryStore

    /// Reads or changes what the store has of the job.
    func withState<R: Sendable, E: Error>(_ body: (inout MemoryStore.JobState) throws(E) -> R) throws(E) -> R {
        try store.withState { state throws(E) in try body(&state.jobs[id, default: MemoryStore.JobState()]) }
    }

    /// The same, if the store has a record of the job.
    func withRecorded<R: Sendable>(
        _ body: (inout MemoryStore.JobState) throws(ReelFailure) -> R
    ) throws(ReelFailure) -> R {
        try withState { state throws(ReelFailure) in
            guard state.record != nil else { throw ReelFailure(.jobUnknownHere(job: id, path: store.name)) }
            return try body(&state)
        }
    }

    // MARK: The record

    package var exists: Bool { withState { $0.record != nil } }

    package func read() throws(ReelFailure) -> JobRecord {
        guard let record = withState(\.record) else { throw ReelFailure(.jobUnknownHere(job: id, path: store.name)) }
        return record
    }

    package func replace(_ read: JobRecord, with changed: JobRecord) throws(ReelFailure) -> Bool {
        try withRecorded { state in
            guard state.record == read else { return false }
            state.record = changed
            return true
        }
    }

    package func create(_ record: JobRecord) -> Bool {
        withState { state in
            guard state.record == nil else { return false }
            state.record = record
            return true
        }
    }

    package func removeParts(keepingSegments: Bool) {
        withState { state in
            if !keepingSegments { state.segments = [:] }
            (state.copies, state.assembling) = ([:], [:])
        }
    }

    package func giveBackParts() {
        withState { state in
            if state.record?.needsNoCopies == true { state.copies = [:] }
            if state.record?.needsNoSegments == true { state.segments = [:] }
        }
    }

    package func removeContents() { remove() }

    package func remove() { store.withState { $0.jobs[id] = nil } }

    package func remove(ifStill read: JobRecord) -> Bool {
        store.withState { state in
            guard let record = state.jobs[id]?.record else { return true }
            guard record == read else { return false }
            state.jobs[id] = nil
            return true
        }
    }

    // MARK: Sources

    package func locator(of source: JobSource) -> Locator {
        guard let name = source.staged else { return source.original }
        return withState { $0.copies[name]?.locator("copy") } ?? store.missing("copy")
    }

    package func hasCopy(of source: JobSource) -> Bool {
        withState { state in source.staged.map { state.copies[$0] != nil } ?? false }
    }

    package func stage(_ path: String, as name: String, _ fingerprint: Fingerprint) throws(ReelFailure) {
        let room = try store.room()
        try room.copy(path, as: "copy", mtimeNanoseconds: fingerprint.mtimeNanoseconds)
        guard try fingerprint.matches(.file(path)), try fingerprint.matches(room.locator("copy")) else {
            throw ReelFailure(.sourceChangedWhileCopied(path: path))
        }
        withState { $0.copies[name] = room }
    }

    // MARK: Plans

    package func planNumbers() -> [Int] { withState { $0.plans.keys.sorted() } }

    package func writePlan(_ plan: Plan) throws(ReelFailure) -> Int {
        let room = try store.room()
        return try withRecorded { state throws(ReelFailure) in
            var plan = plan
            plan.number = (state.plans.keys.max() ?? 0) + 1
            guard let bytes = try? CanonicalJSON.bytes(of: plan) else { throw Room.failure(room.path) }
            try room.write(bytes, as: "plan.json")
            state.plans[plan.number] = MemoryStore.StoredPlan(plan: plan, room: room)
            return plan.number
        }
    }

    package func readPlan(_ number: Int) throws(ReelFailure) -> Plan {
        guard let plan = withState({ $0.plans[number]?.plan }) else {
            throw ReelFailure(.storeUnusable(doing: .read, path: "plan \(number) of job \(id)", errno: 2))
        }
        return plan
    }

    package func latestPlan() -> Plan? {
        withState { state in state.plans.keys.max().flatMap { state.plans[$0]?.plan } }
    }

    package func plan(_ number: Int) -> Locator {
        withState { $0.plans[number]?.room.locator("plan.json") } ?? store.missing("plan.json")
    }

    // MARK: Engines

    /// Each file has a folder of its own, and the engines of the tests are not confined.
    package func engineFolders() -> [Locator] { [] }

    // MARK: Pictures for people

    private var pictures: Room? {
        withState { state in
            if state.pictures == nil { state.pictures = try? store.room() }
            return state.pictures
        }
    }

    package func picture(_ name: PictureName) -> OpenFile? { try? OpenFile(inStore: place(of: name)) }

    package func place(of picture: PictureName) -> Locator {
        pictures?.locator(picture.text) ?? store.missing(picture.text)
    }

    package func roomForPicture(of most: Int) -> Locator { .file(pictures?.path ?? store.folder) }

    // MARK: The result

    package func assembling(_ container: Container, token: String) -> Locator {
        let name = MemoryJob.output(container)
        guard let room = try? store.room() else { return store.missing(name) }
        return withState { state in
            let kept = state.assembling[[token, name]] ?? room
            state.assembling[[token, name]] = kept
            return kept.locator(name)
        }
    }

    private static func output(_ container: Container) -> String { "output.\(container.rawValue)" }

    package func adoptOutput(
        assembledBy token: String, as container: Container, bytes: Int64, sha256: String
    ) throws(ReelFailure) -> JobResult {
        let result = JobResult(name: MemoryJob.output(container), bytes: bytes, sha256: sha256)
        return try withRecorded { state throws(ReelFailure) in
            guard let room = state.assembling[[token, result.name]], room.size(of: result.name) == bytes else {
                throw ReelFailure(.engineMisanswered(task: .assemble))
            }
            (state.assembling[[token, result.name]], state.output) = (nil, room)
            return result
        }
    }

    package var publishedOutput: StoredResult? {
        guard let (recorded, room) = output, room.size(of: recorded.name) == recorded.bytes else { return nil }
        return StoredResult(job: id, locator: room.locator(recorded.name), recorded: recorded)
    }

    private var output: (JobResult, Room)? {
        withState { state in
            guard let recorded = state.record?.result, let room = state.output else { return nil }
            return (recorded, room)
        }
    }

    package func storedResult() throws(ReelFailure) -> StoredResult {
        let state = try read().state
        guard state == .done, let (recorded, room) = output, let size = room.size(of: recorded.name) else {
            throw ReelFailure(.noResult(job: id, state: state))
        }
        guard size == recorded.bytes else {
            throw ReelFailure(
                .resultDiffers(
                    job: id, path: room.path, bytes: size, sha256: recorded.sha256, recordedBytes: recorded.bytes,
                    recordedSha256: recorded.sha256))
        }
        return StoredResult(job: id, locator: room.locator(recorded.name), recorded: recorded)
    }

    // MARK: What engines said

    package func writeAttempt(pass: Int, token: String, standardError: String) throws(ReelFailure) {
        try withRecorded { $0.attempts["\(pass) \(token)"] = standardError }
    }

    package func readAttempt(pass: Int, token: String) -> String? { withState { $0.attempts["\(pass) \(token)"] } }
}

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

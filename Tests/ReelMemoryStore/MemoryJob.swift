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

    package func giveBackCopies() throws(ReelFailure) {
        guard exists, try [.done, .cancelled].contains(read().state) else { return }
        withState { $0.copies = [:] }
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
        guard let name = source.staged else { return .file(source.path) }
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

internal import Foundation
package import ReelCore
package import ReelEngine
package import ReelQueue
package import ReelStore

/// Makes what a job needs before its passes can be published: the index of its source and a plan, unless the store has
/// them and they still hold. The process that submits the job does this, or a worker in its place.
package struct Planning: Sendable {
    package let store: any JobStore
    var engine: any EngineRunner
    let capacity: Capacity
    let quotas: Quotas
    let reading: JobService.Reading
    let working: Working
    /// Whether one engine does all of any job, however long, as if it were small.
    let takesAllAsSmall: Bool

    /// Hears of a job that this process does as a whole, as a board would show it.
    package typealias Working = @Sendable (JobStatus) -> Void

    /// Bytes of memory that planning may take: recon of ten hours at 60 frames a second stays below.
    static let need: Int64 = 512 << 20

    /// - Parameters:
    ///   - capacity: slots and memory of the machines that will do the work, as far as they are known.
    ///   - reading: hears how far the engine has read the source.
    ///   - working: hears how far a small job is, up to its assembly.
    ///   - takesAllAsSmall: whether one engine does all of any job, however long.
    package init(
        store: any JobStore, engine: any EngineRunner, capacity: Capacity, quotas: Quotas = Quotas(),
        reading: @escaping JobService.Reading = { _ in }, working: @escaping Working = { _ in },
        takesAllAsSmall: Bool = false
    ) {
        self.store = store
        self.engine = engine
        self.capacity = capacity
        self.quotas = quotas
        self.reading = reading
        self.working = working
        self.takesAllAsSmall = takesAllAsSmall
    }

    /// The engine's report about a job's sources, and the encoders that it has.
    struct PlanningSources: Sendable {
        let input: PlanInput
        /// Builds of the encoders that this machine has.
        let encoders: [String]
    }

    /// Plans a job that no other process can work at, unless the store has its result.
    ///
    /// - Parameter anew: remove first the files that an earlier run left.
    package func planAlone(_ wanted: JobRecord, anew: Bool) async throws(ReelFailure) -> StoredJob {
        let entry = store.job(wanted.id)
        if !anew, let job = try? await StoredJob(entry), await job.result != nil { return job }
        try await openAlone(wanted, anew: anew)
        return try await planOnly(entry.read()).job
    }

    /// Writes the record of a job that no other process can work at.
    func openAlone(_ wanted: JobRecord, anew: Bool) async throws(ReelFailure) {
        let entry = store.job(wanted.id)
        if anew { try await entry.removeContents() }
        try await entry.open(wanted)
    }

    /// Plans a job whose planning a claim holds, and returns it when its passes are on the board, or when it is done; if
    /// it was small and could not be done as a whole, with the failure.
    ///
    /// Throws `.probeLost` if another process holds the planning by then, `.jobCancelled` if a user cancelled the job,
    /// and what reading and planning throw.
    ///
    /// - Parameter scratch: a folder of this machine, in which a small job is done as a whole. Nil to leave all passes to
    ///   workers.
    package func plan(
        _ claim: Claim, on board: any Board, scratch: String? = nil
    ) async throws(ReelFailure) -> (job: StoredJob, isDone: Bool, failure: WholeJobFailure?) {
        let entry = store.job(claim.job)
        let record = try await entry.read()
        let planned =
            if let scratch {
                try await planAndDo(record, token: claim.token, scratch: scratch)
            } else {
                try await planOnly(record)
            }
        guard let made = planned.work.made else {
            let finished = await planned.job.finished(in: planned.indexes)
            try await publish(planned.job, claim, finished, on: board)
            return (planned.job, false, planned.work.failure)
        }
        try await entry.recordDone(made.output, at: board.endOfNow())
        do throws(ReelFailure) {
            try await publish(planned.job, claim, made.results, on: board)
        } catch {
            // The board alone decides between an end and a cancellation.
            try? await entry.settle(on: board)
            throw error
        }
        return (planned.job, true, nil)
    }

    private func publish(
        _ job: StoredJob, _ claim: Claim, _ finished: [Int: RecordedResult], on board: any Board
    ) async throws(ReelFailure) {
        try await board.patiently { () throws(ReelFailure) in try await job.publish(on: board, claim, finished) }
    }

    /// Reads the sources, unless the store has their indexes, and chooses how the output is encoded.
    ///
    /// Throws `.input` if a source is at fault, `.usage` if the request is, and `.unreachable`.
    func examine(_ record: JobRecord) async throws(ReelFailure) -> PlanningSources {
        var parts: [ReconPart] = []
        for number in record.sources.indices { parts.append(try await part(number, of: record)) }
        return try await examine(parts, of: record)
    }

    func examine(_ parts: [ReconPart], of record: JobRecord) async throws(ReelFailure) -> PlanningSources {
        try await ReelFailure.unifying {
            var found: [StoredIndex] = []
            for part in parts {
                let read = try await index(part, of: record)
                if read.index.video.isNone, part.kind != .sound, !record.spec.container.traits.isOfSound {
                    throw ReelFailure(.noVideo(path: part.locator.name))
                }
                found.append(read)
            }
            return try await engine.withEngine(memory: nil, scope: scope(toChoose: parts)) { [found] session in
                PlanningSources(
                    input: try await input(for: record.spec, found, in: session), encoders: session.identity.encoders)
            }
        }
    }

    /// What the plan is made of, with how the output is encoded. The number of passes, and so that of threads for each,
    /// is known once the encoder is: an encoder that gets more than one thread is chosen again with their number.
    private func input(
        for spec: JobSpec, _ found: [StoredIndex], in session: any Engine
    ) async throws(ReelFailure) -> PlanInput {
        let indexes = found.map(\.index)
        func choose(threads: Int) async throws(ReelFailure) -> PlanInput {
            let request = ChooseRequest(indexes: found.map(\.locator), spec: spec, threads: threads)
            guard case .targets(let targets) = try await session.perform(.choose(request)) else {
                throw ReelFailure(.engineMisanswered(task: .choose))
            }
            guard targets.isSound(for: indexes) else { throw nonsense(.choice) }
            return PlanInput(
                indexes: indexes, indexHashes: found.map(\.hash), spec: spec, video: targets.video,
                audio: targets.audio, diagnostics: targets.diagnostics)
        }
        let input = try await choose(threads: 1)
        guard spec.threads == nil else { return input }
        let threads = try capacity.planner.threads(input)
        return threads > 1 ? try await choose(threads: threads) : input
    }

    /// A source of the job, and where its index is or is to be.
    struct ReconPart: Sendable {
        /// The source's place in the record.
        let number: Int
        let source: JobSource
        /// The place of its bytes: the copy in the store if it has been made.
        let locator: Locator
        let entry: any SourceEntry
        let kind: IndexKind
        let isDisproved: Bool
        let indexes: Locator
        /// Room for the index; nil if the store has it.
        let draft: IndexDraft?

        /// Whether the bytes are the source's own, not a copy in the store.
        var isOriginal: Bool { locator == source.original }
        /// Whether it is no file of the store.
        var isOutside: Bool { isOriginal || locator.web != nil }

        /// Bytes of the source.
        var bytes: Int64 { max(0, min(source.fingerprint.size, 1 << 50)) }

        /// A packet takes more bytes of the source than of the index; an index of decoded frames has hashes, too.
        var mostBytesOfIndex: Int64 {
            min((16 << 20) + bytes * (kind == .decoded ? 8 : 2), Planning.longestIndex)
        }
    }

    func part(_ number: Int, of record: JobRecord) async throws(ReelFailure) -> ReconPart {
        let source = record.sources[number]
        let entry = try store.source(source.fingerprint)
        let isSoundOnly = record.spec.isOnlyHeard(number)
        let isDisproved = isSoundOnly ? false : try await entry.isDisproved()
        let kind: IndexKind = isSoundOnly ? .sound : isDisproved ? .decoded : .index
        let isKnown = try await entry.index(kind) != nil
        return ReconPart(
            number: number, source: source, locator: await store.job(record.id).presentLocator(of: source),
            entry: entry, kind: kind, isDisproved: isDisproved, indexes: try await entry.indexFolder(),
            draft: isKnown ? nil : try await entry.draft())
    }

    /// What the engine reaches that reads a source. Each source has an engine of its own: one that a hostile file has
    /// taken over could otherwise falsify the index of another file, which other jobs use, too.
    func scope(toRead part: ReconPart) -> EngineScope {
        EngineScope(
            sources: part.isOutside ? [part.locator] : [], reads: part.isOutside ? [] : [part.locator],
            folders: part.draft.map { [$0.folder] } ?? [],
            // Decoding takes the most time for its bytes where a picture hardly changes.
            cpuSeconds: quotas[.passCPU].map { Int($0) } ?? 3600 + Int(part.bytes >> 12),
            fileBytes: part.mostBytesOfIndex)
    }

    /// What the engine reaches that chooses the encoders by the indexes.
    private func scope(toChoose parts: [ReconPart]) -> EngineScope {
        EngineScope(
            // It reads none of them. One outside the roots is refused here, before it is copied into the store.
            sources: parts.filter(\.isOriginal).map(\.locator), reads: parts.map(\.indexes), folders: [],
            cpuSeconds: 3600)
    }

    /// No store reads an index with more bytes.
    private static let longestIndex: Int64 = 1 << 30

    /// The index of a source, which an engine makes unless the store has it.
    func index(_ part: ReconPart, of record: JobRecord) async throws -> StoredIndex {
        // Two sources of a job may be the same file.
        if let known = try await part.entry.index(part.kind) {
            return StoredIndex(
                hash: known.hash, locator: known.locator, index: try await store.readIndex(known.locator))
        }
        guard let draft = part.draft else { throw ReelFailure(.indexMissing(hash: "", folder: part.indexes.name)) }
        let request = EngineRequest.recon(
            ReconRequest(
                source: part.locator, index: draft.locator, decoding: part.isDisproved ? .disproved : nil,
                isSoundOnly: part.kind == .sound))
        let (read, all) = (Double(part.number), Double(record.sources.count))
        let result = try await engine.withEngine(memory: nil, scope: scope(toRead: part)) { session in
            do {
                return try await session.perform(request) { [reading] progress in
                    if case .recon(_, let thousandths) = progress { reading((read + Double(thousandths) / 1000) / all) }
                }
            } catch {
                throw await store.checked(.of(error))
            }
        }
        guard case .recon(let result) = result else { throw ReelFailure(.engineMisanswered(task: .recon)) }
        // The job's id is made of the fingerprint, so the bytes that were read must have it.
        guard try part.source.fingerprint.matches(part.locator) else {
            throw ReelFailure(.sourceReplaced(path: part.locator.name))
        }
        // Other jobs of the source would find it.
        let index = try await written(draft, by: part)
        let hash = try await part.entry.keep(draft, as: part.kind)
        guard hash == result.indexHash else { throw nonsense(.recon(source: part.locator.name)) }
        guard let kept = try await part.entry.locator(of: hash) else {
            throw ReelFailure(.indexMissing(hash: hash, folder: store.name))
        }
        return StoredIndex(hash: hash, locator: kept, index: index)
    }

    /// The index that an engine has just written. If it is impossible, the engine is to blame, not the store.
    private func written(_ draft: IndexDraft, by part: ReconPart) async throws(ReelFailure) -> SourceIndex {
        // This process reads the index into memory. An engine that does the whole job may write larger files.
        guard draft.bytes ?? 0 <= part.mostBytesOfIndex else { throw nonsense(.recon(source: part.locator.name)) }
        do {
            return try await store.readIndex(draft.locator)
        } catch {
            guard case .indexDamaged = error.reason else { throw error }
            throw nonsense(.recon(source: part.locator.name))
        }
    }

    private func nonsense(_ place: EnginePlace) -> ReelFailure {
        ReelFailure(.engineNonsense(place: place, nonsense: .unfitResult(part: .numbers), lastWords: nil))
    }

    /// Plans a job by what the engine said of its sources, unless the store's last plan still holds. Only the caller may
    /// work at the job meanwhile.
    func findOrMakePlan(of id: JobID, from sources: PlanningSources) async throws(ReelFailure) -> StoredJob {
        let entry = store.job(id)
        let record = try await entry.read()
        let new = try newPlan(sources)
        var kept = try? await entry.latestPlan()
        if let latest = kept, !holds(latest, beside: new, record) { kept = nil }
        let plan = if let kept { kept } else { try await entry.readPlan(entry.writePlan(new)) }
        return StoredJob(record: record, plan: plan, entry: entry, hadPlan: kept != nil)
    }

    private func newPlan(_ sources: PlanningSources) throws(ReelFailure) -> Plan {
        var plan = try capacity.planner.plan(sources.input)
        try quotas.check(plan, of: sources.input.indexes)
        plan.encoders = plan.builds(among: sources.encoders)
        return plan
    }

    /// Whether an earlier plan still holds, compared with the one that would be made now.
    private func holds(_ earlier: Plan, beside plan: Plan, _ record: JobRecord) -> Bool {
        earlier.sources == plan.sources && earlier.encoders == plan.encoders
            && earlier.video.identity == plan.video.identity
            && earlier.need <= max(capacity.ceiling(record.spec) ?? .max, plan.need)
    }

    /// Copies the sources into the store if the record says so.
    func stage(_ record: JobRecord) async throws(ReelFailure) { try await store.job(record.id).stage(record.sources) }
}

struct StoredIndex: Sendable {
    /// SHA-256 of its file.
    let hash: String
    let locator: Locator
    let index: SourceIndex
}

/// What the machines have that will do a job's work, as far as it is known when the job is planned.
package struct Capacity: Sendable {
    private let slots: Int
    /// Bytes that a pass should take at most.
    private let share: Int64
    /// Bytes that no pass may exceed, because a user chose that limit; nil if none did.
    private let limit: Int64?

    package static let slotLimit = 1...1024

    /// Slots to plan for if no worker has registered.
    static let usualSlots = 8

    /// Workers on other machines: their memory is known only when they claim.
    package init(slots: Int) {
        self.slots = slots
        share = Capacity.usualShare
        limit = nil
    }

    /// This machine, whose slots share a total.
    ///
    /// - Parameters:
    ///   - memoryTotal: bytes.
    ///   - isLimit: whether a user chose the total. If not, a pass that needs more takes it.
    package init(slots: Int, memoryTotal: Int64, isLimit: Bool) {
        self.slots = slots
        share = min(Capacity.usualShare, memoryTotal / Int64(max(slots, 1)))
        limit = isLimit ? memoryTotal : nil
    }

    private static let usualShare: Int64 = 2 << 30

    package static func ofWorkers(on board: any Board) async throws(ReelFailure) -> Capacity {
        let slots = try await board.workers().reduce(0) { $0 + $1.report.slots }
        return Capacity(slots: slots > 0 ? slots : usualSlots)
    }

    /// Bytes that no pass of a job may exceed; nil if nothing limits it.
    func ceiling(_ spec: JobSpec) -> Int64? { [spec.memory, limit].compactMap(\.self).min() }

    var planner: Planner { Planner(slots: slots, memory: MemoryRequest(budget: share, limit: limit)) }
}

internal import Foundation
package import ReelCore
package import ReelEngine
internal import ReelQueue
package import ReelStore

/// Makes what a job needs before its passes can be published: the index of its source, unless the store has it, and a plan,
/// unless the store has one that still holds. The process that submits the job does this, or a worker in its place.
package struct Probe: Sendable {
    package let store: any JobStore
    let engine: any EngineRunner
    let capacity: Capacity
    let reading: JobService.Reading

    /// Bytes of memory that probing may take: recon of ten hours at 60 frames a second stays below.
    static let need: Int64 = 512 << 20

    /// - Parameters:
    ///   - capacity: slots and memory of the machines that will do the work, as far as they are known.
    ///   - reading: hears how far the engine has read the source.
    package init(
        store: any JobStore, engine: any EngineRunner, capacity: Capacity,
        reading: @escaping JobService.Reading = { _ in }
    ) {
        self.store = store
        self.engine = engine
        self.capacity = capacity
        self.reading = reading
    }

    /// The engine's report about a job's sources, and the encoders that it has.
    struct ProbedSources: Sendable {
        /// One for each source, in the record's order.
        let indexes: [SourceIndex]
        /// SHA-256 of each index's file.
        let indexHashes: [String]
        let targets: TargetsResult
        /// Builds of the encoders that this machine has.
        let encoders: [String]
    }

    /// Plans a job that no other process can work at, unless the store has its result.
    ///
    /// - Parameter anew: remove first the files that an earlier run left.
    package func planAlone(_ wanted: JobRecord, anew: Bool) async throws(ReelFailure) -> StoredJob {
        let entry = store.job(wanted.id)
        if anew { try await entry.removeContents() }
        if let job = try? await StoredJob(entry), await job.result != nil { return job }
        try await entry.open(wanted)
        return try await plan(wanted.id, of: try await examine(entry.read())).job
    }

    /// Reads the sources, unless the store has their indexes, and chooses how the output is encoded.
    ///
    /// Throws `.input` if a source is at fault, `.usage` if the request is, and `.unreachable` if the store cannot be
    /// written.
    func examine(_ record: JobRecord) async throws(ReelFailure) -> ProbedSources {
        try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in
                var found: [(hash: String, locator: Locator)] = []
                for number in record.sources.indices { found.append(try await index(number, of: record, in: session)) }
                var indexes: [SourceIndex] = []
                for (_, locator) in found { indexes.append(try await store.readIndex(locator)) }
                return ProbedSources(
                    indexes: indexes, indexHashes: found.map(\.hash),
                    targets: try await targets(for: record.spec, indexes, at: found.map(\.locator), in: session),
                    encoders: session.identity.encoders)
            }
        }
    }

    /// How the output is encoded. How many passes there are, and so how many threads each should have, is known once the
    /// encoder is: an encoder that gets more than one is chosen again with their number.
    private func targets(
        for spec: JobSpec, _ indexes: [SourceIndex], at files: [Locator], in session: any Engine
    ) async throws(ReelFailure) -> TargetsResult {
        func choose(threads: Int) async throws(ReelFailure) -> TargetsResult {
            let request = EngineRequest.choose(ChooseRequest(indexes: files, spec: spec, threads: threads))
            guard case .targets(let targets) = try await session.perform(request) else {
                throw ReelFailure(.engineMisanswered(task: .choose))
            }
            return targets
        }
        let targets = try await choose(threads: 1)
        let threads = try capacity.planner.threads(indexes: indexes, spec: spec, video: targets.video)
        guard spec.threads == nil, threads > 1 else { return targets }
        return try await choose(threads: threads)
    }

    /// Hash and place of the index of a source, or of its first part if the job is an early start.
    ///
    /// - Parameter number: the source's place in the record.
    private func index(
        _ number: Int, of record: JobRecord, in session: any Engine
    ) async throws(ReelFailure) -> (hash: String, locator: Locator) {
        let recorded = record.sources[number]
        let folder = try store.source(recorded.fingerprint)
        let isSoundOnly = record.spec.isOnlyHeard(number)
        let isDisproved = isSoundOnly ? false : try await folder.isDisproved()
        let kind: IndexKind = record.headBytes != nil ? .head : isSoundOnly ? .sound : isDisproved ? .decoded : .index
        if let known = await folder.index(kind) { return known }
        // The copy in the store, if it is there by now.
        let source = await store.job(record.id).presentLocator(of: recorded)
        let draft = try await folder.draft()
        let request = EngineRequest.recon(
            ReconRequest(
                source: source, index: draft.locator, limit: record.headBytes, decoding: isDisproved ? .disproved : nil,
                isSoundOnly: isSoundOnly))
        let (read, all) = (Double(number), Double(record.sources.count))
        let result = try await session.perform(request) { [reading] progress in
            if case .recon(_, let thousandths) = progress { reading((read + Double(thousandths) / 1000) / all) }
        }
        guard case .recon(let result) = result else {
            throw ReelFailure(.engineMisanswered(task: .recon))
        }
        // The job's id is made of the fingerprint, so the bytes that were read must have it.
        guard try recorded.fingerprint.matches(source) else {
            throw ReelFailure(.sourceReplaced(path: source.name))
        }
        guard try await folder.keep(draft, as: kind) == result.indexHash,
            let kept = await folder.locator(of: result.indexHash)
        else { throw ReelFailure(.indexMissing(hash: result.indexHash, folder: store.name)) }
        return (result.indexHash, kept)
    }
}

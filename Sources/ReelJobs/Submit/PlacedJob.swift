public import ReelCore
internal import ReelEngine
package import ReelQueue
public import ReelStore

/// A job that the store holds with a plan.
public struct PlacedJob: Sendable {
    public let record: JobRecord
    public let plan: Plan
    public let folder: JobFolder
    /// Whether an earlier run of the same job left the plan.
    public let resumed: Bool

    package init(record: JobRecord, plan: Plan, folder: JobFolder, resumed: Bool) {
        self.record = record
        self.plan = plan
        self.folder = folder
        self.resumed = resumed
    }

    /// A job as its folder has it, by its last plan or the one of a number. Throws `.unreachable` where that is not
    /// whole.
    package init(_ folder: JobFolder, plan number: Int? = nil) throws(ReelFailure) {
        let record = try folder.read()
        let latest = try folder.planNumbers().last
        let plan = try folder.readPlan(number ?? latest ?? 1)
        self.init(record: record, plan: plan, folder: folder, resumed: true)
    }

    public var id: JobID { record.id }

    package var beginning: PublishedJob { record.beginning }

    /// The verified result, if the store has it.
    public var result: StoredResult? { folder.result }

    /// The indexes that the plan was made from, in the order of its sources. Throws as `Store.readIndexes` does.
    package func indexes(in store: Store) throws(ReelFailure) -> [SourceIndex] {
        try store.readIndexes(of: plan, record)
    }

    /// Results of the passes whose segments are all whole, by index.
    func finished(in indexes: [SourceIndex]) -> [Int: RecordedResult] {
        guard folder.hasSegments(of: plan.parts) else { return [:] }
        let planned = PlannedSegments(plan: plan, indexes: indexes)
        let whole = folder.wholeSegments(plan.passes.map(planned.contents))
        return zip(plan.passes, whole).enumerated().reduce(into: [:]) { found, entry in
            let (place, (pass, segments)) = entry
            guard let result = pass.result(of: segments), let name = result.segments.first?.name else { return }
            found[place] = RecordedResult(token: name.token, result: result)
        }
    }

    /// Hands what it has made over to another job that wants the same.
    package func give(_ wanted: [SegmentContent], to folder: JobFolder) throws(ReelFailure) {
        try folder.take(wanted, from: self.folder)
    }

    /// Makes it runnable on the board, for whoever holds its probe. What the store has of it counts as finished there from
    /// the start.
    func publish(on board: Board, _ claim: Claim, _ finished: [Int: RecordedResult]) async throws(ReelFailure)
        -> Published
    {
        let job = PublishedJob(
            id: id, source: record.source.path, frames: plan.frameCount,
            passCount: plan.passes.count, need: plan.need, encoders: plan.encoders, protocolVersion: Wire.version,
            weight: record.terms.weight, encodingEffort: plan.video.encodingEffort, diagnostics: plan.diagnostics,
            plan: plan.number)
        return try await board.publish(
            job, passes: plan.passes, finished: finished, claim: claim, paused: record.paused)
    }
}

extension JobRecord {
    /// The job as the board has it while it is probed.
    package var beginning: PublishedJob {
        PublishedJob(
            id: id, source: source.path, frames: 0, passCount: 0, need: Probe.need, encoders: [],
            protocolVersion: Wire.version, weight: terms.weight)
    }
}

extension Plan {
    /// Which parts of the sources its segments show or let hear.
    package var parts: Set<SegmentPart> { Set(passes.flatMap(subjects).map(\.part)) }

    /// What the segments of a pass are made for, in chunk order.
    package func subjects(of pass: Pass) -> [SegmentSubject] {
        switch pass {
        case .video(let pass): pass.chunks.map { SegmentSubject(clip: pass.clip, part: .video(frames: $0)) }
        case .audio(let place):
            audio.indices.contains(place)
                ? [SegmentSubject(clip: audio[place].clip, part: .audio(track: audio[place].track))] : []
        case .assembly, .probe: []
        }
    }

    /// Builds of the encoders that workers must have for this plan.
    func builds(among available: [String]) -> [String] {
        var builds = [video.identity.build]
        for target in audio {
            guard let build = available.first(where: { $0.hasPrefix(target.encoder + " ") }) else { continue }
            if !builds.contains(build) { builds.append(build) }
        }
        return builds
    }
}

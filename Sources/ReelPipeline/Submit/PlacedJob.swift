public import ReelCore
internal import ReelEngine
internal import ReelQueue
public import ReelStore

/// A job that was looked at and planned, and exists nowhere yet.
public struct Preparation: Sendable {
    public let record: JobRecord
    public internal(set) var plan: Plan
    /// The job that began with the source's head. Where it was of no use, the record does not name it.
    let head: PlacedJob?
    /// Holds the index until the job has a folder; removed with this value.
    let findings: Submit.Findings

    public var source: SourceIndex { findings.index }
}

/// A job that the store holds.
public struct PlacedJob: Sendable {
    public let record: JobRecord
    public let plan: Plan
    public let folder: JobFolder
    /// Whether an earlier run of the same job left it.
    public let resumed: Bool

    init(record: JobRecord, plan: Plan, folder: JobFolder, resumed: Bool) {
        self.record = record
        self.plan = plan
        self.folder = folder
        self.resumed = resumed
    }

    /// A job as its folder has it. Throws `.unreachable` where that is not whole.
    init(_ folder: JobFolder) throws(ReelFailure) {
        self.init(record: try folder.read(), plan: try folder.readPlan(), folder: folder, resumed: true)
    }

    public var id: JobID { record.id }

    /// The verified result, if the store has it.
    public var result: String? {
        let path = folder.output(plan.container)
        return record.state == .done && fileExists(path) ? path : nil
    }

    /// Makes it runnable on the board. What the store has of an earlier run counts as finished there from the start.
    func publish(on board: Board) async throws(ReelFailure) -> Published {
        let job = PublishedJob(
            id: id, source: record.source, frames: plan.timeline.frameCount, passCount: plan.passes.count,
            need: plan.need, encoders: record.encoders, protocolVersion: Wire.version, weight: record.terms.weight,
            encodingEffort: plan.video.encodingEffort, warnings: plan.warnings)
        return try await board.publish(
            job, passes: plan.passes, finished: resumed || record.head != nil ? finished : [:], paused: record.paused)
    }

    /// Hands what it has made of its passes over to another job that has some of them, at these places.
    func give(_ places: [Pass: Int], to folder: JobFolder) throws(ReelFailure) {
        let theirs = plan.passes.enumerated().reduce(into: [Int: Int]()) { $0[$1.offset] = places[$1.element] }
        try folder.take(theirs, of: self.folder)
    }

    /// Results of the passes whose segments are all whole, by index.
    private var finished: [Int: RecordedResult] {
        folder.wholeSegments().reduce(into: [:]) { found, entry in
            guard plan.passes.indices.contains(entry.key) else { return }
            let pass = plan.passes[entry.key]
            // Segments are named PASS.RUN.TOKEN.nut.
            guard let result = pass.result(of: pass.fitting(entry.value)),
                let token = result.segments.first?.name.split(separator: ".").dropFirst(2).first
            else { return }
            found[entry.key] = RecordedResult(token: String(token), result: result)
        }
    }
}

extension Plan {
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

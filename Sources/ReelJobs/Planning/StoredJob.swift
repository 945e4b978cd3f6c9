package import ReelCore
internal import ReelEngine
package import ReelQueue
package import ReelStore

/// A job that the store holds with a plan.
package struct StoredJob: Sendable {
    package let record: JobRecord
    package let plan: Plan
    package let entry: any JobEntry
    /// Whether the plan was there before, from an earlier attempt to do the job.
    package let hadPlan: Bool
}

extension StoredJob {
    /// Reads a job by its last plan, or by the plan with a number. Throws `.unreachable`.
    package init(_ entry: any JobEntry, plan number: Int? = nil) async throws(ReelFailure) {
        let record = try await entry.read()
        var number = number
        if number == nil { number = try await entry.planNumbers().last }
        self.init(record: record, plan: try await entry.readPlan(number ?? 1), entry: entry, hadPlan: true)
    }

    package var id: JobID { record.id }

    package var result: StoredResult? { get async { await entry.result } }

    /// The indexes that the plan was made from, in the order of its sources. Throws as `JobStore.readIndexes` does.
    package func indexes(in store: any JobStore) async throws(ReelFailure) -> [SourceIndex] {
        try await store.readIndexes(of: plan, record)
    }

    /// Results of the passes whose segments are all whole, by the pass's index.
    func finished(in indexes: [SourceIndex]) async -> [Int: RecordedResult] {
        guard await entry.hasSegments(of: plan.parts) else { return [:] }
        let planned = PlannedSegments(plan: plan, indexes: indexes)
        let whole = await entry.wholeSegments(plan.passes.map(planned.contents))
        return zip(plan.passes, whole).enumerated().reduce(into: [:]) { found, entry in
            let (place, (pass, segments)) = entry
            guard let result = pass.result(of: segments), let name = result.segments.first?.name else { return }
            found[place] = RecordedResult(token: name.token, result: result)
        }
    }

    /// Publishes its plan. Passes that are finished in the store are finished on the board from the start.
    ///
    /// Throws `.probeLost` if the claim does not hold the job's planning any more, `.jobCancelled` if a user cancelled
    /// the job meanwhile, and `.unreachable`.
    func publish(on board: any Board, _ claim: Claim, _ finished: [Int: RecordedResult]) async throws(ReelFailure) {
        var job = onBoard
        job.planHash = try plan.hash()
        switch try await board.publish(job, finished: finished, claim: claim, paused: record.paused) {
        case .published: break
        case .lost: throw ReelFailure(.probeLost(job: id))
        case .cancelled: throw ReelFailure(.jobCancelled(job: id))
        }
    }
}

extension StoredJob {
    /// The job as a board has it, without the plan's hash.
    private var onBoard: BoardJob {
        BoardJob(
            id: id, source: record.source.path, frames: plan.framesToMake,
            passCount: plan.passes.count, audioPasses: plan.audioPasses, need: plan.need, encoders: plan.encoders,
            protocolVersion: Wire.version, weight: record.terms.weight, encodingEffort: plan.video.encodingEffort,
            diagnostics: plan.diagnostics, plan: plan.number)
    }

    /// The job as a board would show it, while one engine does all of it, or when it is done.
    ///
    /// - Parameters:
    ///   - results: of its passes, and of the assembly, so far.
    ///   - decoded: frames, in the pass that the engine is at.
    ///   - encoded: frames likewise.
    ///   - assembled: how much of the assembly is done, 0 to 1; nil before it.
    ///   - finished: when it was done, in seconds since 1970; nil before.
    func status(
        _ state: JobState, _ results: [Int: RecordedResult], decoded: Int = 0, encoded: Int = 0,
        assembled: Double? = nil, finished: Double? = nil
    ) -> JobStatus {
        let done = results.keys.count { $0 < plan.passes.count }
        let live = state.isTerminal ? 0 : 1
        let taken = results.values.map(\.result.statistics)
        return JobStatus(
            job: onBoard, state: state,
            passes: JobStatus.PassCounts(
                done: done, live: live, ready: state == .running ? plan.passes.count - done - live : 0),
            framesEncoded: taken.reduce(encoded) { $0 + $1.framesEncoded },
            framesDecoded: taken.reduce(decoded) { $0 + $1.framesDecoded }, assembled: assembled,
            peakRSS: taken.map(\.peakRSS).max() ?? 0,
            cpuSeconds: taken.reduce(0) { $0 + $1.cpuSeconds }, created: record.created, finished: finished)
    }
}

extension JobRecord {
    /// The job as the board has it until it has a plan.
    package var beginning: BoardJob {
        BoardJob(
            id: id, source: source.path, frames: 0, passCount: 0, need: Planning.need, encoders: [],
            protocolVersion: Wire.version, weight: terms.weight, run: run > 0 ? run : nil)
    }
}

extension Plan {
    /// The number of passes of sound, which come first.
    package var audioPasses: Int { passes.prefix { if case .audio = $0 { true } else { false } }.count }

    /// Builds of the encoders that workers must have for this plan. Engines report the encoders that reel knows. Of any other
    /// that the user names, a worker notices only when it starts the encoder whether it has it.
    ///
    /// - Parameter available: builds that this machine's engine has.
    func builds(among available: [String]) -> [String] {
        var builds = available.filter { $0 == video.identity.build }
        for target in audio {
            guard let build = available.first(where: { $0.hasPrefix(target.encoder + " ") }) else { continue }
            if !builds.contains(build) { builds.append(build) }
        }
        return builds
    }
}

extension Pass {
    /// Frames of video in segments of this pass.
    package func frames(in segments: [SegmentRecord]) -> Int {
        guard case .video = self else { return 0 }
        return segments.reduce(0) { $0 + $1.frames }
    }

    /// The result of this pass if every segment of it is whole, from whichever attempt; else nil.
    package func result(of whole: [SegmentRecord?]) -> PassResult? {
        let segments = whole.compactMap(\.self)
        guard !whole.isEmpty, segments.count == whole.count else { return nil }
        return PassResult(
            segments: segments, statistics: PassStatistics(framesEncoded: frames(in: segments)),
            diagnostics: segments.diagnostics)
    }
}

extension [SegmentRecord] {
    /// The diagnostics of all segments, each once, as many as a pass may report.
    package var diagnostics: [Diagnostic] { [].adding(flatMap(\.diagnostics)) }
}

extension [Diagnostic] {
    /// These and the new ones of `others`, as many as a pass may report: an engine that was taken over may leave many.
    package func adding(_ others: [Diagnostic]) -> [Diagnostic] {
        others.reduce(into: self) { all, one in
            if all.count < Diagnostic.mostOfPass, !all.contains(one) { all.append(one) }
        }
    }
}

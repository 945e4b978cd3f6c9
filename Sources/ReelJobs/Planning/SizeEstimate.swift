internal import ReelCore
internal import ReelEngine
internal import ReelStore

extension Planning {
    /// About how many bytes a job's output has: an engine makes some of its chunks in a folder of their own. Nil if that
    /// cannot be told before all of it is made, and for sources on the web, whose bytes cost.
    ///
    /// Throws what passes throw.
    ///
    /// - Parameters:
    ///   - job: no other process works at it.
    ///   - scratch: a folder for the chunks.
    func expectedBytes(
        of job: StoredJob, _ indexes: [SourceIndex], scratch: String
    ) async throws(ReelFailure) -> Int64? {
        if job.plan.loop == nil, let most = job.plan.mostBytes { return most }
        guard let sample = SizeSample(job.plan, indexes), job.record.sources.allSatisfy({ $0.original.web == nil })
        else { return nil }
        guard !sample.chunks.isEmpty || !sample.sound.isEmpty else { return sample.bytes(chunks: 0, sound: 0) }
        let (plan, record) = (job.plan, job.record)
        let places = try await store.indexes(of: plan, record)
        var sources: [Locator] = []
        for source in record.sources { sources.append(await job.entry.presentLocator(of: source)) }
        let files = JobFiles(
            sources: zip(sources, places).map { SourceFiles(source: $0, index: $1) }, plan: job.entry.plan(plan.number))
        let scope = EngineScope(
            sources: sources, reads: places + [files.plan], folders: [.file(scratch)], cpuSeconds: 3600)
        return try await ReelFailure.unifying {
            try await engine.withEngine(memory: plan.need + plan.reservedAddresses, scope: scope) { session in
                /// Bytes of the packets of chosen segments of a pass.
                func make(_ number: Int, _ isChosen: (Int) -> Bool) async throws -> Int64 {
                    let segments = plan.subjects(of: plan.passes[number]).enumerated().map { place, subject in
                        isChosen(place)
                            ? SegmentPlace(SegmentName(subject: subject, token: "0"), inScratch: scratch) : nil
                    }
                    let request = PassRequest(job: files, pass: number, segments: segments, scratch: scratch)
                    guard case .pass(let made) = try await session.perform(plan.passes[number].request(request)) else {
                        throw ReelFailure(.engineMisanswered(task: .pass))
                    }
                    // About what NUT adds.
                    return made.segments.reduce(0) { $0 + max($1.bytes - 400 - 8 * Int64($1.packets), 0) }
                }
                var (chunks, sound): (Int64, Int64) = (0, 0)
                for (number, chosen) in sample.chunks { chunks += try await make(number, chosen.contains) }
                for number in sample.sound { sound += try await make(number) { _ in true } }
                return sample.bytes(chunks: chunks, sound: sound)
            }
        }
    }
}

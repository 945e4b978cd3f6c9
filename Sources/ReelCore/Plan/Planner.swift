/// Turns what recon found and a person asked for into the job's work.
public struct Planner: Hashable, Codable, Sendable {
    private let slots: Int
    private let memory: MemoryRequest

    /// For `slots` passes at a time, one at least, each in the memory asked for; a spec's own memory goes before it.
    public init(slots: Int, memory: MemoryRequest = .standard) {
        self.slots = max(slots, 1)
        self.memory = memory
    }

    private enum CodingKeys: String, CodingKey {
        case slots, memory
    }

    /// The plan. `head` are passes from the source's start on that are being worked on already: they stay as they are, if
    /// they fit into the memory allowed beside this index. `packets` are those that a longer index of the same source is
    /// expected to have, beside which the passes are to fit, too. `indexHash` and `encoders` are what the plan says of the
    /// index and of the builds that workers must have.
    /// Fails with kind `.usage` where no frame lies in the spec's range or the least need exceeds the memory
    /// allowed, with `.input` where the video has no frames or cannot be decoded from its first.
    public func plan(
        index: SourceIndex, spec: JobSpec, video: VideoTarget, audio: [AudioTarget], head: [VideoPass] = [],
        packets: Int = 0, indexHash: String = "", encoders: [String] = [], diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> Plan {
        let starts = try StartTable(index.video)
        let clip = try Clip(index: index, spec: spec, output: video.format.timeBase)

        let cap = spec.passFrames.map { max($0, 1) }
        // A chunk of two may have to take a third frame, so that none is left over.
        let most = min(ChunkLengths.held.greatest, cap.map { max($0, 3) } ?? .max, clip.frameCount)
        let least = min(PassWork.leastChunk, most)
        let allowed = memory.narrowed(to: spec.memory)
        let budget = try MemoryBudget(index: index, video: video, packets: packets)
        let room = try budget.frames(in: allowed, least: least, most: most)

        let head = head.allSatisfy { starts.framesHeld(by: $0) <= room } ? head : []
        // The assembly copies packets from the source: there is nothing to decode.
        let rest = (head.last?.frames.upperBound ?? clip.firstFrame)..<clip.frames.upperBound
        var passes =
            video.isPassthrough ? [] : videoPasses(starts, of: rest, as: video, from: index, room: room, cap: cap)
        // All may hold fewer frames than the least that was asked for: who allows what is named here is not refused.
        let held = max((head + passes).map { starts.framesHeld(by: $0) }.max() ?? 0, least)
        var need = budget.need(frames: held)
        if let last = lastPassesTarget(spec, video) {
            let more = try MemoryBudget(index: index, video: last, packets: packets).need(frames: held)
            if more <= min(allowed.budget, allowed.limit ?? .max) {
                need = more
                for place in clip.direction.order(Array(passes.indices)).suffix(slots) {
                    passes[place].threads = last.threads
                }
            }
        }
        passes = (video.isPassthrough ? [] : head) + passes
        return Plan(
            sources: [PlannedSource(indexHash: indexHash)], encoders: encoders, container: spec.container,
            clips: [clip], video: video, audio: audio,
            passes: audio.indices.map(Pass.audio) + clip.direction.order(passes).map(Pass.video),
            need: need, verify: index.video.pictures.isEmpty ? spec.verify : .decode, onDamage: spec.onDamage,
            diagnostics: index.diagnostics + diagnostics.filter { !index.diagnostics.contains($0) })
    }
}

extension Planner {
    /// The passes of video in the source's order. At most `room` frames of it fit in memory at a time, and `cap` shall be
    /// in a pass.
    private func videoPasses(
        _ starts: StartTable, of frames: Range<Int>, as video: VideoTarget, from index: SourceIndex, room: Int,
        cap: Int?
    ) -> [VideoPass] {
        let weight = video.encodingEffort
        let free = PassWork(starts: starts, weight: weight, lengths: .ofWindows.limited(to: cap ?? .max))
        let bound = PassWork(starts: starts, weight: weight, lengths: .held.limited(to: min(room, cap ?? room)))
        let decoding = PassDecoding(work: free, room: index.seeksFreely ? room : 0)
        let cutter = PassCutter(
            selection: frames, work: decoding.windowFrames(of: frames) == nil ? bound : free, slots: slots,
            passFrames: cap)
        let cuts = cutter.cut()
        return zip(cuts, cuts.dropFirst()).map { start, end in
            let window = decoding.windowFrames(of: start..<end)
            return VideoPass(
                randomAccessPoint: starts.point(for: start), frames: start..<end,
                chunkCount: (window == nil ? bound : free).chunks(in: end - start), windowFrames: window,
                threads: video.threads)
        }
    }

    /// Threads for each codec of a job: one, and where there are fewer passes than slots as many as keep all slots' cores
    /// busy, if memory allows. `video` is the target with one.
    public func threads(index: SourceIndex, spec: JobSpec, video: VideoTarget) throws(ReelFailure) -> Int {
        if let threads = spec.threads { return threads }
        if video.isPassthrough { return 1 }
        func passes(threads: Int) throws(ReelFailure) -> Int {
            var video = video
            video.threads = threads
            return try plan(index: index, spec: spec, video: video, audio: [], diagnostics: []).passes.count
        }
        var threads = min(slots / max(try passes(threads: 1), 1), video.traits.mostThreads)
        while threads > 1, (try? passes(threads: threads)) == nil { threads -= 1 }
        return max(threads, 1)
    }

    /// The target of each slot's last pass where that has a thread more: one slot after the other has nothing more to do
    /// then, and those that still work have its core. Only of encoders whose parameters do not depend on
    /// threads.
    private func lastPassesTarget(_ spec: JobSpec, _ video: VideoTarget) -> VideoTarget? {
        guard slots > 1, spec.threads == nil, video.threads == 1,
            video.traits.isSameForAnyThreads
        else { return nil }
        var target = video
        target.threads = 2
        return target
    }
}

extension Clip {
    /// The frames that a spec selects, and where the output, with a clock of its own, shows them.
    init(index: SourceIndex, spec: JobSpec, output: TimeBase) throws(ReelFailure) {
        let track = index.video
        let timeBase = track.stream.timeBase
        let from = spec.from.map { index.startTime + $0 }
        let to = spec.to.map { index.startTime + $0 }
        if let from = spec.from, let to = spec.to, from >= to {
            throw ReelFailure(.rangeEmpty(from: from, to: to))
        }
        func framesBefore(_ moment: Rational) -> Int {
            // Whole ticks lie before a moment when they lie before the first that does not.
            let tick = timeBase.ticks(in: moment, rounding: .up)
            return track.frames.partition { $0.interval.start.ticks < tick }
        }
        let first = from.map(framesBefore) ?? 0
        let end = to.map(framesBefore) ?? track.frames.count
        let frames = first..<max(first, end)
        guard !frames.isEmpty else { throw Clip.emptySelection(index, spec) }
        let map = TimeMap(
            spec.direction, source: timeBase, output: output, start: track.frames[frames.lowerBound].interval.start,
            end: track.frames[frames.upperBound - 1].interval.end)
        self.init(frames: frames, timestamps: spec.timestamps, map: map, audioFrom: from, audioTo: to)
    }

    private static func emptySelection(_ index: SourceIndex, _ spec: JobSpec) -> ReelFailure {
        let end = index.video.stream.timeBase.seconds(index.video.end) - index.startTime
        return ReelFailure(.nothingInRange(from: spec.from, to: spec.to, end: end))
    }
}

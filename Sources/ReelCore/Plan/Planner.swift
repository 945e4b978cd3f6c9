/// Makes a plan from a source's index and the spec of a job.
public struct Planner: Hashable, Codable, Sendable {
    private let slots: Int
    private let memory: MemoryRequest

    /// Plans for `slots` passes at a time, at least one, each in the memory requested. A spec's own memory takes
    /// precedence.
    public init(slots: Int, memory: MemoryRequest = .standard) {
        self.slots = max(slots, 1)
        self.memory = memory
    }

    private enum CodingKeys: String, CodingKey {
        case slots, memory
    }

    /// Makes the plan of a job.
    ///
    /// - Parameters:
    ///   - head: passes from the source's start that an early start already works on. They stay as they are if they fit
    ///     into the memory allowed with this index.
    ///   - packets: the number of packets that a longer index of the same source is expected to have; the memory of the
    ///     passes is planned for it.
    ///   - indexHash: SHA-256 of the index, in hexadecimal.
    ///   - encoders: encoder builds that workers must have.
    ///
    /// Fails with kind `.usage` if no frame lies in the spec's range or if the least need exceeds the memory allowed,
    /// and with `.input` if the video has no frames or cannot be decoded from its first frame.
    public func plan(
        index: SourceIndex, spec: JobSpec, video: VideoTarget, audio: [AudioTarget], head: [VideoPass] = [],
        packets: Int = 0, indexHash: String = "", encoders: [String] = [], diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> Plan {
        try plan(
            Clip(index: index, spec: spec, output: video.format.timeBase), index: index, spec: spec, video: video,
            audio: audio, head: head, packets: packets, indexHash: indexHash, encoders: encoders,
            diagnostics: diagnostics)
    }

    /// The same for a clip of the source in either direction, which need not be the spec's.
    package func plan(
        _ clip: Clip, index: SourceIndex, spec: JobSpec, video: VideoTarget, audio: [AudioTarget],
        head: [VideoPass] = [], packets: Int = 0, indexHash: String = "", encoders: [String] = [],
        diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> Plan {
        let starts = try StartTable(index.video)
        let cap = spec.passFrames.map { max($0, 1) }
        // A chunk of two frames may have to take a third one, so that no frame is left over.
        let longest = min(ChunkLengths.held.greatest, cap.map { max($0, 3) } ?? .max)
        let most = min(clip.direction == .forwards ? PassDecoding.heldForwards : longest, clip.frameCount)
        let least = min(PassWork.leastChunk, most)
        let allowed = memory.narrowed(to: spec.memory)
        let budget = try MemoryBudget(index: index, video: video, packets: packets)
        let room = try budget.frames(in: allowed, least: least, most: most)

        let head = head.allSatisfy { starts.framesHeld(by: $0, clip.direction) <= room } ? head : []
        // With passthrough, the assembly copies packets from the source: there is nothing to decode.
        let rest = (head.last?.frames.upperBound ?? clip.firstFrame)..<clip.frames.upperBound
        var passes: [VideoPass] = []
        if let encoding = video.encoding {
            let weight = encoding.encodingEffort
            let decoding = PassDecoding(
                direction: clip.direction,
                free: PassWork(starts: starts, weight: weight, lengths: .ofWindows.limited(to: cap ?? .max)),
                bound: PassWork(starts: starts, weight: weight, lengths: .held.limited(to: min(room, cap ?? room))),
                room: index.seeksFreely ? room : 0)
            passes = videoPasses(of: rest, decoding, cap: cap, threads: encoding.threads)
        }
        // Every pass may hold fewer frames than `least`. Report the larger value, so that a user who allows exactly
        // what the error message names is accepted.
        let held = max((head + passes).map { starts.framesHeld(by: $0, clip.direction) }.max() ?? 0, least)
        var need = budget.need(frames: held)
        if let encoding = video.encoding, let last = lastPasses(spec, encoding) {
            let more = try MemoryBudget(index: index, video: .encode(last), packets: packets).need(frames: held)
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
    /// The video passes in the source's order. A pass has at most `cap` frames if RAPs allow it.
    private func videoPasses(
        of frames: Range<Int>, _ decoding: PassDecoding, cap: Int?, threads: Int
    ) -> [VideoPass] {
        let work = decoding.work(windowFrames: decoding.windowFrames(of: frames))
        let cuts = PassCutter(selection: frames, work: work, slots: slots, passFrames: cap).cut()
        return zip(cuts, cuts.dropFirst()).map { start, end in
            let window = decoding.windowFrames(of: start..<end)
            return VideoPass(
                randomAccessPoint: work.starts.point(for: start), frames: start..<end,
                chunkCount: decoding.work(windowFrames: window).chunks(in: end - start), windowFrames: window,
                threads: threads)
        }
    }

    /// The number of threads for each codec of a job. It is 1 unless there are fewer passes than slots; then it is the
    /// number that keeps the cores of all slots busy, as far as memory and the encoder allow. `video` is the target
    /// with one thread. Throws as `plan` does.
    public func threads(index: SourceIndex, spec: JobSpec, video: VideoTarget) throws(ReelFailure) -> Int {
        if let threads = spec.threads { return threads }
        guard let encoding = video.encoding else { return 1 }
        func passes(threads: Int) throws(ReelFailure) -> Int {
            var encoding = encoding
            encoding.threads = threads
            return try plan(index: index, spec: spec, video: .encode(encoding), audio: [], diagnostics: [])
                .passes.count
        }
        var threads = min(slots / max(try passes(threads: 1), 1), encoding.traits.mostThreads)
        while threads > 1, (try? passes(threads: threads)) == nil { threads -= 1 }
        return max(threads, 1)
    }

    /// The settings, with one more thread, for each slot's last pass; nil if one is not worthwhile. At the job's
    /// end, slots run out of work one after the other, and the remaining passes can use their cores. Only for encoders
    /// whose parameters do not depend on threads.
    private func lastPasses(_ spec: JobSpec, _ video: VideoEncoding) -> VideoEncoding? {
        guard slots > 1, spec.threads == nil, video.threads == 1,
            video.traits.isSameForAnyThreads
        else { return nil }
        var last = video
        last.threads = 2
        return last
    }
}

extension Clip {
    /// The clip of the frames that a spec selects; `output` is the output's clock.
    init(index: SourceIndex, spec: JobSpec, output: TimeBase) throws(ReelFailure) {
        let track = index.video
        guard track.frames.count > 0 else { throw ReelFailure(.noFrames(path: nil)) }
        let timeBase = track.stream.timeBase
        let from = spec.from.map { index.startTime + $0 }
        let to = spec.to.map { index.startTime + $0 }
        if let from = spec.from, let to = spec.to, from >= to {
            throw ReelFailure(.rangeEmpty(from: from, to: to))
        }
        func framesBefore(_ moment: Rational) -> Int {
            // A frame starts before the moment if its tick is less than the moment's, rounded up.
            let tick = timeBase.ticks(in: moment, rounding: .up)
            return track.frames.partitioningIndex { $0.interval.start.ticks >= tick }
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

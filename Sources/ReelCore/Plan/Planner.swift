package struct Planner: Sendable {
    private let slots: Int
    private let memory: MemoryRequest

    /// Plans for `slots` passes at a time, at least one, each in the memory requested. A spec's own memory takes
    /// precedence.
    package init(slots: Int, memory: MemoryRequest = .standard) {
        self.slots = max(slots, 1)
        self.memory = memory
    }

    /// Makes the plan of a job, without the encoder builds that workers must have, which the caller adds. Fails with
    /// kind `.usage` if no frame lies in the spec's range or if the least need exceeds the memory allowed, and with
    /// `.input` if the video has no frames or cannot be decoded from its first frame.
    package func plan(_ input: PlanInput) throws(ReelFailure) -> Plan {
        let (clips, chapters) = try input.clips()
        let work = try work(on: clips, input)
        let spec = input.spec
        let isDecoded = clips.contains { !input.indexes[$0.source].video.pictures.isEmpty }
        let found = input.indexes.flatMap(\.diagnostics) + input.diagnostics
        var plan = Plan(
            sources: input.indexHashes.map(PlannedSource.init), encoders: [], container: spec.container,
            clips: clips, isEdit: spec.edit != nil, chapters: chapters, timecode: spec.edit?.timecode,
            soundtrack: spec.edit?.soundtrack, video: input.video, loop: spec.plannedLoop, audio: input.audio,
            subtitles: spec.tracks?.subtitles,
            passes: work.passes.map(Pass.video),
            need: work.need, verify: isDecoded ? .decode : spec.verify, onDamage: spec.onDamage,
            diagnostics: found.reduce(into: []) { all, one in if !all.contains(one) { all.append(one) } })
        plan.passes = soundPasses(of: plan, input.indexes) + plan.passes
        guard let most = spec.mostBytes else { return plan }
        return try SizeBudget(plan, input.indexes).sized(most: most, likeSource: input.spec.bitrate == .source)
    }

    /// The passes of sound, of each track in the order of the output.
    private func soundPasses(of plan: Plan, _ indexes: [SourceIndex]) -> [Pass] {
        plan.audio.enumerated().flatMap { place, target in
            let parts = JoinableSound(target, of: plan, indexes)?.parts(slots: slots) ?? [nil]
            return parts.map { Pass.audio(place: place, samples: $0) }
        }
    }

    /// The number of threads for each codec of a job. It is 1 unless there are fewer passes than slots; then it is the
    /// number that keeps the cores of all slots busy, as far as memory and the encoder allow. The input's video is the
    /// target with one thread. Fails as `plan` does.
    ///
    /// Planning does not set this number itself: an encoder's options and the header that it writes depend on its
    /// threads, so an engine chooses the target again.
    package func threads(_ input: PlanInput) throws(ReelFailure) -> Int {
        if let threads = input.spec.threads { return threads }
        guard case .encode(var encoding) = input.video else { return 1 }
        let clips = try input.clips().clips
        var trial = input
        func passes(threads: Int) throws(ReelFailure) -> Int {
            encoding.threads = threads
            trial.video = .encode(encoding)
            return try work(on: clips, trial).passes.count
        }
        var threads = min(slots / max(try passes(threads: 1), 1), encoding.mostThreads)
        while threads > 1, (try? passes(threads: threads)) == nil { threads -= 1 }
        return max(threads, 1)
    }
}

/// The passes of video, in published order, and the bytes of memory that the most demanding work on a job takes.
private struct PlannedWork {
    var passes: [VideoPass]
    var need: Int64
}

/// The steps of planning, in their order.
extension Planner {
    private func work(on clips: [Clip], _ input: PlanInput) throws(ReelFailure) -> PlannedWork {
        guard !input.video.isNone else {
            return PlannedWork(passes: [], need: try assemblyNeed(clips, [:], input))
        }
        let spans = DecodedSpan.all(of: clips)
        let rooms = try rooms(of: spans, clips, input)
        let passes = passes(of: spans, clips, rooms, input)
        let held = rooms.mapValues { $0.framesHeld(by: passes, clips) }
        let need = try Planner.need(of: held, clips, input.indexes, input.video)
        var work = try hurryingLast(PlannedWork(passes: passes, need: need), held, clips, input)
        work.need = max(work.need, try assemblyNeed(clips, rooms, input))
        return work
    }

    private func allowed(_ spec: JobSpec) -> MemoryRequest { memory.narrowed(to: spec.memory) }

    /// For each source that is shown, how many of its frames a pass may hold. Fails if the fewest do not fit.
    private func rooms(
        of spans: [DecodedSpan], _ clips: [Clip], _ input: PlanInput
    ) throws(ReelFailure) -> [Int: SourceRoom] {
        // A chunk of two frames may have to take a third one, so that no frame is left over.
        let longest = min(ChunkLengths.held.greatest, input.spec.cap.map { max($0, 3) } ?? .max)
        var rooms: [Int: SourceRoom] = [:]
        for (source, spans) in Dictionary(grouping: spans, by: \.source).sorted(by: { $0.key < $1.key }) {
            let most = spans.reduce(0) { most, span in
                max(most, min(span.direction == .forwards ? PassDecoding.heldForwards : longest, span.frames.count))
            }
            let least = min(PassWork.leastChunk, most)
            let budget = try MemoryBudget(
                indexes: input.indexes, source: source, shown: clips[0].source, clips: clips.count, input.video)
            rooms[source] = SourceRoom(
                source: source, starts: try StartTable(input.indexes[source].video), budget: budget, least: least,
                most: try budget.frames(in: allowed(input.spec), least: least, most: most))
        }
        return rooms
    }

    /// The passes of video; empty with passthrough, since the assembly then copies packets from the sources.
    private func passes(
        of spans: [DecodedSpan], _ clips: [Clip], _ rooms: [Int: SourceRoom], _ input: PlanInput
    ) -> [VideoPass] {
        guard let encoding = input.video.encoding else { return [] }
        let cap = input.spec.cap
        return spans.flatMap { span -> [VideoPass] in
            guard let room = rooms[span.source] else { return [] }
            let weight = encoding.encodingEffort * Double(span.clips.count)
            let bound = ChunkLengths.held.limited(to: min(room.most, cap ?? room.most))
            let decoding = PassDecoding(
                direction: span.direction,
                free: PassWork(starts: room.starts, weight: weight, lengths: .ofWindows.limited(to: cap ?? .max)),
                bound: PassWork(starts: room.starts, weight: weight, lengths: bound),
                // Both directions of a chunk are encoded while all of it is in memory.
                room: input.indexes[span.source].seeksFreely && span.clips.count == 1 ? room.most : 0)
            let direction = clips[span.clips[0]].direction
            let endsJob = direction == .backwards && span.clips == spans.last?.clips
            return direction.order(
                passes(of: span, decoding, cap: cap, threads: encoding.threads, endsJob: endsJob))
        }
    }

    /// The passes of a span in the source's order. A pass has at most `cap` frames if RAPs allow it. `endsJob` says
    /// whether the job ends with the span's first frames.
    private func passes(
        of span: DecodedSpan, _ decoding: PassDecoding, cap: Int?, threads: Int, endsJob: Bool
    ) -> [VideoPass] {
        let work = decoding.work(windowFrames: decoding.windowFrames(of: span.frames))
        let cuts = PassCutter(selection: span.frames, work: work, slots: slots, passFrames: cap, endsJob: endsJob).cut()
        return zip(cuts, cuts.dropFirst()).map { start, end in
            let window = decoding.windowFrames(of: start..<end)
            return VideoPass(
                clips: span.clips, randomAccessPoint: work.starts.point(for: start), frames: start..<end,
                chunkCount: decoding.work(windowFrames: window).chunks(in: end - start), windowFrames: window,
                threads: threads)
        }
    }

    /// Bytes that a pass takes which holds the most frames of its source. `held` has their number for each source.
    private static func need(
        of held: [Int: Int], _ clips: [Clip], _ indexes: [SourceIndex], _ video: VideoTarget
    ) throws(ReelFailure) -> Int64 {
        var need: Int64 = 0
        for (source, frames) in held {
            let budget = try MemoryBudget(
                indexes: indexes, source: source, shown: clips[0].source, clips: clips.count, video)
            need = max(need, budget.need(frames: frames))
        }
        return need
    }

    /// Gives each slot's last pass one more thread, if memory allows it: at the job's end, slots run out of work one
    /// after the other, and the remaining passes can use their cores. Only for encoders whose parameters do not depend
    /// on threads.
    private func hurryingLast(
        _ work: PlannedWork, _ held: [Int: Int], _ clips: [Clip], _ input: PlanInput
    ) throws(ReelFailure) -> PlannedWork {
        guard slots > 1, input.spec.threads == nil, case .encode(var last) = input.video, last.threads == 1,
            last.traits.isSameForAnyThreads, last.mostThreads > 1
        else { return work }
        last.threads = 2
        let allowed = allowed(input.spec)
        let need = try Planner.need(of: held, clips, input.indexes, .encode(last))
        guard need <= min(allowed.budget, allowed.limit ?? .max) else { return work }
        var hurried = PlannedWork(passes: work.passes, need: need)
        for place in hurried.passes.indices.suffix(slots) { hurried.passes[place].threads = last.threads }
        return hurried
    }

    private func assemblyNeed(
        _ clips: [Clip], _ rooms: [Int: SourceRoom], _ input: PlanInput
    ) throws(ReelFailure) -> Int64 {
        let pictures = clips.reduce(0) { $0 + $1.frameCount }
        let length = clips.duration
        let samples = input.audio.reduce(0) {
            $0 + TimeBase(1, Int64(max($1.sampleRate, 1))).ticks(in: length, rounding: .up)
        }
        var need = MemoryBudget.assembly(input.indexes, clips: clips.count, pictures: pictures, samples: samples)
        if let loops = input.spec.container.traits.loops, loops.hasPalette {
            let fixed = rooms.values.reduce(0) { max($0, $1.budget.fixed) }
            need = max(need, fixed + MemoryBudget.palette(pictures: pictures, input.video.format))
        }
        if let limit = allowed(input.spec).limit, limit < need {
            throw ReelFailure(.memoryTooSmall(allowed: limit, needed: need, copies: input.video.isPassthrough))
        }
        return need
    }
}

/// How many frames of a source a pass may hold.
private struct SourceRoom {
    let source: Int
    let starts: StartTable
    let budget: MemoryBudget
    /// The fewest frames that memory is planned for.
    let least: Int
    /// The most frames that fit in memory.
    let most: Int

    /// The most frames of the source that one of these passes holds. Every pass may hold fewer than the least: then it
    /// is the least, so that a user who allows exactly what the message of a failure names is accepted.
    func framesHeld(by passes: [VideoPass], _ clips: [Clip]) -> Int {
        passes.reduce(least) { held, pass in
            let clip = clips[pass.clips[0]]
            guard clip.source == source else { return held }
            let direction = pass.clips.count > 1 ? .backwards : clip.direction
            return max(held, starts.framesHeld(by: pass, direction))
        }
    }
}

/// Frames that passes decode for one clip, or at once for both directions of a clip that is played forth and back.
private struct DecodedSpan {
    var source: Int
    var clips: [Int]
    var frames: Range<Int>
    /// How passes decode it: backwards, a pass holds a whole chunk or window.
    var direction: Direction

    /// The spans of clips that no earlier clip makes, in the order of the output.
    static func all(of clips: [Clip]) -> [DecodedSpan] {
        var known: Set<Clip> = []
        var spans: [DecodedSpan] = []
        for (number, clip) in clips.enumerated() where clip.frameCount > 0 && known.insert(clip.alone).inserted {
            if let last = spans.last, last.clips.count == 1, clip.mirrors(clips[last.clips[0]]) {
                let frames = last.frames.count < clip.rangeCount ? clip.frames : last.frames
                spans[spans.count - 1] = DecodedSpan(
                    source: clip.source, clips: last.clips + [number], frames: frames, direction: .backwards)
            } else {
                spans.append(
                    DecodedSpan(source: clip.source, clips: [number], frames: clip.frames, direction: clip.direction))
            }
        }
        return spans
    }
}

extension Clip {
    /// Whether this clip shows the frames of another in the other direction, with at most one frame more or less at
    /// each end.
    fileprivate func mirrors(_ other: Clip) -> Bool {
        source == other.source && map.speed == other.map.speed && isBlack == other.isBlack && step == other.step
            && (firstFrame - other.firstFrame) % step == 0
            && direction != other.direction && timestamps == other.timestamps
            && max(frames.lowerBound, other.frames.lowerBound) - min(frames.lowerBound, other.frames.lowerBound) <= step
            && max(frames.upperBound, other.frames.upperBound) - min(frames.upperBound, other.frames.upperBound) <= step
            && (frames.clamped(to: other.frames) == frames || other.frames.clamped(to: frames) == other.frames)
    }
}

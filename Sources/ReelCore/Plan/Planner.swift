/// Makes a plan from the indexes of its sources and the spec of a job.
public struct Planner: Sendable {
    private let slots: Int
    private let memory: MemoryRequest

    /// Plans for `slots` passes at a time, at least one, each in the memory requested. A spec's own memory takes
    /// precedence.
    public init(slots: Int, memory: MemoryRequest = .standard) {
        self.slots = max(slots, 1)
        self.memory = memory
    }

    /// Makes the plan of a job.
    ///
    /// - Parameters:
    ///   - indexes: those of the job's sources, in their order.
    ///   - indexHashes: SHA-256 of each index, in hexadecimal.
    ///   - encoders: encoder builds that workers must have.
    ///
    /// Fails with kind `.usage` if no frame lies in the spec's range or if the least need exceeds the memory allowed,
    /// and with `.input` if the video has no frames or cannot be decoded from its first frame.
    public func plan(
        indexes: [SourceIndex], spec: JobSpec, video: VideoTarget, audio: [AudioTarget],
        indexHashes: [String], encoders: [String] = [], diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> Plan {
        let (clips, chapters) = try spec.clips(of: indexes, video)
        try spec.refuseUnlessShown(clips, indexes, video.format.timeBase)
        try spec.refuseUnlessPaced(clips, indexes, video.format.timeBase)
        var plan = try plan(
            clips, indexes: indexes, spec: spec, video: video, audio: audio, indexHashes: indexHashes,
            encoders: encoders, diagnostics: diagnostics)
        plan.chapters = chapters
        return plan
    }

    /// The same for clips of the sources, which need not be the spec's.
    package func plan(
        _ clips: [Clip], indexes: [SourceIndex], spec: JobSpec, video: VideoTarget, audio: [AudioTarget],
        indexHashes: [String], encoders: [String] = [], diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> Plan {
        let cap = spec.passFrames.map { max($0, 1) }
        // A chunk of two frames may have to take a third one, so that no frame is left over.
        let longest = min(ChunkLengths.held.greatest, cap.map { max($0, 3) } ?? .max)
        let allowed = memory.narrowed(to: spec.memory)
        let spans = Dictionary(grouping: DecodedSpan.all(of: clips), by: \.source)
        var sources: [Int: SpanSource] = [:]
        for (source, spans) in spans {
            let most = spans.reduce(0) { most, span in
                max(most, min(span.direction == .forwards ? PassDecoding.heldForwards : longest, span.frames.count))
            }
            let least = min(PassWork.leastChunk, most)
            let budget = try MemoryBudget(
                indexes: indexes, source: source, shown: clips[0].source, clips: clips.count, video)
            sources[source] = SpanSource(
                starts: try StartTable(indexes[source].video), budget: budget,
                room: try budget.frames(in: allowed, least: least, most: most), held: least)
        }

        // With passthrough, the assembly copies packets from the sources: there is nothing to decode.
        var passes: [VideoPass] = []
        if let encoding = video.encoding {
            for span in DecodedSpan.all(of: clips) {
                guard var source = sources[span.source] else { continue }
                let (starts, room) = (source.starts, source.room)
                let weight = encoding.encodingEffort * Double(span.clips.count)
                let bound = ChunkLengths.held.limited(to: min(room, cap ?? room))
                let decoding = PassDecoding(
                    direction: span.direction,
                    free: PassWork(starts: starts, weight: weight, lengths: .ofWindows.limited(to: cap ?? .max)),
                    bound: PassWork(starts: starts, weight: weight, lengths: bound),
                    // Both directions of a chunk are encoded while all of it is in memory.
                    room: indexes[span.source].seeksFreely && span.clips.count == 1 ? room : 0)
                let made = videoPasses(of: span.frames, span.clips, decoding, cap: cap, threads: encoding.threads)
                // Every pass may hold fewer frames than the least that is planned for. Report the larger value, so that a
                // user who allows exactly what the error message names is accepted.
                source.held = max(source.held, made.map { starts.framesHeld(by: $0, span.direction) }.max() ?? 0)
                sources[span.source] = source
                passes += clips[span.clips[0]].direction.order(made)
            }
        }
        var need = sources.values.reduce(0) { max($0, $1.budget.need(frames: $1.held)) }
        if let encoding = video.encoding, let last = lastPasses(spec, encoding) {
            var more: Int64 = 0
            for (source, known) in sources {
                let budget = try MemoryBudget(
                    indexes: indexes, source: source, shown: clips[0].source, clips: clips.count, .encode(last))
                more = max(more, budget.need(frames: known.held))
            }
            if more <= min(allowed.budget, allowed.limit ?? .max) {
                need = more
                for place in passes.indices.suffix(slots) { passes[place].threads = last.threads }
            }
        }
        let pictures = clips.reduce(0) { $0 + $1.frameCount }
        let length = clips.reduce(Rational(0)) { max($0, $1.map.offset + $1.map.duration) }
        var assembly = MemoryBudget.assembly(
            indexes, clips: clips.count, pictures: pictures,
            samples: audio.reduce(0) { $0 + TimeBase(1, Int64(max($1.sampleRate, 1))).ticks(in: length, rounding: .up) }
        )
        if let loops = spec.container.traits.loops, loops.hasPalette {
            let fixed = sources.values.reduce(0) { max($0, $1.budget.fixed) }
            assembly = max(assembly, fixed + MemoryBudget.palette(pictures: pictures, video.format))
        }
        if let limit = allowed.limit, limit < assembly {
            throw ReelFailure(.memoryTooSmall(allowed: limit, needed: assembly, copies: video.isPassthrough))
        }
        need = max(need, assembly)
        let found = indexes.flatMap(\.diagnostics) + diagnostics
        let isDecoded = sources.keys.contains { !indexes[$0].video.pictures.isEmpty }
        return Plan(
            sources: indexHashes.map(PlannedSource.init), encoders: encoders, container: spec.container,
            clips: clips, isEdit: spec.edit != nil, timecode: spec.edit?.timecode,
            soundtrack: spec.edit?.soundtrack, video: video,
            loop: spec.plannedLoop, audio: audio,
            subtitles: spec.tracks?.subtitles,
            passes: audio.indices.map(Pass.audio) + passes.map(Pass.video),
            need: need, verify: isDecoded ? .decode : spec.verify, onDamage: spec.onDamage,
            diagnostics: found.reduce(into: []) { all, one in if !all.contains(one) { all.append(one) } })
    }
}

/// What planning needs of a source whose pictures are shown.
private struct SpanSource {
    let starts: StartTable
    let budget: MemoryBudget
    /// The most frames that a pass may hold.
    let room: Int
    /// The most frames that a pass is planned to hold.
    var held: Int
}

/// Frames that passes decode for one clip, or at once for both directions of a clip that is played forth and back.
private struct DecodedSpan {
    /// The index of the source.
    var source: Int
    /// Indexes of the clips.
    var clips: [Int]
    /// The frames, in presentation order.
    var frames: Range<Int>
    /// How passes decode it: backwards, a pass holds a whole chunk or window.
    var direction: Direction

    /// The spans of clips that no earlier clip makes, in the order of the output.
    static func all(of clips: [Clip]) -> [DecodedSpan] {
        var known: Set<Clip> = []
        var spans: [DecodedSpan] = []
        for (number, clip) in clips.enumerated() where known.insert(clip.alone).inserted {
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

extension Planner {
    /// The video passes in the source's order. A pass has at most `cap` frames if RAPs allow it.
    private func videoPasses(
        of frames: Range<Int>, _ clips: [Int], _ decoding: PassDecoding, cap: Int?, threads: Int
    ) -> [VideoPass] {
        let work = decoding.work(windowFrames: decoding.windowFrames(of: frames))
        let cuts = PassCutter(selection: frames, work: work, slots: slots, passFrames: cap).cut()
        return zip(cuts, cuts.dropFirst()).map { start, end in
            let window = decoding.windowFrames(of: start..<end)
            return VideoPass(
                clips: clips, randomAccessPoint: work.starts.point(for: start), frames: start..<end,
                chunkCount: decoding.work(windowFrames: window).chunks(in: end - start), windowFrames: window,
                threads: threads)
        }
    }

    /// The number of threads for each codec of a job. It is 1 unless there are fewer passes than slots; then it is the
    /// number that keeps the cores of all slots busy, as far as memory and the encoder allow. `video` is the target
    /// with one thread. Throws as `plan` does.
    public func threads(indexes: [SourceIndex], spec: JobSpec, video: VideoTarget) throws(ReelFailure) -> Int {
        if let threads = spec.threads { return threads }
        guard let encoding = video.encoding else { return 1 }
        func passes(threads: Int) throws(ReelFailure) -> Int {
            var encoding = encoding
            encoding.threads = threads
            return try plan(
                indexes: indexes, spec: spec, video: .encode(encoding), audio: [],
                indexHashes: indexes.map { _ in "" }, diagnostics: []
            ).passes.count
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
    /// Whether this clip shows the frames of another in the other direction, but for one at each end.
    fileprivate func mirrors(_ other: Clip) -> Bool {
        source == other.source && map.speed == other.map.speed && isBlack == other.isBlack && step == other.step
            && (firstFrame - other.firstFrame) % step == 0
            && direction != other.direction && timestamps == other.timestamps
            && max(frames.lowerBound, other.frames.lowerBound) - min(frames.lowerBound, other.frames.lowerBound) <= step
            && max(frames.upperBound, other.frames.upperBound) - min(frames.upperBound, other.frames.upperBound) <= step
            && (frames.clamped(to: other.frames) == frames || other.frames.clamped(to: frames) == other.frames)
    }
}

extension JobSpec {
    /// The clips that a spec asks for, and their chapters. Fails with kind `.usage` if no frame lies in a range, and with
    /// `.input` if the video has no frames.
    fileprivate func clips(
        of indexes: [SourceIndex], _ video: VideoTarget
    ) throws(ReelFailure) -> (clips: [Clip], chapters: [Chapter]) {
        let output = video.format.timeBase
        if let edit {
            let layout = try EditLayout(
                edit, indexes: indexes, output: output, mostFrames: shownRate,
                stillRate: stillRate(video.encoding?.traits, of: indexes))
            return (layout.clips, layout.chapters)
        }
        let index = indexes[0]
        let frames = try index.frames(from: from, to: to, lasting: duration)
        let sound = index.soundSpan(of: frames, from: from, to: to, lasting: duration)
        let track = index.video
        let map = TimeMap(
            .backwards, source: track.stream.timeBase, output: output,
            start: track.frames[frames.lowerBound].interval.start,
            end: track.frames[frames.upperBound - 1].interval.end)
        let step = shownRate.map { index.step(of: frames, speed: Rational(1), mostFrames: $0) } ?? 1
        let clip = Clip(
            frames: frames, step: step, timestamps: timestamps, map: map, audioFrom: sound.from, audioTo: sound.to)
        return ([clip], [])
    }

    /// Throws if a picture would be shown for longer than the container can say.
    fileprivate func refuseUnlessShown(
        _ clips: [Clip], _ indexes: [SourceIndex], _ clock: TimeBase
    ) throws(ReelFailure) {
        guard let most = mostSecondsShown(clock) else { return }
        for clip in clips {
            let track = indexes[clip.source].video
            for place in 0..<clip.frameCount {
                let interval = clip.interval(of: clip.frame(at: place), in: track)
                let length = clock.seconds(interval.duration)
                guard length > most else { continue }
                throw ReelFailure(
                    .pictureTooLong(
                        time: clock.seconds(interval.start), length: length, container: container,
                        most: Int(TimeBase(1, 1).ticks(in: most, rounding: .down))))
            }
        }
    }

    /// For how many seconds the container can show a picture; nil for any time.
    private func mostSecondsShown(_ clock: TimeBase) -> Rational? {
        if let loops = container.traits.loops { return Rational(Int64(loops.mostDelay)) }
        // Durations have 32 bits (ISO 14496-12 8.6.1.2), of which libavformat writes 31.
        return container.traits.storesDurations ? clock.seconds(Ticks(Int64(Int32.max))) : nil
    }

    /// How pictures that loop are made; nil for a container of video.
    fileprivate var plannedLoop: LoopOptions? {
        guard let loops = container.traits.loops else { return nil }
        var options = loop ?? LoopOptions()
        options.isLossless = lossless && loops.losslessFormat != nil
        return options
    }

    /// The clock of the output. Fails as planning does.
    ///
    /// - Parameters:
    ///   - indexes: those of the job's sources.
    ///   - encoder: the encoder of the video; nil if packets are passed through.
    public func clock(of indexes: [SourceIndex], encoder: EncoderTraits? = nil) throws(ReelFailure) -> TimeBase {
        if container.traits.pacing != nil { return TimeBase(secondsPerTick: try pace(of: indexes)) }
        guard let edit else { return indexes[0].video.stream.timeBase }
        return try EditLayout.clock(of: edit, indexes: indexes, stillRate: stillRate(encoder, of: indexes))
    }
}

/// The input of planning: a job's sources, the user's spec, and how the output is encoded.
package struct PlanInput: Sendable {
    package var indexes: [SourceIndex]
    /// SHA-256 of each index, in hexadecimal.
    package var indexHashes: [String]
    package var spec: JobSpec
    package var video: VideoTarget
    package var audio: [AudioTarget]
    /// Diagnostics in addition to those of the indexes.
    package var diagnostics: [Diagnostic]
    /// Clips that tests choose because no spec can ask for them; nil for the spec's own.
    package var chosenClips: [Clip]?

    package init(
        indexes: [SourceIndex], indexHashes: [String], spec: JobSpec, video: VideoTarget, audio: [AudioTarget] = [],
        diagnostics: [Diagnostic] = []
    ) {
        self.indexes = indexes
        self.indexHashes = indexHashes
        self.spec = spec
        self.video = video
        self.audio = audio
        self.diagnostics = diagnostics
    }

    /// How long the output lasts, in seconds. Fails as planning does.
    package func length() throws(ReelFailure) -> Rational {
        try clips().clips.duration
    }

    /// The clips of the output, and their chapters. Fails with kind `.usage` if no frame lies in a range or the
    /// container cannot show a picture for so long, and with `.input` if a video has no frames, or if its frames last
    /// for different times and the container cannot store that.
    func clips() throws(ReelFailure) -> (clips: [Clip], chapters: [Chapter]) {
        if let chosenClips { return (chosenClips, []) }
        if video.isNone { return try clipsOfSound() }
        let found = try spec.clips(of: indexes, video)
        try spec.refuseUnlessShown(found.clips, indexes, video.format.timeBase)
        try spec.refuseUnlessPaced(found.clips, indexes, video.format.timeBase)
        return found
    }

    /// The clips of an output without video. Sound has no frames: its ranges begin and end with any sample.
    private func clipsOfSound() throws(ReelFailure) -> (clips: [Clip], chapters: [Chapter]) {
        var (spec, cut) = (spec, indexes)
        for (source, index) in indexes.enumerated() where index.video.isNone {
            cut[source].video = index.video.cut(at: try spec.moments(ofSource: source, from: index.startTime))
        }
        // No frame is shown at a turn.
        if cut.contains(where: \.video.isNone) { spec.edit?.turn = .twice }
        var (clips, chapters) = try spec.clips(of: cut, video)
        for place in clips.indices where cut[clips[place].source].video.isNone {
            (clips[place].firstFrame, clips[place].rangeCount) = (0, 1)
        }
        return (clips, chapters)
    }
}

extension VideoTrack {
    /// Sound that lasts for one frame, in a frame for each part between these moments, in seconds on its clock. So ranges
    /// of sound are found as those of pictures are.
    fileprivate func cut(at moments: [Rational]) -> VideoTrack {
        guard let whole = frames.first else { return self }
        let ends = moments.map { Timestamp(stream.timeBase.ticks(in: $0, rounding: .up)) }
            .filter { $0 > whole.interval.start && $0 < whole.interval.end }
        let bounds = [whole.interval.start] + Set(ends).sorted() + [whole.interval.end]
        var track = self
        track.frames = zip(bounds, bounds.dropFirst()).map { start, end in
            FrameEntry(interval: Interval(start: start, duration: end - start), packet: 0)
        }
        return track
    }
}

extension JobSpec {
    /// The moments at which ranges of a source without pictures begin and end, in seconds on its clock; `start` is when
    /// that starts. Throws `.soundHasNoFrames` (`.usage`) for positions that count frames.
    fileprivate func moments(ofSource source: Int, from start: Rational) throws(ReelFailure) -> [Rational] {
        let ranges =
            edit.map { $0.clips.filter { $0.source == source }.map { ($0.from, $0.to, $0.duration) } }
            ?? [(from, to, duration)]
        var moments: [Rational] = []
        for (from, to, duration) in ranges {
            let first = try from?.secondsOfSound ?? Rational(0)
            moments.append(start + first)
            if let to { moments.append(start + (try to.secondsOfSound)) }
            if let duration { moments.append(start + first + (try duration.secondsOfSound)) }
        }
        return moments
    }

    /// The clips that a spec asks for, and their chapters. Fails with kind `.usage` if no frame lies in a range, and
    /// with `.input` if the video has no frames.
    fileprivate func clips(
        of indexes: [SourceIndex], _ video: VideoTarget
    ) throws(ReelFailure) -> (clips: [Clip], chapters: [Chapter]) {
        let output = video.format.timeBase
        if let edit {
            let layout = try EditLayout(
                edit, indexes: indexes, output: output, rate: commonRate(of: indexes), mostFrames: shownRate,
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
        let clip = Clip(
            frames: frames, step: index.step(of: frames, mostFrames: shownRate), timestamps: timestamps, map: map,
            audioFrom: sound.from, audioTo: sound.to)
        return ([clip], [])
    }

    fileprivate func refuseUnlessShown(
        _ clips: [Clip], _ indexes: [SourceIndex], _ clock: TimeBase
    ) throws(ReelFailure) {
        guard let most = mostSecondsShown(clock) else { return }
        for clip in clips {
            let track = indexes[clip.source].video
            for place in 0..<clip.frameCount {
                let interval = clip.interval(at: place, in: track)
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
        // Durations have 32 bits (ISO 14496-12 8.6.1.2). libavformat writes 31 of them.
        return container.traits.storesDurations ? clock.seconds(Ticks(Int64(Int32.max))) : nil
    }

    var cap: Int? { passFrames.map { max($0, 1) } }

    var plannedLoop: LoopOptions? {
        guard let loops = container.traits.loops else { return nil }
        var options = loop ?? LoopOptions()
        options.isLossless = lossless && loops.losslessFormat != nil
        return options
    }

    /// The clock of the output; `encoder` is nil if packets are passed through. Fails as planning does.
    package func clock(of indexes: [SourceIndex], encoder: EncoderTraits? = nil) throws(ReelFailure) -> TimeBase {
        if let rate = commonRate(of: indexes) { return TimeBase(secondsPerTick: Rational(1) / rate) }
        if container.traits.pacing != nil { return TimeBase(secondsPerTick: try pace(of: indexes)) }
        guard let edit else { return indexes[0].video.stream.timeBase }
        return try EditLayout.clock(of: edit, indexes: indexes, stillRate: stillRate(encoder, of: indexes))
    }

    /// How long the first clip shows a frame, in seconds; every frame of the output must take the same time. `indexes`
    /// are those of the job's sources. Fails as planning does.
    func pace(of indexes: [SourceIndex]) throws(ReelFailure) -> Rational {
        guard let edit else {
            let frames = try indexes[0].frames(from: from, to: to, lasting: duration)
            return indexes[0].pace(of: frames, mostFrames: shownRate)
        }
        let ranges = try EditRanges(edit, indexes)
        let place = edit.clips.firstIndex { $0.still == nil } ?? 0
        let clip = edit.clips[place]
        return indexes[clip.source ?? edit.firstSource].pace(
            of: ranges.frames[place], speed: clip.speed, mostFrames: shownRate)
    }

    /// Throws `.framesUneven` or `.frameRateNotHeld` (both `.input`) unless each frame of these clips is shown for a
    /// tick of the clock. Times may be off by a tick of their source's clock.
    func refuseUnlessPaced(_ clips: [Clip], _ indexes: [SourceIndex], _ clock: TimeBase) throws(ReelFailure) {
        guard let pacing = container.traits.pacing else { return }
        let rate = Rational(1) / clock.secondsPerTick
        if let rates = pacing.frameRates, !rates.contains(rate) {
            throw ReelFailure(.frameRateNotHeld(rate: rate, container: container, known: rates))
        }
        // Deviations are measured in parts of a frame.
        let parts: Int64 = 1024
        let fine = TimeBase(secondsPerTick: clock.secondsPerTick / Rational(parts))
        var due: Int64 = 0
        for clip in clips where clip.pace == nil {
            let track = indexes[clip.source].video
            let tick = fine.ticks(in: clip.map.source.secondsPerTick / clip.map.speed, rounding: .up)
            let slack = min(tick, parts / 4)
            var exact = clip
            exact.map.output = fine
            for place in 0..<clip.frameCount {
                let shown = exact.interval(at: place, in: track)
                let (early, late) = (shown.start.ticks - due, shown.end.ticks - due - parts)
                guard early.magnitude <= slack, late.magnitude <= slack else {
                    throw ReelFailure(
                        .framesUneven(
                            time: fine.seconds(shown.start), length: fine.seconds(shown.duration), rate: rate,
                            container: container))
                }
                due += parts
            }
        }
    }
}

extension SourceIndex {
    /// How long a frame of a range is shown at a speed, in seconds: exactly, if all frames but the last have the same
    /// duration, else by the nominal rate.
    fileprivate func pace(of frames: Range<Int>, speed: Rational = Rational(1), mostFrames: Rational?) -> Rational {
        let lengths = Set(video.frames[frames].dropLast().map(\.interval.duration))
        let own = lengths.count == 1 ? lengths.first.map(video.stream.timeBase.seconds) : nil
        let step = Rational(Int64(step(of: frames, speed: speed, mostFrames: mostFrames)))
        return (own ?? Rational(1) / video.stream.nominalRate) * step / speed
    }
}

extension Position {
    fileprivate var secondsOfSound: Rational {
        get throws(ReelFailure) {
            guard case .seconds(let seconds) = self else { throw ReelFailure(.soundHasNoFrames(position: self)) }
            return seconds
        }
    }
}

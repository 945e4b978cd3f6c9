/// Containers without timestamps, all of whose frames last equally long.
extension JobSpec {
    /// For how long the first clip shows a frame, in seconds: so long all frames of the output have to be shown. Fails as
    /// planning does.
    ///
    /// - Parameter indexes: those of the job's sources.
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

    /// Throws `.framesUneven` or `.frameRateNotHeld` (both `.input`) unless each frame of these clips is shown for a tick of
    /// the clock. Times may be off by a tick of their source's clock.
    func refuseUnlessPaced(_ clips: [Clip], _ indexes: [SourceIndex], _ clock: TimeBase) throws(ReelFailure) {
        guard let pacing = container.traits.pacing else { return }
        let rate = Rational(1) / clock.secondsPerTick
        if let rates = pacing.frameRates, !rates.contains(rate) {
            throw ReelFailure(.frameRateNotHeld(rate: rate, container: container, known: rates))
        }
        let fine = TimeBase(secondsPerTick: clock.secondsPerTick / Rational(Pace.parts))
        var due: Int64 = 0
        for clip in clips {
            let track = indexes[clip.source].video
            let tick = fine.ticks(in: clip.map.source.secondsPerTick / clip.map.speed, rounding: .up)
            let slack = min(tick, Pace.parts / 4)
            var exact = clip
            exact.map.output = fine
            for place in 0..<clip.frameCount {
                let shown = exact.interval(of: clip.frame(at: place), in: track)
                let (early, late) = (shown.start.ticks - due, shown.end.ticks - due - Pace.parts)
                guard early.magnitude <= slack, late.magnitude <= slack else {
                    throw ReelFailure(
                        .framesUneven(
                            time: fine.seconds(shown.start), length: fine.seconds(shown.duration), rate: rate,
                            container: container))
                }
                due += Pace.parts
            }
        }
    }
}

private enum Pace {
    /// Parts of a frame in which deviations are measured.
    static let parts: Int64 = 1024
}

extension SourceIndex {
    /// For how long a frame is shown, in seconds, if one of this many is shown at a speed: exactly, if all frames of the range
    /// but the last lead to one value, else by the nominal rate.
    fileprivate func pace(of frames: Range<Int>, speed: Rational = Rational(1), mostFrames: Rational?) -> Rational {
        let lengths = Set(video.frames[frames].dropLast().map(\.interval.duration))
        let own = lengths.count == 1 ? lengths.first.map(video.stream.timeBase.seconds) : nil
        let step = mostFrames.map { self.step(of: frames, speed: speed, mostFrames: $0) } ?? 1
        return (own ?? Rational(1) / video.stream.nominalRate) * Rational(Int64(step)) / speed
    }
}

/// Where the output has what belongs to the source's pictures but has times of its own: subtitles, chapters.
extension Timeline {
    /// The part of the source that the output shows, in seconds on the source's clock.
    public func shown(in track: VideoTrack) -> Range<Rational> {
        guard frameCount > 0 else { return Rational(0)..<Rational(0) }
        let (low, high) = (timeBase.seconds(track.frames[firstFrame].interval.start), timeBase.seconds(end))
        return low..<max(low, high)
    }

    /// Where the output has what the source has during `span`, in seconds of both clocks; cut to what is shown, nil
    /// where nothing of it is.
    public func reversed(_ span: Range<Rational>, in track: VideoTrack) -> Range<Rational>? {
        let kept = span.clamped(to: shown(in: track))
        guard !kept.isEmpty else { return nil }
        let (start, end) = (moment(kept.upperBound, in: track), moment(kept.lowerBound, in: track))
        return start < end ? start..<end : nil
    }

    /// Where a moment of the part that is shown lies in the output. With the source's timestamps kept, frames last
    /// otherwise than they did: the moment stays in its frame, as far from its end as it was from its start.
    private func moment(_ seconds: Rational, in track: VideoTrack) -> Rational {
        guard mode == .source else { return mirror(seconds) }
        let later = track.frames[frames].partitioningIndex { timeBase.seconds($0.interval.start) > seconds }
        let frame = max(later - 1, firstFrame)
        let (own, place) = (track.frames[frame].interval, interval(of: frame, in: track))
        guard seconds < timeBase.seconds(own.end) else { return timeBase.seconds(place.start) }
        let scale = Rational(place.duration.count, max(own.duration.count, 1))
        return timeBase.seconds(place.end) - (seconds - timeBase.seconds(own.start)) * scale
    }
}

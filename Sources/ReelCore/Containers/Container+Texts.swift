/// How texts are written to a container.
extension Container {
    /// The codec in which a text track is written, as FFmpeg spells it; nil if the container holds none.
    public func textCodec(for codec: String) -> String? {
        traits.texts.contains(codec) ? codec : traits.texts.first
    }

    /// What a text track's times count in. If the container has no clock of its own: that of video and track, as fine as
    /// libavformat must have it to close samples in time (it compares ticks of different tracks), and as coarse as 12
    /// hours of silence in 32 bits need.
    public func textTimeBase(video: TimeBase, text: TimeBase) -> TimeBase {
        guard !traits.holdsOverlappingCues else { return TimeBase(1, 1000) }
        let (most, least): (Int64, Int64) = (96_000, 48_000)
        let (a, b) = (video.secondsPerTick.denominator, text.secondsPerTick.denominator)
        let clock = [Rational.leastCommonMultiple(a, b), a, b].compactMap(\.self).first { $0 <= most } ?? 1000
        return TimeBase(1, clock * ((least + clock - 1) / clock))
    }
}

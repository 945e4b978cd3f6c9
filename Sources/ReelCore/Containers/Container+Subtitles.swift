/// Codecs and clocks of text tracks in each container.
extension Container {
    /// The codec in which a text track of `codec` is written, as FFmpeg spells it: `codec` itself if the container
    /// holds it, else the container's preferred one; nil if it holds none.
    package func subtitleCodec(for codec: String) -> String? {
        traits.subtitles.contains(codec) ? codec : traits.subtitles.first
    }

    /// The time base of a text track in the output: milliseconds if the container lets cues overlap. If not, a tick of
    /// 1/48000 to 1/96000 s, of which the ticks of video and text are multiples if possible. libavformat compares ticks
    /// of different tracks, so the clock must be that fine for it to close samples in time; it must be that coarse for
    /// 12 hours without a cue to fit into 32 bits.
    package func subtitleTimeBase(video: TimeBase, text: TimeBase) -> TimeBase {
        guard !traits.holdsOverlappingCues else { return TimeBase(1, 1000) }
        let (most, least): (Int64, Int64) = (96_000, 48_000)
        let (a, b) = (video.secondsPerTick.denominator, text.secondsPerTick.denominator)
        let clock = [Rational.leastCommonMultiple(a, b), a, b].compactMap(\.self).first { $0 <= most } ?? 1000
        return TimeBase(1, clock * ((least + clock - 1) / clock))
    }
}

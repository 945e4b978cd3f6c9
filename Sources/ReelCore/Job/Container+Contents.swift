/// What a container holds beside video and sound, as libavformat writes it.
extension Container {
    /// The codec in which a text track is written, as FFmpeg spells it; nil where there is none.
    public func textCodec(for codec: String) -> String? {
        switch self {
        case .mkv: ["subrip", "ass", "webvtt"].contains(codec) ? codec : "subrip"
        case .webm: "webvtt"
        case .mp4, .mov: "mov_text"
        case .ts, .nut: nil
        }
    }

    /// Cues of a track may overlap. Samples of MP4 follow one another (ISO 14496-12 8.6.1.2).
    public var holdsOverlappingCues: Bool { self != .mp4 && self != .mov }

    /// What a text track's times count in. Where the container has no clock of its own: that of video and track, as
    /// fine as libavformat must have it to close samples in time (it compares ticks of different tracks), and as
    /// coarse as 12 hours of silence in 32 bits need.
    public func textTimeBase(video: TimeBase, text: TimeBase) -> TimeBase {
        guard !holdsOverlappingCues else { return TimeBase(1, 1000) }
        let (most, least): (Int64, Int64) = (96_000, 48_000)
        let (a, b) = (video.secondsPerTick.denominator, text.secondsPerTick.denominator)
        let clock = [Rational.leastCommonMultiple(a, b), a, b].compactMap(\.self).first { $0 <= most } ?? 1000
        return TimeBase(1, clock * ((least + clock - 1) / clock))
    }

    public var holdsChapters: Bool { self != .ts }

    /// Title, artist and their like, for the whole file.
    public var holdsTags: Bool { self != .ts }

    public func holds(_ attachment: Attachment) -> Bool {
        switch self {
        case .mkv: true
        case .mp4: attachment.isCover && ["mjpeg", "png", "bmp"].contains(attachment.codec)
        case .mov, .webm, .ts, .nut: false
        }
    }
}

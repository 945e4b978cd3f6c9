internal import CFFmpeg
internal import ReelCore

/// The cues of one text track on the output's clock.
final class SubtitleSource: PacketSource {
    let timeBase: TimeBase
    private var cues: ArraySlice<Cue>

    /// `shift` is the time in seconds by which the whole output starts later. Both ends of a cue are rounded, so that
    /// adjacent cues stay adjacent. A cue shorter than a tick lasts one tick if cues may overlap, and is dropped if
    /// not.
    init(_ text: SubtitleOutput, shift: Rational, overlapping: Bool) {
        let base = text.timeBase
        timeBase = base
        cues =
            text.cues.compactMap { cue in
                let start = base.ticks(in: cue.span.lowerBound + shift, rounding: .nearest)
                let end = base.ticks(in: cue.span.upperBound + shift, rounding: .nearest)
                guard overlapping || start < end else { return nil }
                let interval = Interval(start: Timestamp(start), duration: Ticks(max(end - start, 1)))
                return Cue(interval: interval, text: cue.text)
            }[...]
    }

    var matroskaDelay: Ticks { .zero }
    var upcoming: Timestamp? { cues.first?.interval.start }

    /// Cues come from the index, which has been read.
    func finish() {}

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        guard let cue = cues.popFirst() else { throw ReelFailure(.partsEnded(parts: .cues)) }
        try packet.fill(with: cue.text.payload)
        try packet.setSideData(cue.text.identifier, AV_PKT_DATA_WEBVTT_IDENTIFIER)
        try packet.setSideData(cue.text.settings, AV_PKT_DATA_WEBVTT_SETTINGS)
        packet.pts = cue.interval.start
        packet.dts = cue.interval.start
        packet.duration = cue.interval.duration
        packet.native.pointee.flags = AV_PKT_FLAG_KEY
    }
}

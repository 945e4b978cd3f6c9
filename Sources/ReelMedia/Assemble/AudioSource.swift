internal import CFFmpeg
internal import ReelCore

/// One audio track's segment, placed on the output's clock.
final class AudioSource: PacketSource {
    let timeBase: TimeBase
    private let reader: SegmentReader
    private let record: SegmentRecord
    /// The ticks added to the times in the segment.
    private let offset: Ticks
    private let isMatroska: Bool
    /// libavformat writes a codec delay only for Opus.
    let matroskaDelay: Ticks
    private let ahead: Packet
    private(set) var upcoming: Timestamp?

    /// `shift` is the time in seconds by which the whole output starts later.
    init(
        _ heard: OutputAudioTrack, parameters: UnsafePointer<AVCodecParameters>, shift: Rational,
        isMatroska: Bool
    ) throws(ReelFailure) {
        let record = heard.record
        self.isMatroska = isMatroska
        self.record = record
        let isOpus = parameters.pointee.codec_id == AV_CODEC_ID_OPUS
        matroskaDelay = isOpus ? Ticks(Int64(record.initialPadding)) : .zero
        timeBase = record.timeBase
        reader = try SegmentReader(heard.segment, pass: heard.pass, parameters: parameters)
        let start = record.start + timeBase.ticks(in: shift, rounding: .nearest)
        offset = Ticks(start - Int64(record.initialPadding))
        ahead = try Packet()
        try advance()
    }

    private func advance() throws(ReelFailure) {
        upcoming = nil
        guard try reader.read(into: ahead) else { return }
        guard let pts = ahead.pts else {
            throw reader.judged(ReelFailure(.packetWithoutTime(segment: record.name.text)))
        }
        upcoming = pts + offset
    }

    /// The segment has been compared with its record, since its end was read.
    func finish() {}

    func judged(_ failure: ReelFailure) -> ReelFailure { reader.judged(failure) }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        guard let pts = upcoming else {
            throw ReelFailure(.segmentFlawed(segment: record.name.text, pass: reader.pass, flaw: .short))
        }
        packet.take(ahead)
        try advance()
        packet.pts = pts
        packet.dts = pts
        let end = Timestamp(Int64(record.frames + record.initialPadding)) + offset
        packet.duration = min(upcoming ?? end, end) - pts
        // Matroska's DiscardPadding (RFC 9559 5.1.3.5.7). MP4 has the packet's duration, and libavformat subtracts
        // both.
        if isMatroska, upcoming == nil, record.trailingPadding > 0 {
            try packet.skipAtEnd(samples: record.trailingPadding)
        }
    }
}

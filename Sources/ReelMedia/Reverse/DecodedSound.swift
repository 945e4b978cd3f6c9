internal import CFFmpeg
internal import ReelCore

/// An audio track of a source, decoded once and completely into a spill, in one format.
final class DecodedSound {
    let spill: SampleSpill
    /// The format of the samples in the spill, with channels interleaved.
    let format: SoundFormat
    /// When the samples are heard; a reversal narrows it to the part that it contains.
    var timeline: AudioTimeline
    /// What decoding has found; `holes` are beside these.
    let diagnostics: [Diagnostic]
    private let number: Int
    /// The start of the source file's clock, in seconds.
    private let zero: Rational

    /// Calls `progress` after each packet. `format` is that of the samples in the spill; nil for that of the first
    /// sound. `video` is the time in seconds for which the source is shown; nil for all of it.
    init(
        _ source: IndexedSource, track number: Int, as format: SoundFormat? = nil, during video: Rational? = nil,
        scratch: String, progress: () -> Void
    ) throws(ReelFailure) {
        let index = source.index
        let track = index.audio[number]
        let gather = SoundGather(timeBase: track.timeBase, format: format, scratch: scratch)
        try gather.decode(track, of: source.locator, progress: progress)
        // A hole may be as long as the video, or ten minutes. Damaged timestamps may make a video last for years.
        let longestHole = min(max(video ?? index.length(besideAudio: track), Rational(600)), Rational(86_400))
        guard let spill = gather.spill, let format = gather.format?.packed,
            let timeline = AudioTimeline(blocks: gather.blocks, sampleRate: format.rate, longestHole: longestHole)
        else { throw ReelFailure(.sourceChanged(path: source.locator.name, change: .sound, number: track.index)) }
        try spill.flush()
        (self.spill, self.format, self.timeline) = (spill, format, timeline)
        (self.number, zero) = (number, index.startTime)
        let closed = timeline.closedHoles
        diagnostics =
            gather.diagnostics(track: number, zero: zero)
            + (closed > 0 ? [.holesClosed(track: number, holes: closed)] : [])
    }

    /// The diagnostic of holes that stay silent; empty if there are none.
    var holes: [Diagnostic] {
        let holes = timeline.holes
        guard let first = holes.first else { return [] }
        return [.holesSilent(track: number, holes: holes.count, from: first.start - zero, to: first.end - zero)]
    }

    /// What a piece lets be heard of this sound during samples of the output, before it is stretched.
    func cursor(_ piece: SoundEdit.Piece, _ samples: Range<Int64>) -> SpanCursor {
        let spans = timeline.spans(in: piece.places(samples, on: timeline), piece.direction)
        return SpanCursor(spans, piece.direction, of: spill)
    }
}

extension SourceIndex {
    /// How long the video is, in seconds. A source that is only heard has none: its sound alone says how long it lasts.
    fileprivate func length(besideAudio track: AudioTrack) -> Rational {
        guard let first = video.frames.first else { return track.timeBase.seconds(track.span.duration) }
        let clock = video.stream.timeBase
        return clock.seconds(video.end) - clock.seconds(first.interval.start)
    }
}

/// The output of an audio decoder: samples of one format, and when they are heard.
private final class SoundGather {
    private let timeBase: TimeBase
    private let scratch: String
    private(set) var spill: SampleSpill?
    /// The format to which all sound is converted: that of the first, unless another is asked for.
    private(set) var format: SoundFormat?
    private(set) var blocks: [AudioTimeline.Block] = []
    /// The format that the decoder gives at present, and the converter from it if it differs from the first.
    private var current: SoundFormat?
    private var converter: Resampler?
    /// Whether the present format can be converted. Damage can make a decoder give one that cannot, such as twenty
    /// channels of no layout: that sound is lost.
    private var isUsable = true
    private var changes: [(time: Rational, from: SoundFormat, to: SoundFormat)] = []
    /// When each packet that did not decode would have been heard; nil if the file does not say.
    private var losses: [Rational?] = []
    private var lostLately = false

    init(timeBase: TimeBase, format: SoundFormat?, scratch: String) {
        (self.timeBase, self.scratch, self.format) = (timeBase, scratch, format)
    }

    func decode(_ track: AudioTrack, of source: Locator, progress: () -> Void) throws(ReelFailure) {
        let demuxer = try Demuxer(source)
        guard let stream = demuxer.stream(track.index) else {
            throw ReelFailure(.sourceChanged(path: source.name, change: .stream, number: track.index))
        }
        demuxer.selectAlone(track.index)
        let decoder = try Decoder(stream: stream, threads: 1, path: source.name)
        let splitter = PacketSplitter(codec: stream.parameters.codec_id)
        let packet = try Packet()
        var clock = BroadcastClock(
            step: Ticks(timeBase.ticks(in: Rational(1024, Int64(track.sampleRate)), rounding: .nearest)),
            patience: Ticks(timeBase.ticks(in: Rational(1, 2), rounding: .nearest)))
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.index else { continue }
            // If the video has no gap here, the sound has none either.
            if demuxer.mayRestart, let time = packet.pts { packet.delay(by: clock.correction(at: time)) }
            let before = decoder.complaints
            try splitter.forEachFrame(of: packet) { (part) throws(ReelFailure) in
                while try decoder.send(part) == .full { try receive(from: decoder) }
                try receive(from: decoder)
            }
            if decoder.complaints > before { lose(at: packet.pts.map(timeBase.seconds)) }
            progress()
        }
        try decoder.drain()
        try receive(from: decoder)
        try finish()
    }

    private func receive(from decoder: Decoder) throws(ReelFailure) {
        let frame = try Frame()
        while try decoder.receive(into: frame) == .frame {
            guard frame.sampleCount > 0 else { continue }
            let time = (frame.pts ?? frame.bestTimestamp).map(timeBase.seconds) ?? end
            try adopt(SoundFormat(of: frame), at: time)
            guard isUsable else {
                lose(at: time)
                continue
            }
            guard let converter else {
                try keep(frame, at: time)
                continue
            }
            let start = time - converter.pending
            try converter.push(frame)
            try keep(converter.pull(converter.ready), at: start)
        }
    }

    /// The end of the sound so far; the clock's zero before any sound.
    private var end: Rational {
        guard let last = blocks.last, let format else { return Rational(0) }
        return last.time + Rational(Int64(last.count), Int64(format.rate))
    }

    private func adopt(_ new: SoundFormat, at time: Rational) throws(ReelFailure) {
        guard new != current else { return }
        try finish()
        let before = isUsable ? current : nil
        (current, isUsable) = (new, true)
        let format = format ?? new
        self.format = format
        if spill == nil { spill = try SampleSpill(folder: scratch, format) }
        // The spill interleaves channels itself.
        if new != format, new.packed != format {
            do throws(ReelFailure) {
                converter = try Resampler(from: new, to: format)
            } catch {
                guard error.cause != .limit else { throw error }
                isUsable = false
                return
            }
        }
        if let before { changes.append((time, before, new)) }
    }

    private func keep(_ frame: borrowing Frame, at time: Rational) throws(ReelFailure) {
        guard frame.sampleCount > 0 else { return }
        try spill?.append(frame)
        blocks.append(AudioTimeline.Block(time: time, count: frame.sampleCount, followsLoss: lostLately))
        lostLately = false
    }

    private func lose(at time: Rational?) {
        losses.append(time)
        lostLately = true
    }

    /// Ends the present format: stores the samples that its converter still holds.
    private func finish() throws(ReelFailure) {
        guard let converter else { return }
        try converter.finish()
        try keep(converter.pull(converter.ready), at: end)
        self.converter = nil
    }

    func diagnostics(track: Int, zero: Rational) -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        if let first = changes.first {
            diagnostics.append(
                .soundUnified(
                    track: track, changes: changes.count, time: first.time - zero, from: first.from.form,
                    to: first.to.form, made: (format ?? first.from).form))
        }
        if !losses.isEmpty {
            let times = losses.compactMap { $0.map { $0 - zero } }
            diagnostics.append(
                .packetsSilent(track: track, packets: losses.count, first: times.first, last: times.last))
        }
        return diagnostics
    }
}

extension SoundFormat {
    fileprivate var form: SoundForm {
        SoundForm(layout: layout, rate: rate, sample: known(av_get_sample_fmt_name(sample)) ?? "unknown")
    }
}

/// Splits packets of AMR: 3GP stores several frames in a packet, of which libavcodec decodes only the first.
private struct PacketSplitter {
    /// Bytes of a frame with its header, by frame type (RFC 4867 4.3.1 and 5.3); nil for other codecs.
    private let frameBytes: [Int]?

    init(codec: AVCodecID) {
        switch codec {
        case AV_CODEC_ID_AMR_NB: frameBytes = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
        case AV_CODEC_ID_AMR_WB: frameBytes = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]
        default: frameBytes = nil
        }
    }

    /// Calls `body` with each frame in the packet. Only the first has the packet's time.
    func forEachFrame(
        of packet: borrowing Packet, _ body: (borrowing Packet) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        guard let frameBytes, let data = packet.native.pointee.data else { return try body(packet) }
        var place = 0
        while place < packet.size {
            let size = min(frameBytes[Int(data[place] >> 3) & 15], packet.size - place)
            let part = try Packet()
            try check(av_new_packet(part.native, Int32(size)), .makePacket)
            part.native.pointee.data.update(from: data + place, count: size)
            part.pts = place == 0 ? packet.pts : nil
            try body(part)
            place += size
        }
    }
}

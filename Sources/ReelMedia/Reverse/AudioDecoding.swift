internal import CFFmpeg
internal import ReelCore

/// Decodes one audio track completely into a spill, in one format.
struct AudioDecoding {
    let spill: SampleSpill
    /// The format of the samples in the spill, with channels interleaved.
    let format: SoundFormat
    let blocks: [AudioTimeline.Block]
    let diagnostics: [Diagnostic]

    /// Calls `progress` after each packet.
    ///
    /// - Parameters:
    ///   - number: the track's number in diagnostics.
    ///   - zero: the start of the file's clock, in seconds.
    ///   - format: that of the samples in the spill; nil for that of the first sound.
    init(
        _ source: Locator, track: AudioTrack, number: Int, zero: Rational, as format: SoundFormat? = nil,
        scratch: String, progress: () -> Void
    ) throws(ReelFailure) {
        let demuxer = try Demuxer(source)
        guard let stream = demuxer.stream(track.index) else {
            throw ReelFailure(.sourceChanged(path: source.name, change: .stream, number: track.index))
        }
        demuxer.selectAlone(track.index)
        let decoder = try Decoder(stream: stream, threads: 1, path: source.name)
        let splitter = PacketSplitter(codec: stream.pointee.codecpar.pointee.codec_id)
        let gather = try SoundGather(timeBase: track.timeBase, format: format, scratch: scratch)
        let packet = try Packet()
        var clock = BroadcastClock(
            step: Ticks(track.timeBase.ticks(in: Rational(1024, Int64(track.sampleRate)), rounding: .nearest)),
            patience: Ticks(track.timeBase.ticks(in: Rational(1, 2), rounding: .nearest)))
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.index else { continue }
            // If the video has no gap here, the sound has none either.
            if demuxer.mayRestart, let time = packet.pts { packet.delay(by: clock.correction(at: time)) }
            let before = decoder.complaints
            try splitter.forEachFrame(of: packet) { (part) throws(ReelFailure) in
                while try decoder.send(part) == .full { try gather.receive(from: decoder) }
                try gather.receive(from: decoder)
            }
            if decoder.complaints > before { gather.lose(packet) }
            progress()
        }
        try decoder.drain()
        try gather.receive(from: decoder)
        try gather.finish()
        guard let spill = gather.spill, let format = gather.format, !gather.blocks.isEmpty else {
            throw ReelFailure(.sourceChanged(path: source.name, change: .sound, number: track.index))
        }
        try spill.flush()
        (self.spill, self.format, blocks) = (spill, format.packed, gather.blocks)
        diagnostics = gather.diagnostics(track: number, zero: zero)
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
    /// Whether the present format can be converted. Damage can make a decoder give one that cannot, such as twenty channels
    /// of no layout: that sound is lost.
    private var isUsable = true
    private var changes: [(time: Rational, from: SoundFormat, to: SoundFormat)] = []
    /// When each packet that did not decode would have been heard; nil if the file does not say.
    private var losses: [Rational?] = []
    private var lostLately = false

    init(timeBase: TimeBase, format: SoundFormat?, scratch: String) throws(ReelFailure) {
        self.timeBase = timeBase
        self.scratch = scratch
        self.format = format
        if let format {
            spill = try SampleSpill(folder: scratch, format: format.sample, channels: try format.channels())
        }
    }

    func receive(from decoder: Decoder) throws(ReelFailure) {
        let frame = try Frame()
        while try decoder.receive(into: frame) == .frame {
            guard frame.sampleCount > 0 else { continue }
            let time = (frame.pts ?? frame.bestTimestamp).map(timeBase.seconds) ?? end
            try adopt(SoundFormat(of: frame), at: time)
            guard isUsable else {
                losses.append(time)
                lostLately = true
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
        guard let format else {
            format = new
            spill = try SampleSpill(folder: scratch, format: new.sample, channels: try new.channels())
            return
        }
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

    func lose(_ packet: borrowing Packet) {
        losses.append(packet.pts.map(timeBase.seconds))
        lostLately = true
    }

    /// Ends the present format: stores the samples that its converter still holds.
    func finish() throws(ReelFailure) {
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
    /// The format as a fact of a diagnostic.
    fileprivate var form: SoundForm {
        SoundForm(layout: layout, rate: rate, sample: known(av_get_sample_fmt_name(sample)) ?? "unknown")
    }
}

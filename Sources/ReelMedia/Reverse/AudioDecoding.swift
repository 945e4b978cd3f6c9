internal import CFFmpeg
internal import ReelCore

/// Decodes one audio track in full, to a spill, in the format that its first sound has.
struct AudioDecoding {
    let spill: SampleSpill
    /// That of the samples in the spill, channels beside each other.
    let format: SoundFormat
    let blocks: [AudioTimeline.Block]
    /// A sentence for each thing that is not as it should be.
    let warnings: [String]

    /// `name` stands for the track in warnings, `zero` is where the file's clock starts, in seconds.
    init(
        path: String, track: AudioTrack, name: String, zero: Rational, scratch: String,
        progress: (_ decoded: Int) -> Void
    ) throws(ReelFailure) {
        let demuxer = try Demuxer(path: path)
        guard let stream = demuxer.stream(track.index) else {
            throw ReelFailure(.input, "\(path): changed since it was indexed; submit it again")
        }
        demuxer.selectAlone(track.index)
        let decoder = try Decoder(stream: stream, threads: 1, path: path)
        let splitter = PacketSplitter(codec: stream.pointee.codecpar.pointee.codec_id)
        let gather = SoundGather(timeBase: track.timeBase, scratch: scratch)
        let packet = try Packet()
        var clock = BroadcastClock(
            step: Ticks(track.timeBase.ticks(in: Rational(1024, Int64(track.sampleRate)), rounding: .nearest)),
            patience: Ticks(track.timeBase.ticks(in: Rational(1, 2), rounding: .nearest)))
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.index else { continue }
            // Where the video goes on without a gap, the sound does.
            if demuxer.mayRestart, let time = packet.pts { packet.delay(by: clock.correction(at: time)) }
            let before = decoder.complaints
            try splitter.forEachFrame(of: packet) { (part) throws(ReelFailure) in
                while try decoder.send(part) == .full { try gather.receive(from: decoder) }
                try gather.receive(from: decoder)
            }
            if decoder.complaints > before { gather.lose(packet) }
            progress(gather.blocks.count)
        }
        try decoder.drain()
        try gather.receive(from: decoder)
        try gather.finish()
        guard let spill = gather.spill, let format = gather.format else {
            throw ReelFailure(.input, "\(path): changed since it was indexed (no sound decodes); submit it again")
        }
        try spill.flush()
        (self.spill, self.format, blocks) = (spill, format.packed, gather.blocks)
        warnings = gather.warnings(name: name, zero: zero)
    }
}

/// What comes out of an audio decoder: samples of one format, and when they are heard.
private final class SoundGather {
    private let timeBase: TimeBase
    private let scratch: String
    private(set) var spill: SampleSpill?
    /// That of the first sound, which all is converted to.
    private(set) var format: SoundFormat?
    private(set) var blocks: [AudioTimeline.Block] = []
    /// What the decoder gives at present, and what converts it where that is another format than the first.
    private var current: SoundFormat?
    private var converter: Resampler?
    private var changes: [(time: Rational, from: SoundFormat, to: SoundFormat)] = []
    /// When each packet that did not decode would have been heard; nil where the file does not say.
    private var losses: [Rational?] = []
    private var lostLately = false

    init(timeBase: TimeBase, scratch: String) {
        self.timeBase = timeBase
        self.scratch = scratch
    }

    func receive(from decoder: Decoder) throws(ReelFailure) {
        let frame = try Frame()
        while try decoder.receive(into: frame) == .frame {
            guard frame.sampleCount > 0 else { continue }
            let time = (frame.pts ?? frame.bestTimestamp).map(timeBase.seconds) ?? end
            try adopt(SoundFormat(of: frame), at: time)
            guard let converter else {
                try keep(frame, at: time)
                continue
            }
            let start = time - converter.pending
            try converter.push(frame)
            try keep(converter.pull(converter.ready), at: start)
        }
    }

    /// Where the sound so far ends; the clock's zero before there is any.
    private var end: Rational {
        guard let last = blocks.last, let format else { return Rational(0) }
        return last.time + Rational(Int64(last.count), Int64(format.rate))
    }

    private func adopt(_ new: SoundFormat, at time: Rational) throws(ReelFailure) {
        guard new != current else { return }
        try finish()
        if let current { changes.append((time, current, new)) }
        current = new
        guard let format else {
            format = new
            spill = try SampleSpill(folder: scratch, format: new.sample, channels: try new.channels())
            return
        }
        converter = new == format ? nil : try Resampler(from: new, to: format)
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

    /// Nothing more of the present format follows: what its converter holds back is kept.
    func finish() throws(ReelFailure) {
        guard let converter else { return }
        try converter.finish()
        try keep(converter.pull(converter.ready), at: end)
        self.converter = nil
    }

    func warnings(name: String, zero: Rational) -> [String] {
        var warnings: [String] = []
        if let first = changes.first {
            let (before, after) = first.from.words(beside: first.to)
            let more = changes.count > 1 ? ", and \(changes.count - 1) times more" : ""
            warnings.append(
                "\(name): changes from \(before) to \(after) at \(Wording.seconds(first.time - zero))\(more): "
                    + "all of it becomes \(format.map { $0.words(beside: first.to).0 } ?? before)")
        }
        if !losses.isEmpty {
            let times = losses.compactMap { $0 }.map { Wording.seconds($0 - zero) }
            let places = times.first.map { first in
                times.count > 1 ? ", the first at \(first), the last at \(times[times.count - 1])" : " at \(first)"
            }
            let packets = losses.count == 1 ? "a packet does" : "\(losses.count) packets do"
            warnings.append("\(name): \(packets) not decode\(places ?? ""): silent there")
        }
        return warnings
    }
}

extension SoundFormat {
    /// This format and another, told by what differs: channels, rate, or the kind of sample.
    func words(beside other: SoundFormat) -> (String, String) {
        if layout != other.layout, rate != other.rate {
            return ("\(layout) at \(rate) Hz", "\(other.layout) at \(other.rate) Hz")
        }
        if layout != other.layout { return (layout, other.layout) }
        if rate != other.rate { return ("\(rate) Hz", "\(other.rate) Hz") }
        let name = { (sample: AVSampleFormat) in
            "samples of " + (known(av_get_sample_fmt_name(sample)) ?? "unknown kind")
        }
        return (name(sample), name(other.sample))
    }
}

internal import CFFmpeg
internal import ReelCore

/// A part of a steady track that is decoded alone.
struct SoundWindow {
    let track: AudioTrack
    let sound: SteadySound
    /// The places that are wanted, counted on the timeline of the whole track.
    let places: Range<Int64>
    /// The packets that the decoder gets before those of the first place, as far as there are any.
    let packetsBefore: Int

    /// When the first packet begins that the decoder must get; nil for that of the track.
    var start: Timestamp? {
        guard packetsBefore < .max else { return nil }
        let time = sound.time(of: places.lowerBound, before: packetsBefore, on: track.timeBase, rate: track.sampleRate)
        return time > sound.first ? time : nil
    }

    func place(of time: Timestamp) -> Int64? { sound.place(of: time, on: track.timeBase, rate: track.sampleRate) }
}

/// The output of an audio decoder: samples of one format, and when they are heard.
final class SoundGather {
    private let timeBase: TimeBase
    /// The folder of the spill; nil if the samples are not kept, or the spill is there.
    private let scratch: String?
    /// The part that is wanted; nil for the whole track.
    private let window: SoundWindow?
    /// The places of the part that were decoded, in order and without overlap.
    private(set) var runs: [Range<Int64>] = []
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

    /// - Parameter scratch: nil if the samples are not kept.
    init(timeBase: TimeBase, format: SoundFormat?, scratch: String?) {
        (self.timeBase, self.scratch, self.format, window) = (timeBase, scratch, format, nil)
    }

    /// Decodes only the part in `window`; without a spill, only to see what of it decodes.
    init(_ window: SoundWindow, into spill: SampleSpill?, format: SoundFormat) {
        (timeBase, scratch, self.format) = (window.track.timeBase, nil, format)
        (self.spill, self.window) = (spill, window)
    }

    func decode(_ track: AudioTrack, of source: Locator, progress: () -> Void) throws(ReelFailure) {
        let demuxer = try demuxer(of: track, in: source)
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
            let place = packet.pts.flatMap { window?.place(of: $0) }
            if let window, let place, place >= window.places.upperBound { break }
            let before = decoder.complaints
            try splitter.forEachFrame(of: packet) { (part) throws(ReelFailure) in
                while try decoder.send(part) == .full { try receive(from: decoder) }
                try receive(from: decoder)
            }
            if decoder.complaints > before, window.map({ place ?? 0 >= $0.places.lowerBound }) ?? true {
                lose(at: packet.pts.map(timeBase.seconds))
            }
            progress()
        }
        try decoder.drain()
        try receive(from: decoder)
        try finish()
    }

    private func demuxer(of track: AudioTrack, in source: Locator) throws(ReelFailure) -> Demuxer {
        let demuxer = try Demuxer(source)
        guard let start = window?.start, !demuxer.seek(sound: track.index, to: start) else { return demuxer }
        return try Demuxer(source)
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
        if spill == nil, let scratch { spill = try SampleSpill(folder: scratch, format) }
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
        if let window {
            guard let place = window.place(of: Timestamp(timeBase.ticks(in: time, rounding: .nearest))) else { return }
            let run = place..<place + Int64(frame.sampleCount)
            guard run.overlaps(window.places), place >= runs.last?.upperBound ?? place else { return }
            if let last = runs.last, last.upperBound == place {
                runs[runs.count - 1] = last.lowerBound..<run.upperBound
            } else {
                runs.append(run)
            }
        }
        try spill?.append(frame)
        blocks.append(AudioTimeline.Block(time: time, count: frame.sampleCount, followsLoss: lostLately))
        lostLately = false
    }

    /// Whether the part's first samples are there.
    var startsInTime: Bool {
        guard let window, let first = runs.first else { return false }
        return first.lowerBound <= window.places.lowerBound
    }

    /// Whether all packets of the part decoded.
    var isWhole: Bool { losses.isEmpty && changes.isEmpty }

    /// Counts a loss if places of the part are missing and no packet says why.
    func loseUnlessDecoded() {
        guard losses.isEmpty, let window, case let places = window.places else { return }
        var end = places.lowerBound
        for run in runs where run.lowerBound <= end { end = run.upperBound }
        guard end < places.upperBound else { return }
        lose(at: timeBase.seconds(window.sound.start) + Rational(end, Int64(window.track.sampleRate)))
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

/// Splits packets of AMR: 3GP stores several frames in a packet, and libavcodec decodes only the first of them.
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

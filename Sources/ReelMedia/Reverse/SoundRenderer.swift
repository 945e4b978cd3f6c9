internal import CFFmpeg
package import ReelCore

/// Makes a segment of an audio track, of a reversal as of any other edit: all of the track, which is rendered once and
/// encoded continuously, or a part whose packets join those of the parts beside it. Sound that only keeps its direction
/// may be copied instead.
package struct SoundRenderer {
    private let sources: [IndexedSource]
    private let plan: Plan
    private let target: AudioTarget
    private let content: SegmentContent
    /// What the segment has of the track; nil for all of it.
    private let part: (sound: JoinableSound, samples: Range<Int>)?

    /// `sources` are the plan's, in their order, `number` is the track's place in the plan, and `samples` are those of a
    /// part of it.
    package init(
        sources: [IndexedSource], plan: Plan, number: Int, samples: Range<Int>? = nil
    ) throws(ReelFailure) {
        let indexes = sources.map(\.index)
        let planned = PlannedSegments(plan: plan, indexes: indexes)
        guard plan.audio.indices.contains(number), let content = planned.content(ofAudio: number, samples) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        (self.sources, self.plan, target, self.content) = (sources, plan, plan.audio[number], content)
        guard let samples else {
            part = nil
            return
        }
        guard let sound = JoinableSound(target, of: plan, indexes), sound.contains(samples) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        part = (sound, samples)
    }

    private var track: AudioTrack { sources[target.source].index.audio[target.track] }
    private var silent: Diagnostic { .soundNotHeard(track: target.track) }

    /// Makes the segment, with spills in the folder `scratch`. Calls `progress` all the time, about once a packet.
    package func render(
        at place: SegmentPlace, scratch: String, progress: () -> Void
    ) throws(ReelFailure) -> PassResult {
        let sound = TrackSound(target, of: plan, sources.map(\.index))
        var statistics = PassStatistics()
        let record: SegmentRecord
        if target.isPassthrough, let shown = sound.reversed {
            let copy = AudioPassthrough(
                source: sources[target.source].locator, track: track, from: shown.start, to: shown.end,
                hidesPreroll: plan.container.hidesPreroll(of: track))
            record = try measured(&statistics.waitSeconds) { () throws(ReelFailure) in
                try copy.write(making: content, to: place, ifSilent: silent, progress: progress)
            }
        } else {
            record = try encode(sound, to: place, scratch: scratch, &statistics, progress)
        }
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    /// Encodes the segment, again and again at other rates if its bytes are limited.
    private func encode(
        _ sound: TrackSound, to place: SegmentPlace, scratch: String, _ statistics: inout PassStatistics,
        _ progress: () -> Void
    ) throws(ReelFailure) -> SegmentRecord {
        var target = target
        var search = rateSearch
        while true {
            if let search { target.bitrate = max(Int64(search.rate), rates?.lowerBound ?? 0) }
            let made =
                if let part {
                    try encode(
                        part.samples, of: part.sound, as: target, to: place, scratch: scratch, &statistics, progress)
                } else {
                    try encode(sound, as: target, to: place, scratch: scratch, &statistics, progress)
                }
            // The assembly says what a file with sound that is too large has.
            guard case .again = search?.judge(8 * Double(made.encoding.payload)) else { return try finish(made) }
        }
    }

    /// Nil if the segment may have any number of bytes. Some encoders make far fewer of easy sound than their rate says: a
    /// higher one uses what the file's size gives the sound.
    private var rateSearch: RateSearch? {
        guard let most = target.mostBytes, let rate = target.bitrate else { return nil }
        let share = part.map { Double($0.samples.count) / Double(max($0.sound.count, 1)) } ?? 1
        let highest = min(2 * rate, rates?.upperBound ?? .max)
        return RateSearch(most: 8 * share * Double(most), from: Double(rate), highest: Double(highest))
    }

    /// The rates that the encoder takes; nil if it takes any.
    private var rates: ClosedRange<Int64>? {
        AudioEncoderTraits.named(target.encoder, codec: target.encoder).bitrates(track.channels, target.sampleRate)
    }

    /// A segment that is encoded and not closed.
    private struct Made {
        let encoding: AudioEncoding
        let start: Int64
        let diagnostics: [Diagnostic]
    }

    private func encode(
        _ sound: TrackSound, as target: AudioTarget, to place: SegmentPlace, scratch: String,
        _ statistics: inout PassStatistics, _ progress: () -> Void
    ) throws(ReelFailure) -> Made {
        // This source decides the format, even if another is heard first.
        let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try DecodedSound(
                sources[target.source], track: target.track, during: sound.reversed.map { $0.end - $0.start },
                scratch: scratch, progress: progress)
        }
        var diagnostics = decoded.diagnostics
        let encoding = try AudioEncoding(
            target: target, track: track, input: decoded.format, making: content, at: place, lasting: plan.soundLength)
        let heard = sound.heard(of: decoded.timeline)
        if let heard {
            decoded.timeline = heard.timeline
            diagnostics += decoded.holes
            if let length = heard.trimmed { diagnostics.append(.soundTrimmed(track: target.track, length: length)) }
            let parts = heard.edit.parts(rate: decoded.format.rate)
            var sounds = SoundPool(
                sources: sources, target: target, edit: heard.edit, parts: parts, main: decoded, scratch: scratch,
                diagnostics: diagnostics)
            try sounds.encode(by: encoding, &statistics, progress)
            diagnostics = sounds.diagnostics
        } else {
            diagnostics.append(silent)
        }
        return Made(encoding: encoding, start: heard?.start ?? 0, diagnostics: diagnostics)
    }

    /// Encodes a part of the track: what is heard is known from the index.
    private func encode(
        _ samples: Range<Int>, of sound: JoinableSound, as target: AudioTarget, to place: SegmentPlace,
        scratch: String, _ statistics: inout PassStatistics, _ progress: () -> Void
    ) throws(ReelFailure) -> Made {
        let encoded = sound.encoded(for: samples)
        let rendered = sound.rendered(for: encoded)
        let places = sound.places(heardIn: rendered)
        let main = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try DecodedSound(
                part: places[target.source], of: sources[target.source], track: target.track, scratch: scratch,
                progress: progress)
        }
        main.timeline = main.timeline.narrowed(to: sound.shown)
        let isLast = sound.isLast(samples)
        let encoding = try AudioEncoding(
            target: target, track: track, input: main.format, making: content, at: place, lasting: nil,
            part: AudioEncoding.Part(kept: samples, encoded: encoded, isLast: isLast))
        var sounds = SoundPool(
            sources: sources, target: target, edit: sound.heard.edit,
            parts: sound.heard.edit.parts(rate: main.format.rate, in: rendered), main: main, places: places,
            scratch: scratch, diagnostics: main.diagnostics)
        try sounds.encode(by: encoding, &statistics, progress)
        var diagnostics = sounds.diagnostics
        // The first part reports what is true of the whole track.
        if samples.lowerBound == 0, let length = sound.heard.trimmed {
            diagnostics.append(.soundTrimmed(track: target.track, length: length))
        }
        return Made(encoding: encoding, start: sound.heard.start, diagnostics: diagnostics)
    }

    private func finish(_ made: Made) throws(ReelFailure) -> SegmentRecord {
        guard made.start.magnitude <= Timestamp.bound else {
            let distance = Rational(made.start, Int64(target.sampleRate))
            throw ReelFailure(.soundOutOfReach(path: sources[target.source].locator.name, distance: distance))
        }
        return try made.encoding.finish(start: made.start, diagnostics: made.diagnostics)
    }
}

/// The sounds of an edit's pieces. Each source is decoded when it is heard first, into a spill that goes when it has
/// been heard last.
private struct SoundPool {
    let sources: [IndexedSource]
    let target: AudioTarget
    let edit: SoundEdit
    /// What is rendered of the edit.
    let parts: [SoundEdit.Part]
    /// The sound of the target's source, which stays.
    let main: DecodedSound
    /// The places of each source that are decoded, if parts of the sources are enough; nil for all of each.
    var places: [Int: Range<Int64>]?
    let scratch: String
    var diagnostics: [Diagnostic]
    /// Sounds of the other sources that are heard again.
    var decoded: [Int: DecodedSound] = [:]
    /// Sounds of pieces at another speed that are heard again.
    var stretched: [Int: StretchedSound] = [:]
    /// For each piece, the samples of the output in which it is heard, with its crossfades.
    var reaches: [Int: Range<Int64>] = [:]

    mutating func encode(
        by encoding: AudioEncoding, _ statistics: inout PassStatistics, _ progress: () -> Void
    ) throws(ReelFailure) {
        // For each source, the number of the part in which it is heard last.
        var lasts: [Int: Int] = [:]
        for (number, part) in parts.enumerated() {
            for piece in part.pieces {
                reaches[piece] = (reaches[piece] ?? part.samples).lowerBound..<part.samples.upperBound
                if let source = edit.pieces[piece].source { lasts[source] = number }
            }
        }
        for (number, part) in parts.enumerated() {
            var heard: [SpanCursor] = []
            for piece in part.pieces {
                heard.append(try sound(of: piece, part.samples, &statistics.decodeSeconds, progress))
            }
            try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                try encoding.encode(heard, crossfade: part.crossfade, progress: progress)
            }
            decoded = decoded.filter { lasts[$0.key] ?? 0 > number }
            stretched = stretched.filter { $0.key >= part.piece }
        }
        try measured(&statistics.encodeSeconds, encoding.drain)
    }

    private mutating func sound(
        of number: Int, _ samples: Range<Int64>, _ decodeSeconds: inout Double, _ progress: () -> Void
    ) throws(ReelFailure) -> SpanCursor {
        let piece = edit.pieces[number]
        guard let source = piece.source, sources[source].index.audio.indices.contains(target.track) else {
            return SpanCursor([.silence(Int64(samples.count))], .forwards, of: main.spill)
        }
        let sound = try decode(source, &decodeSeconds, progress)
        guard piece.speed != Rational(1) else { return sound.cursor(piece, samples) }
        if let made = stretched[number] { return made.cursor(samples) }
        let reach = reaches[number] ?? samples
        let made = try StretchedSound(piece, of: sound, during: reach, scratch: scratch, progress: progress)
        stretched[number] = made
        return made.cursor(samples)
    }

    /// The sound of a source, decoded now unless it is known.
    private mutating func decode(
        _ source: Int, _ seconds: inout Double, _ progress: () -> Void
    ) throws(ReelFailure) -> DecodedSound {
        if source == target.source { return main }
        if let known = decoded[source] { return known }
        let made = try measured(&seconds) { () throws(ReelFailure) in
            guard let places else {
                return try DecodedSound(
                    sources[source], track: target.track, as: main.format, scratch: scratch, progress: progress)
            }
            return try DecodedSound(
                part: places[source], of: sources[source], track: target.track, scratch: scratch, progress: progress)
        }
        decoded[source] = made
        diagnostics += (made.diagnostics + made.holes).filter { [diagnostics] in !diagnostics.contains($0) }
        return made
    }
}

/// The sound of a piece at another speed than its own, with its pitch kept: put in its direction first, then stretched.
private final class StretchedSound {
    private let spill: SampleSpill
    /// The samples of the output that it covers.
    private let samples: Range<Int64>

    init(
        _ piece: SoundEdit.Piece, of sound: DecodedSound, during samples: Range<Int64>, scratch: String,
        progress: () -> Void
    ) throws(ReelFailure) {
        self.samples = samples
        let format = sound.format
        var source = sound.cursor(piece, samples)
        spill = try SampleSpill(folder: scratch, format)
        let name = known(av_get_sample_fmt_name(format.sample)) ?? ""
        let chain = try FilterGraph(
            sound: StretchedSound.tempos(piece.speed).map { "atempo=\($0)" }.joined(separator: ",")
                + ",aformat=sample_fmts=\(name)", format: format)
        let stretched = try Frame()
        func gather() throws(ReelFailure) {
            while try chain.pull(into: stretched) { try spill.append(stretched) }
        }
        var done: Int64 = 0
        while done < source.count {
            let block = Int(min(1024, source.count - done))
            let frame = try format.frame(block)
            guard let room = frame.native.pointee.data.0 else { break }
            try source.read(block, into: room)
            frame.pts = Timestamp(done)
            try chain.push(frame)
            try gather()
            done += Int64(block)
            progress()
        }
        try chain.finish()
        try gather()
        try spill.flush()
    }

    /// What is heard during samples of the output, which it covers; silence where the stretched sound is short.
    func cursor(_ wanted: Range<Int64>) -> SpanCursor {
        let first = wanted.lowerBound - samples.lowerBound
        let there = max(min(Int64(wanted.count), spill.count - first), 0)
        let spans: [AudioTimeline.Span] = [.sound(sample: first, count: there), .silence(Int64(wanted.count) - there)]
        return SpanCursor(spans.filter { $0.count > 0 }, .forwards, of: spill)
    }

    /// Factors of a speed that libavfilter's atempo blends well, each within 1/2 and 2.
    private static func tempos(_ speed: Rational) -> [Double] {
        var (left, tempos) = (speed.approximate, [Double]())
        while !(0.5...2).contains(left) {
            tempos.append(left > 2 ? 2 : 0.5)
            left /= tempos[tempos.count - 1]
        }
        return tempos + [left]
    }
}

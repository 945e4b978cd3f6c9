internal import CFFmpeg
package import ReelCore

/// Makes the single segment of an audio track of an edit: all clips' sound, rendered once and continuously. Each source is
/// decoded once, when it is heard first, into a spill that goes when it is heard last.
package struct EditedSound {
    private let sources: [IndexedSource]
    private let plan: Plan
    private let target: AudioTarget
    private let content: SegmentContent
    private let edit: SoundEdit

    /// - Parameters:
    ///   - sources: those of the plan, in their order.
    ///   - number: the track's place in the plan.
    package init(sources: [IndexedSource], plan: Plan, number: Int) throws(ReelFailure) {
        let indexes = sources.map(\.index)
        let planned = PlannedSegments(plan: plan, indexes: indexes)
        guard plan.audio.indices.contains(number), let content = planned.content(ofAudio: number) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        self.sources = sources
        self.plan = plan
        self.content = content
        target = plan.audio[number]
        edit = SoundEdit(plan, indexes)
    }

    /// Makes the segment. Calls `progress` all the time, about once a packet.
    ///
    /// - Parameter scratch: the folder for spills.
    package func render(
        at place: SegmentPlace, scratch: String, progress: () -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        var diagnostics: [Diagnostic] = []
        func decode(_ source: Int, as format: SoundFormat?) throws(ReelFailure) -> DecodedSound {
            let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
                try DecodedSound(
                    sources[source], track: target.track, as: format, scratch: scratch, progress: progress)
            }
            diagnostics += decoded.diagnostics.filter { !diagnostics.contains($0) }
            return decoded
        }
        // The first decides the format, even if another is heard first.
        let main = try decode(target.source, as: nil)
        let encoding = try AudioEncoding(
            target: target, track: sources[target.source].index.audio[target.track], input: main.format,
            making: content, at: place, lasting: plan.soundLength)
        let parts = edit.parts(rate: main.format.rate)
        let lasts = lastUses(in: parts)
        let reaches = reaches(in: parts)
        var known = [target.source: main]
        var stretched: [Int: StretchedSound] = [:]
        /// The sound of a piece during samples of the output.
        func sound(_ piece: Int, _ samples: Range<Int64>) throws(ReelFailure) -> SpanCursor {
            let (number, piece) = (piece, edit.pieces[piece])
            guard let source = piece.source, sources[source].index.audio.indices.contains(target.track) else {
                return SpanCursor([.silence(Int64(samples.count))], .forwards, of: main.spill)
            }
            if known[source] == nil { known[source] = try decode(source, as: main.format) }
            guard let decoded = known[source] else { throw ReelFailure(.planLacks(part: .audioTrack, number: source)) }
            guard piece.speed != Rational(1) else { return decoded.cursor(piece, samples) }
            if let made = stretched[number] { return made.cursor(samples) }
            let made = try StretchedSound(
                piece, of: decoded, during: reaches[number] ?? samples, scratch: scratch, progress: progress)
            stretched[number] = made
            return made.cursor(samples)
        }
        for (number, part) in parts.enumerated() {
            let heard = try sound(part.piece, part.samples)
            if let crossfade = part.crossfade {
                let rising = try sound(part.piece + 1, part.samples)
                try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                    try encoding.encode(heard, to: rising, crossfade, progress: progress)
                }
            } else {
                try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                    try encoding.encode(heard, progress: progress)
                }
            }
            for source in lasts[number] ?? [] where source != target.source { known[source] = nil }
            stretched = stretched.filter { $0.key >= part.piece }
        }
        try measured(&statistics.encodeSeconds, encoding.drain)
        let record = try encoding.finish(start: 0, diagnostics: diagnostics)
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    /// For the number of a part, the sources that are heard last in it.
    private func lastUses(in parts: [SoundEdit.Part]) -> [Int: [Int]] {
        var lasts: [Int: Int] = [:]
        for (number, part) in parts.enumerated() {
            for piece in [part.piece] + (part.crossfade == nil ? [] : [part.piece + 1]) {
                if let source = edit.pieces[piece].source { lasts[source] = number }
            }
        }
        return Dictionary(grouping: lasts.keys) { lasts[$0] ?? 0 }
    }

    /// For each piece that is heard at another speed, the samples of the output in which it is, with its crossfades.
    private func reaches(in parts: [SoundEdit.Part]) -> [Int: Range<Int64>] {
        var reaches: [Int: Range<Int64>] = [:]
        for part in parts {
            for piece in [part.piece] + (part.crossfade == nil ? [] : [part.piece + 1])
            where edit.pieces[piece].speed != Rational(1) {
                let first = reaches[piece]?.lowerBound ?? part.samples.lowerBound
                reaches[piece] = first..<part.samples.upperBound
            }
        }
        return reaches
    }
}

/// A decoded track on its timeline.
private final class DecodedSound {
    let spill: SampleSpill
    let format: SoundFormat
    let diagnostics: [Diagnostic]
    private let timeline: AudioTimeline

    init(
        _ source: IndexedSource, track number: Int, as format: SoundFormat?, scratch: String, progress: () -> Void
    ) throws(ReelFailure) {
        let index = source.index
        let decoded = try AudioDecoding(
            source.locator, track: index.audio[number], number: number, zero: index.startTime, as: format,
            scratch: scratch, progress: progress)
        // A source that is only heard has no video: its sound alone says how long it lasts.
        let (clock, start, end) =
            if let first = index.video.frames.first {
                (index.video.stream.timeBase, first.interval.start, index.video.end)
            } else {
                (index.audio[number].timeBase, index.audio[number].span.start, index.audio[number].span.end)
            }
        let lasts = clock.seconds(end) - clock.seconds(start)
        guard
            let timeline = AudioTimeline(
                blocks: decoded.blocks, sampleRate: decoded.format.rate, longestHole: .longestHole(during: lasts))
        else { throw ReelFailure(.sourceChanged(path: source.locator.name, change: .sound, number: number)) }
        self.timeline = timeline
        (spill, self.format) = (decoded.spill, decoded.format)
        let closed: [Diagnostic] =
            timeline.closedHoles > 0 ? [.holesClosed(track: number, holes: timeline.closedHoles)] : []
        diagnostics = decoded.diagnostics + closed + timeline.holes(track: number, zero: index.startTime)
    }

    /// What a piece at its own speed lets be heard during samples of the output.
    func cursor(_ piece: SoundEdit.Piece, _ samples: Range<Int64>) -> SpanCursor {
        SpanCursor(timeline.spans(in: piece.places(samples, on: timeline), piece.direction), piece.direction, of: spill)
    }

    /// The same for a number of the source's samples from a moment of the piece on, in seconds of the output.
    func cursor(_ piece: SoundEdit.Piece, from moment: Rational, count: Int64) -> SpanCursor {
        let clock = TimeBase(1, Int64(format.rate))
        let place = clock.ticks(in: piece.moment(at: moment) - timeline.start, rounding: .nearest)
        let places = piece.direction == .forwards ? place..<place + count : place - count..<place
        return SpanCursor(timeline.spans(in: places, piece.direction), piece.direction, of: spill)
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
        let clock = TimeBase(1, Int64(format.rate))
        let count = clock.ticks(in: clock.seconds(Ticks(Int64(samples.count))) * piece.speed, rounding: .nearest)
        var source = sound.cursor(piece, from: clock.seconds(Timestamp(samples.lowerBound)), count: count)
        spill = try SampleSpill(folder: scratch, format: format.sample, channels: try format.channels())
        let name = known(av_get_sample_fmt_name(format.sample)) ?? ""
        let chain = try FilterGraph(
            sound: StretchedSound.tempos(piece.speed).map { "atempo=\($0)" }.joined(separator: ",")
                + ",aformat=sample_fmts=\(name)", format: format)
        let stretched = try Frame()
        func gather() throws(ReelFailure) {
            while try chain.pull(into: stretched) { try spill.append(stretched) }
        }
        var done: Int64 = 0
        while done < count {
            let block = Int(min(1024, count - done))
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
        let spans: [AudioTimeline.Span] = [
            .sound(sample: first, count: there), .silence(Int64(wanted.count) - there),
        ]
        return SpanCursor(spans.filter { $0.count > 0 }, .forwards, of: spill)
    }

    /// Factors of a speed that libavfilter's atempo blends well, each within 1/2 and 2.
    private static func tempos(_ speed: Rational) -> [Double] {
        var (left, tempos) = (speed.approximate, [Double]())
        while left > 2 {
            tempos.append(2)
            left /= 2
        }
        while left < 0.5 {
            tempos.append(0.5)
            left *= 2
        }
        return tempos + [left]
    }
}

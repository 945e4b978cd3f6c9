/// The sound of an audio track of a plan which several passes can make, each a part of its samples: it is known before
/// decoding what is heard when, every source that is heard can be decoded from any place on, and packets of the encoder
/// join. A pass makes a part from the packets around it, with the same bytes on any machine.
package struct JoinableSound {
    package let heard: TrackSound.Heard
    /// The samples per channel of the whole track that the encoder gets. Resampling may give a few more or less.
    package let count: Int

    /// Samples per second of the sources and of the encoder.
    private let rates: (source: Int, encoder: Int)
    private let joints: SoundJoints
    /// Bytes of a decoded sample of all channels.
    private let frameBytes: Int
    /// The timelines of the sources that are heard.
    private let timelines: [Int: AudioTimeline]
    /// The places on the timeline of the target's source that may be heard.
    package let shown: Range<Int64>
    private let source: Int
    /// Parts begin at multiples of this many samples: there a frame of the encoder begins together with a sample of the
    /// sources.
    private let unit: Int

    /// Nil if one pass has to make the whole track.
    ///
    /// - Parameter indexes: those of the plan's sources, in their order.
    package init?(_ target: AudioTarget, of plan: Plan, _ indexes: [SourceIndex]) {
        guard let joints = target.joints, !target.isPassthrough, plan.soundLength == nil,
            indexes[target.source].audio.indices.contains(target.track),
            case let track = indexes[target.source].audio[target.track], let sound = track.steady,
            case let timeline = AudioTimeline(sound, of: track, decoded: [0..<sound.count]),
            let heard = TrackSound(target, of: plan, indexes).heard(of: timeline)
        else { return nil }
        let isExact = AudioEncoderTraits.named(target.encoder, codec: target.encoder).isLossless
        var timelines = [target.source: heard.timeline]
        for piece in heard.edit.pieces {
            // The place of stretched sound in time depends on all that was stretched before.
            guard piece.speed == Rational(1) else { return nil }
            guard let source = piece.source, indexes[source].audio.indices.contains(target.track) else { continue }
            let other = indexes[source].audio[target.track]
            guard let steady = other.steady, other.packetsBeforeSound != nil,
                // Other decoders than those of lossless codecs may give other samples from the middle of a track on.
                !isExact || AudioEncoderTraits.making(other.codec).isLossless,
                (other.sampleRate, other.channelLayout, other.sampleFormat)
                    == (track.sampleRate, track.channelLayout, track.sampleFormat)
            else { return nil }
            if timelines[source] == nil {
                timelines[source] = AudioTimeline(steady, of: other, decoded: [0..<steady.count])
            }
        }
        (self.heard, self.joints, frameBytes) = (heard, joints, track.frameBytes)
        (self.timelines, source, rates) = (timelines, target.source, (track.sampleRate, target.sampleRate))
        let samples = TimeBase(1, Int64(track.sampleRate))
        let first = samples.ticks(in: heard.timeline.start - timeline.start, rounding: .nearest)
        shown = first..<first + heard.timeline.count
        let length = heard.edit.parts(rate: track.sampleRate).last?.samples.upperBound ?? 0
        count = Int(samples.convert(length, to: TimeBase(1, Int64(target.sampleRate)), rounding: .up))
        let ratio = Rational(Int64(target.sampleRate), Int64(track.sampleRate))
        guard let unit = Rational.leastCommonMultiple(Int64(joints.frame), ratio.numerator),
            unit <= 10 * target.sampleRate
        else { return nil }
        self.unit = Int(unit)
    }

    /// Seconds of the shortest track that several passes make.
    package static let shortestTrack = 60
    /// Seconds of sound in a pass, if a track has several. Simulated: a film of two hours gains by the longer ones, one of
    /// ten minutes by the shorter ones (`Benchmarks/run --only cluster`).
    private static let partLengths = 10.0...60
    /// Fewer slots than this gain nothing: other passes keep them busy while one of them makes the sound.
    private static let fewestSlots = 8
    /// Bytes of decoded sound that a pass keeps on its machine's disk.
    private static let longestSpill = Double(4 << 30)

    /// The parts that passes make, in the order of the output; one that is nil if one pass makes the whole track.
    package func parts(slots: Int) -> [Range<Int>?] {
        let seconds = Double(count) / Double(rates.encoder)
        let spill = seconds * Double(rates.source) * Double(frameBytes)
        let length = min(max(seconds / Double(slots), Self.partLengths.lowerBound), Self.partLengths.upperBound)
        let useful = slots < Self.fewestSlots ? 1 : Int(seconds / length)
        let number = max(useful, Int(spill / Self.longestSpill) + 1)
        return number > 1 && seconds >= Double(Self.shortestTrack) ? parts(number) : [nil]
    }

    /// Parts of about equal length, as many as are asked for if they have at least a frame each.
    package func parts(_ number: Int) -> [Range<Int>] {
        let units = (count + unit - 1) / unit
        let bounds = (0...number).map { min(units * $0 / number * unit, count) }
        return zip(bounds, bounds.dropFirst()).compactMap { start, end in start < end ? start..<end : nil }
    }

    package func isLast(_ part: Range<Int>) -> Bool { part.upperBound >= count }

    /// Whether a pass can make the part: it lies on the grid.
    package func contains(_ part: Range<Int>) -> Bool {
        part.lowerBound >= 0 && part.lowerBound % unit == 0 && part.upperBound <= count && !part.isEmpty
            && (part.upperBound % unit == 0 || isLast(part))
    }

    /// The samples that are encoded to make a part; only the packets of the part are kept.
    package func encoded(for part: Range<Int>) -> Range<Int> {
        let before = (joints.before * joints.frame + unit - 1) / unit * unit
        let after = joints.after * joints.frame
        return max(part.lowerBound - before, 0)..<min(part.upperBound + after, count)
    }

    /// The samples of the output at the sources' rate from which those samples are encoded. Some follow that a resampler
    /// needs.
    package func rendered(for encoded: Range<Int>) -> Range<Int64> {
        let (from, to) = (TimeBase(1, Int64(rates.encoder)), TimeBase(1, Int64(rates.source)))
        let first = from.convert(Int64(encoded.lowerBound), to: to, rounding: .down)
        let end = from.convert(Int64(encoded.upperBound), to: to, rounding: .up)
        return first..<end + (rates.source == rates.encoder ? 0 : 8192)
    }

    /// For each source that is heard, the places on its own timeline that are heard during samples of the output.
    package func places(heardIn samples: Range<Int64>) -> [Int: Range<Int64>] {
        var places: [Int: Range<Int64>] = [:]
        for part in heard.edit.parts(rate: rates.source, in: samples) {
            for number in part.pieces {
                let piece = heard.edit.pieces[number]
                guard let source = piece.source, let timeline = timelines[source] else { continue }
                let heard = piece.places(part.samples, on: timeline).clamped(to: 0..<timeline.count)
                guard !heard.isEmpty else { continue }
                let known = places[source] ?? heard
                places[source] = min(known.lowerBound, heard.lowerBound)..<max(known.upperBound, heard.upperBound)
            }
        }
        if let own = places[source] {
            places[source] = own.lowerBound + shown.lowerBound..<own.upperBound + shown.lowerBound
        }
        return places
    }
}

/// Sound whose packets follow each other without a hole. So it is known before decoding which samples each packet gives,
/// and a pass can decode a part of the track.
package struct SteadySound: Hashable, Codable, Sendable {
    /// When the first packet begins.
    package var first: Timestamp
    /// The samples per channel that each packet gives, the first and the last excepted. Nil if packets differ; then the
    /// track's clock is fine enough to tell each sample.
    package var step: Int?
    /// When the first sample is heard.
    package var start: Timestamp
    /// Samples per channel between the beginning of the first packet and the first sample that is heard; 0 without a
    /// `step`.
    package var lead: Int64
    /// Samples per channel that are heard.
    package var count: Int64

    package init(first: Timestamp, step: Int?, start: Timestamp, lead: Int64, count: Int64) {
        self.first = first
        self.step = step
        self.start = start
        self.lead = lead
        self.count = count
    }

    /// The place of a packet or of decoded samples among the samples that are heard; negative for packets before them.
    /// Nil if no packet begins at that time.
    ///
    /// - Parameter rate: samples per second of the decoded sound.
    package func place(of time: Timestamp, on clock: TimeBase, rate: Int) -> Int64? {
        // Only the first packet may lose samples at its beginning, which moves its time.
        if (time - start).count.magnitude <= 1, time > first { return 0 }
        let samples = TimeBase(1, Int64(rate))
        guard let step else { return clock.convert((time - start).count, to: samples, rounding: .nearest) }
        let packets = TimeBase(Int64(step), Int64(rate))
        let number = clock.convert((time - first).count, to: packets, rounding: .nearest)
        guard (self.time(ofPacket: number, on: clock, rate: rate) - time).count.magnitude <= 1 else { return nil }
        return number * Int64(step) - lead
    }

    /// When the packet begins that gives a sample, or one before it.
    ///
    /// - Parameters:
    ///   - place: counts the samples that are heard.
    ///   - packets: the number of packets to go back.
    package func time(of place: Int64, before packets: Int, on clock: TimeBase, rate: Int) -> Timestamp {
        guard let step else {
            // Packets of these codecs last a tenth of a second at most.
            let seconds = Rational(place, Int64(rate)) - Rational(Int64(packets), 10)
            return max(first, start + Ticks(clock.ticks(in: seconds, rounding: .down)))
        }
        let number = max((place + lead) / Int64(step) - Int64(packets), 0)
        return time(ofPacket: number, on: clock, rate: rate)
    }

    private func time(ofPacket number: Int64, on clock: TimeBase, rate: Int) -> Timestamp {
        first + Ticks(TimeBase(1, Int64(rate)).convert(number * Int64(step ?? 0), to: clock, rounding: .nearest))
    }

    /// Whether arithmetic on the numbers is safe, and they can be true of a track.
    var isSound: Bool {
        let bound = Int64(1) << 50
        return [first.ticks, start.ticks].allSatisfy { (-bound...bound).contains($0) } && (0...bound).contains(lead)
            && (1...1 << 40).contains(count) && step.map { (1...1 << 20).contains($0) } ?? true && first <= start
    }
}

extension AudioTrack {
    /// The number of packets that a decoder must have seen before the first whose samples are to be right. Nil if reel
    /// does not know that of the codec, so that the track is decoded from its first packet on.
    package var packetsBeforeSound: Int? {
        if AudioEncoderTraits.making(codec).isLossless { return 0 }
        switch codec {
        // The other profiles have headers that not every packet repeats.
        case "aac": return profile == "LC" ? 4 : nil
        // The bit reservoir reaches back 511 bytes (ISO 11172-3 2.4.2.7), which is nine packets at most.
        case "mp3": return 12
        case "mp2", "ac3", "eac3": return 3
        // RFC 7845 4.6 asks for 80 ms; packets have 2.5 ms or more.
        case "opus": return 40
        default: return nil
        }
    }

    /// Bytes of a decoded sample of all channels.
    package var frameBytes: Int {
        let widths = ["u8": 1, "s16": 2, "s32": 4, "flt": 4]
        let packed = sampleFormat.hasSuffix("p") ? String(sampleFormat.dropLast()) : sampleFormat
        return channels * (widths[packed] ?? 8)
    }
}

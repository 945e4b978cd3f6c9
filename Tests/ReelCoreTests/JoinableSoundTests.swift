import ReelCore
import ReelRandom
import Testing

/// How an audio track is cut into parts that several passes make.
@Suite("Sound in parts")
struct JoinableSoundTests {
    /// Sound of a codec at a rate, from `start` on, in a clock that counts samples: a packet of priming, then as many
    /// samples as are heard.
    private func index(
        codec: String = "flac", rate: Int = 48_000, start: Int64 = 0, step: Int = 4096, lead: Int64 = 0, count: Int64
    ) -> SourceIndex {
        var index = Indexes.regular(frames: 25 * 120, keysAt: [0])
        var track = Indexes.audioTrack(0, rate: Int64(rate), start: start - lead, duration: count)
        (track.codec, track.sampleRate, track.profile, track.sampleFormat) = (codec, rate, "LC", "s16")
        track.steady = SteadySound(
            first: Timestamp(start - lead), step: step, start: Timestamp(start), lead: lead, count: count)
        index.audio = [track]
        return index
    }

    private func sound(
        _ index: SourceIndex, rate: Int? = nil, joints: SoundJoints? = SoundJoints(frame: 1024, before: 8, after: 2),
        change: (inout Plan) -> Void = { _ in }
    ) throws -> JoinableSound? {
        var plan = try Plans.make(index)
        plan.audio[0].sampleRate = rate ?? index.audio[0].sampleRate
        plan.audio[0].joints = joints
        change(&plan)
        return JoinableSound(plan.audio[0], of: plan, [index])
    }

    @Test("the parts have each sample once, begin on the grid of frames and with a sample of the source")
    func parts() throws {
        for seed in UInt64(1)...300 {
            var random = SplitMix64(seed: seed)
            let rate = [8000, 22_050, 44_100, 48_000, 96_000].randomElement(using: &random) ?? 1
            let target = [rate, 48_000, 44_100].randomElement(using: &random) ?? 1
            let frame = [960, 1024, 4096, 4608, 1000].randomElement(using: &random) ?? 1
            let count =
                Int64(rate) * Int64.random(in: 1...100, using: &random) + Int64.random(in: 0...5000, using: &random)
            let joints = SoundJoints(
                frame: frame, before: Int.random(in: 0...40, using: &random),
                after: Int.random(in: 0...3, using: &random))
            guard let sound = try sound(index(rate: rate, count: count), rate: target, joints: joints) else {
                // The grid of frames and the samples meet only after ten seconds.
                #expect(rate != target, "seed \(seed)")
                continue
            }
            let parts = sound.parts(Int.random(in: 1...60, using: &random))
            #expect(parts.first?.lowerBound == 0 && parts.last?.upperBound == sound.count, "seed \(seed)")
            for (part, next) in zip(parts, parts.dropFirst()) { #expect(part.upperBound == next.lowerBound) }
            for part in parts {
                #expect(sound.contains(part), "seed \(seed)")
                #expect(part.lowerBound % frame == 0 && part.lowerBound * rate % target == 0, "seed \(seed)")
                let encoded = sound.encoded(for: part)
                #expect(encoded.lowerBound % frame == 0 && encoded.lowerBound * rate % target == 0, "seed \(seed)")
                #expect(encoded.lowerBound <= max(part.lowerBound - joints.before * frame, 0), "seed \(seed)")
                #expect(encoded.upperBound == min(part.upperBound + joints.after * frame, sound.count), "seed \(seed)")
                let rendered = sound.rendered(for: encoded)
                #expect(rendered.lowerBound * Int64(target) == Int64(encoded.lowerBound * rate), "seed \(seed)")
                #expect(rendered.upperBound * Int64(target) >= Int64(encoded.upperBound * rate), "seed \(seed)")
            }
        }
    }

    @Test("what is rendered from a sample on is what the whole track has there, in crossfades and turns")
    func rendering() throws {
        let index = index(count: 48_000 * 100)
        let clips = [
            EditClip(from: .seconds(Rational(2)), to: .seconds(Rational(9)), play: .pingPong, times: 2),
            EditClip(from: .seconds(Rational(1)), to: .seconds(Rational(3)), play: .forward),
            EditClip(from: .seconds(Rational(90)), play: .reverse),
        ]
        let edit = Edit(clips: clips, crossfade: Rational(1, 2))
        let plan = try Plans.make(index, spec: JobSpec(container: .mkv, edit: edit))
        let sound = SoundEdit(plan, [index])
        let all = sound.parts(rate: 1000)
        let end = try #require(all.last?.samples.upperBound)
        #expect(sound.parts(rate: 1000, in: 0..<end) == all)
        func heard(_ parts: [SoundEdit.Part], at sample: Int64) throws -> ([Int], Double?) {
            let part = try #require(parts.first { $0.samples.contains(sample) })
            let done = Double(sample - part.samples.lowerBound)
            return (Array(part.pieces), part.crossfade.map { $0.share + done * $0.growth })
        }
        #expect(all.contains { $0.crossfade != nil })
        for first in stride(from: Int64(0), to: end, by: 77) {
            let run = first..<min(first + 5000, end)
            let parts = sound.parts(rate: 1000, in: run)
            #expect(
                parts.first?.samples.lowerBound == run.lowerBound && parts.last?.samples.upperBound == run.upperBound)
            for sample in [run.lowerBound, (run.lowerBound + run.upperBound) / 2, run.upperBound - 1] {
                let (cut, whole) = (try heard(parts, at: sample), try heard(all, at: sample))
                #expect(cut.0 == whole.0)
                #expect(abs((cut.1 ?? -1) - (whole.1 ?? -1)) < 1e-9)
            }
        }
    }

    @Test("the end of a reversal needs the source's start, in places of the whole source")
    func places() throws {
        // The video has two minutes, and the sound begins 1.5 s after it.
        let late = try #require(try sound(index(start: 72_000, count: 4_800_000)))
        let end = Int64(late.count)
        #expect(end == 4_800_000)
        #expect(late.heard.start == 888_000)
        #expect(late.places(heardIn: end - 500..<end) == [0: Int64(0)..<500])
        #expect(late.places(heardIn: 0..<500) == [0: end - 500..<end])
        // Of sound that begins before the video and outlasts it, only what lies beside it is asked for.
        let around = index(start: -96_000, count: 6_240_000)
        let beside = try #require(
            try sound(around) { ($0.clips[0].audioFrom, $0.clips[0].audioTo) = (Rational(0), Rational(120)) })
        #expect(beside.count == 5_760_000)
        #expect(beside.places(heardIn: 0..<500) == [0: Int64(5_855_500)..<5_856_000])
    }

    @Test("slots and disk decide the number of parts; a short track and few slots give one")
    func number() throws {
        let long = try #require(try sound(index(count: 48_000 * 110)))
        #expect([1, 2, 7].allSatisfy { long.parts(slots: $0) == [nil] })
        #expect([8, 9, 64, 1000].map { long.parts(slots: $0).count } == [8, 9, 11, 11])
        #expect(try #require(try sound(index(count: 48_000 * 59))).parts(slots: 64) == [nil])
        // Eight channels of 96 kHz for ten hours are 221 GB of samples.
        var large = index(rate: 96_000, count: 96_000 * 36_000)
        (large.audio[0].channels, large.audio[0].sampleFormat) = (8, "dbl")
        large.video = Indexes.regular(frames: 25 * 36_000, keysAt: [0]).video
        #expect(try #require(try sound(large)).parts(slots: 1).count == 52)
    }

    @Test("one pass makes sound whose parts would differ from the whole")
    func whole() throws {
        let lossy = index(codec: "aac", step: 1024, lead: 1024, count: 48_000 * 110)
        #expect(try sound(lossy) != nil)
        #expect(try sound(lossy, joints: nil) == nil)
        // Its decoder may give other samples from the middle on, and FLAC keeps each.
        #expect(try sound(lossy) { $0.audio[0].encoder = "flac" } == nil)
        #expect(try sound(index(count: 48_000 * 110)) { $0.audio[0].encoder = "flac" } != nil)
        #expect(try sound(lossy) { $0.audio[0].encoder = VideoTarget.copy } == nil)
        var other = lossy
        other.audio[0].profile = "HE-AAC"
        #expect(try sound(other) == nil)
        other = lossy
        other.audio[0].steady = nil
        #expect(try sound(other) == nil)
    }

    @Test("a packet's place follows from its time, rounded as containers round it")
    func placesOfPackets() {
        for (clock, lead) in [
            (TimeBase(1, 1000), Int64(312)), (TimeBase(1, 90_000), 1024), (TimeBase(1, 44_100), 2112),
        ] {
            let samples = TimeBase(1, 44_100)
            let time = { (place: Int64) in Timestamp(5000 + samples.convert(place, to: clock, rounding: .nearest)) }
            let sound = SteadySound(
                first: time(0), step: 1152, start: time(lead), lead: lead, count: 1_000_000)
            for packet in Int64(1)..<800 {
                let place = packet * 1152 - lead
                #expect(sound.place(of: time(packet * 1152), on: clock, rate: 44_100) == place)
                #expect(sound.time(of: place + 5, before: 0, on: clock, rate: 44_100) == time(packet * 1152))
                #expect(sound.time(of: place, before: 4, on: clock, rate: 44_100) == time(max(packet - 4, 0) * 1152))
            }
            #expect(sound.place(of: time(lead), on: clock, rate: 44_100) == 0)
            #expect(sound.place(of: time(5 * 1152 + 500), on: clock, rate: 44_100) == nil)
        }
    }
}

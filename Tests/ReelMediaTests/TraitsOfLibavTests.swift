import Foundation
import ReelCore
import ReelMedia
import Testing

@Suite("The tables of encoders and containers, beside FFmpeg")
struct TraitsOfLibavTests {
    /// The names in one of `ffmpeg`'s lists, whose lines are flags, a name and what it is.
    private func names(_ list: String) throws -> Set<Substring> {
        Set(
            try run("ffmpeg", "-hide_banner", "-\(list)").split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count > 1 ? words[1] : nil
            })
    }

    @Test("every container's muxer is there, and its codecs have FFmpeg's names")
    func containers() throws {
        let (muxers, codecs) = (try names("muxers"), try names("codecs"))
        for container in Container.allCases {
            let traits = container.traits
            #expect(muxers.contains(Substring(traits.muxer)), "\(traits.muxer)")
            let named = Set(traits.subtitles + traits.videoCodecs)
                .union(traits.codecs ?? []).union(traits.codecsBeside).union(traits.codecsRefused)
            for codec in named { #expect(codecs.contains(Substring(codec)), "\(container): \(codec)") }
        }
    }

    @Test("what the table says that a container holds is what libavformat writes", arguments: Container.allCases)
    func held(container: Container) throws {
        let codecs = EncoderTraits.all.filter(\.isListed).map(\.codec) + AudioEncoderTraits.all.map(\.codec)
        let choice = TargetChoice(indexes: [], spec: JobSpec(container: container))
        for codec in codecs { #expect(container.holds(codec: codec) == choice.holds(codec), "\(container): \(codec)") }
    }

    /// Requirements of a row: the encoder is there, by each of its names, and reverses a video in some container.
    @Test("every listed encoder reverses a video", arguments: EncoderTraits.all.filter(\.isListed).map(\.name))
    func reversals(name: String) throws {
        let traits = EncoderTraits.named(name)
        #expect(try names("encoders").contains(Substring(name)))
        let folder = ScratchFolder()
        let source = folder.path + "/source.mkv"
        try ffmpeg("-f", "lavfi", "-i", "testsrc=s=192x144:r=24000/1001:d=0.6", "-c:v", "ffv1", source)
        let index = try Recon(.file(source)).run()
        let container = try #require(
            [Container.mkv, .nut, .mov].first { container in
                let choice = TargetChoice(indexes: [index], spec: JobSpec(container: container, videoCodec: name))
                return (try? choice.video()) != nil
            })
        for alias in [traits.codec] + traits.aliases {
            let choice = TargetChoice(indexes: [index], spec: JobSpec(container: container, videoCodec: alias))
            #expect(try choice.video().value.encoder == name, "\(alias)")
        }
        let job = try MediaJob(source, spec: JobSpec(container: container, videoCodec: name), folder: folder.path)
        #expect(job.plan.video.encoder == name)
        let list = try probe(job.output, "stream=codec_name:frame=pts_time", streams: "v")
        let lines = list.split(separator: "\n")
        #expect(lines.count == job.plan.frameCount + 1)
        #expect(lines.last?.hasPrefix(traits.codec) == true)
    }

    /// Requirements of a row: the encoder is there, makes the codec, and its sound is decoded again in its place.
    @Test("every audio encoder encodes sound that decodes", arguments: AudioEncoderTraits.all.map(\.name))
    func sounds(name: String) throws {
        let traits = try #require(AudioEncoderTraits.all.first { $0.name == name })
        #expect(try names("encoders").contains(Substring(name)))
        let folder = ScratchFolder()
        // Every lossless encoder holds eight bits.
        let source = try Fixture.sounding("source.mkv", in: folder, seconds: 1.9, audio: ["-c:a", "pcm_u8"])
        let index = try Recon(.file(source)).run()
        let container = try #require(
            [Container.mkv, .nut, .mov].first { container in
                let choice = TargetChoice(indexes: [index], spec: JobSpec(container: container, audioCodec: name))
                return (try? choice.audio()) != nil
            })
        let choice = TargetChoice(indexes: [index], spec: JobSpec(container: container, audioCodec: traits.codec))
        #expect(try choice.audio().value.map(\.encoder) == [AudioEncoderTraits.making(traits.codec).name])
        let job = try MediaJob(source, spec: JobSpec(container: container, audioCodec: name), folder: folder.path)
        #expect(job.plan.audio.map(\.encoder) == [name])
        #expect((job.plan.audio[0].bitrate == nil) == traits.isLossless)
        let codec = try probe(job.output, "stream=codec_name", streams: "a")
        #expect(codec == traits.codec + "\n")
        let (before, after) = (try Sound(source).samples, try Sound(job.output))
        if traits.isLossless {
            #expect(after.samples == before.reversed())
        } else {
            // The sound begins after 0.1 s; a container may round that to milliseconds. What differs from the source
            // has little energy, apart from the ends.
            let (wanted, found) = (before.reversed().map { $0[0] }, after.samples.map { $0[0] })
            let begin = Int(((0.1 - after.start) * 48_000).rounded())
            let places = stride(from: 4800, to: wanted.count - 4800, by: 16)
            let energies = (begin - 48...begin + 48).map { shift in
                places.reduce(0 as Float) { energy, place in
                    let other = found.indices.contains(place + shift) ? found[place + shift] : 0
                    return energy + (wanted[place] - other) * (wanted[place] - other)
                }
            }
            let whole = places.reduce(0 as Float) { $0 + wanted[$1] * wanted[$1] }
            #expect(try #require(energies.min()) < 0.1 * whole)
        }
    }

    @Test("workers report every audio encoder that a plan may choose by itself, except PCM")
    func reportedAudio() throws {
        let reported = Media.encoderBuilds.compactMap { $0.split(separator: " ").first }
        for traits in AudioEncoderTraits.all {
            #expect(reported.contains(Substring(traits.name)) == traits.isReported, "\(traits.name)")
            let mayBeChosen = traits.keepsCodec || traits.isForAnySource
            #expect(traits.isReported == (mayBeChosen && !AudioEncoderTraits.isPCM(traits.codec)), "\(traits.name)")
        }
    }

    @Test("what the rows of audio encoders say of rates and layouts, FFmpeg says too")
    func audioFacts() throws {
        let layouts = Set(
            try run("ffmpeg", "-hide_banner", "-layouts").split(separator: "\n").compactMap {
                $0.split(separator: " ").first
            })
        for traits in AudioEncoderTraits.all {
            for layout in traits.layouts ?? [] { #expect(layouts.contains(Substring(layout)), "\(layout)") }
            guard let rate = traits.sampleRate else { continue }
            let help = try run("ffmpeg", "-hide_banner", "-h", "encoder=\(traits.name)")
            let rates = help.split(separator: "\n").first { $0.contains("Supported sample rates") }
            #expect(rates?.split(separator: " ").contains("\(rate)") == true)
        }
    }
}

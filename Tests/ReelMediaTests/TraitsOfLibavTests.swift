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

    /// Requirements of a row: the encoder is there, by each of its names, and reverses a video in some container.
    @Test("every listed encoder reverses a video", arguments: EncoderTraits.all.filter(\.isListed).map(\.name))
    func reversals(name: String) throws {
        let traits = EncoderTraits.named(name)
        #expect(try names("encoders").contains(Substring(name)))
        let folder = try ScratchFolder()
        let source = folder.path + "/source.mkv"
        try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=192x144:r=24000/1001:d=0.6", "-c:v", "ffv1", source
        )
        let index = try Recon(.file(source)).run()
        let container = try #require(
            [Container.mkv, .nut, .mov].first { container in
                var choice = TargetChoice(index: index, spec: JobSpec(container: container, videoCodec: name))
                return (try? choice.video()) != nil
            })
        for alias in [traits.codec] + traits.aliases {
            var choice = TargetChoice(index: index, spec: JobSpec(container: container, videoCodec: alias))
            #expect(try choice.video().encoder == name, "\(alias)")
        }
        let job = try MediaJob(source, spec: JobSpec(container: container, videoCodec: name), folder: folder.path)
        #expect(job.plan.video.encoder == name)
        let list = try run(
            "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_name:frame=pts_time",
            "-of",
            "csv=p=0", job.output)
        let lines = list.split(separator: "\n")
        #expect(lines.count == job.plan.frameCount + 1)
        #expect(lines.last?.hasPrefix(traits.codec) == true)
    }
}

import Foundation
import ReelCore
import ReelMedia
import Testing

/// AVI and MXF store no timestamps: frame n is shown at n frames, and all tracks begin with the first frame.
@Suite("Containers without timestamps")
struct PacedContainerTests {
    private let folder = ScratchFolder()

    private func source(
        _ name: String, rate: String = "30000/1001", frames: Int = 47, video: [String], audio: [String]? = nil
    ) throws -> String { try Fixture.make(name, in: folder, frames: frames, rate: rate, video: video, audio: audio) }

    private func reversed(_ source: String, _ spec: JobSpec) throws -> MediaJob {
        try MediaJob(source, spec: spec, folder: folder.path)
    }

    private func reason(_ source: String, _ spec: JobSpec) throws -> FailureReason? {
        try failureReason { try reversed(source, spec) }
    }

    /// Every frame by hash from the last to the first, and frame n at exactly n frames.
    private func expectMirrored(_ output: String, _ source: String, rate: Rational) throws {
        let (before, after) = (try Decoded(source), try Decoded(output))
        #expect(Set(before.hashes).count == before.hashes.count)
        #expect(after.hashes == before.hashes.reversed())
        let due = after.times.indices.map { Rational(Int64($0)) / rate }
        #expect(after.times.map { $0 - after.times[0] } == due)
    }

    private static let ntsc = Rational(30000, 1001)

    @Test(
        "AVI without loss: every frame and every sample from the last to the first, also from rounded timestamps",
        arguments: ["s.mov", "s.mkv", "s.avi"])
    func losslessAVI(name: String) throws {
        let source = try source(name, video: ["-c:v", "ffv1", "-g", "1"], audio: ["-c:a", "pcm_s16le"])
        let job = try reversed(source, JobSpec(container: .avi, lossless: true))
        try expectMirrored(job.output, source, rate: Self.ntsc)
        #expect(job.plan.audio.map(\.encoder) == ["pcm_s16le"])
        let (before, after) = (try samples(of: source), try samples(of: job.output))
        // 47 frames are 69,159.1 samples. In Matroska they end after 1.568 s, which are 69,148.8 samples.
        #expect(after.count == 69_159)
        let heard = name == "s.mkv" ? 69_149 : 69_159
        let isMirrored = after.prefix(heard).elementsEqual(before.prefix(heard).reversed())
        #expect(isMirrored)
    }

    @Test("MXF: packets of ProRes from the last to the first, sound at 48 kHz cut by frames", arguments: [1, 23, 48])
    func copiedMXF(frames: Int) throws {
        let source = try source(
            "s.mov", frames: frames, video: ["-c:v", "prores_ks", "-profile:v", "2", "-vendor", "apl0"],
            audio: ["-ar", "48000", "-c:a", "pcm_s24le"])
        let job = try reversed(source, JobSpec(container: .mxf))
        #expect(job.plan.video.encoder == "copy")
        try expectMirrored(job.output, source, rate: Self.ntsc)
        let (before, after) = (try samples(of: source), try samples(of: job.output))
        // 48,000 samples a second are 1601.6 in each frame of 1001/30000 s.
        let due = Int((Double(frames) * 1601.6).rounded())
        #expect(after.count == due)
        let same = min(before.count, due) - 2
        let isMirrored = after.suffix(same).elementsEqual(before.prefix(same).reversed())
        #expect(isMirrored)
    }

    @Test("H.264 becomes MPEG-2 in MXF and MJPEG in AVI, frame by frame", arguments: [Container.mxf, .avi])
    func encoded(container: Container) throws {
        let source = try source(
            "s.mp4", rate: "24000/1001", video: Fixture.x264 + ["-pix_fmt", "yuv420p"], audio: ["-c:a", "aac"])
        let job = try reversed(source, JobSpec(container: container, verify: .decode))
        #expect(job.plan.video.encoder == (container == .mxf ? "mpeg2video" : "mjpeg"))
        let times = try Decoded(job.output).times
        #expect(times.count == 47)
        #expect(times.map { $0 - times[0] } == (0..<47).map { Rational(Int64($0)) / Rational(24000, 1001) })
        #expect(job.plan.audio.map(\.encoder) == [container == .mxf ? "pcm_s24le" : "pcm_f32le"])
        #expect(job.plan.audio.map(\.sampleRate) == [container == .mxf ? 48_000 : 44_100])
        // 47 frames are 94,094 samples at 48 kHz, and 86,448.9 at 44.1 kHz.
        #expect(try samples(of: job.output).count == (container == .mxf ? 94_094 : 86_449))
    }

    @Test("sound that starts late in the source ends early, with silence up to the last frame")
    func lateSound() throws {
        let whole = try source("whole.mkv", rate: "25", frames: 50, video: ["-c:v", "ffv1", "-g", "1"])
        let source = folder.path + "/late.mkv"
        try ffmpeg([
            "-i", whole, "-itsoffset", "0.5", "-f", "lavfi", "-i",
            "aevalsrc=0.1+0.2*random(0)|0.3:s=48000:d=1", "-c:v", "copy", "-c:a", "pcm_s16le", source,
        ])
        for container in [Container.avi, .mxf] {
            let spec = JobSpec(container: container, videoCodec: container == .mxf ? "mpeg2video" : nil)
            let job = try reversed(source, spec)
            let (before, after) = (try samples(of: source), try samples(of: job.output))
            #expect(before.count == 48_000)
            #expect(after.count == 96_000)
            #expect(after[..<24_000].allSatisfy { $0 == [0, 0] })
            let isMirrored = after[24_000..<72_000].elementsEqual(before.reversed())
            #expect(isMirrored)
            #expect(after[72_000...].allSatisfy { $0 == [0, 0] })
        }
    }

    @Test("an edit has as many frames and samples as its clips, and a still as many frames as it lasts")
    func edits() throws {
        let source = try source(
            "s.mov", rate: "25", video: ["-c:v", "ffv1"], audio: ["-ar", "48000", "-c:a", "pcm_s16le"])
        let clips = [EditClip(play: .pingPong), EditClip(play: .forward, still: Rational(2))]
        let job = try reversed(source, JobSpec(container: .avi, lossless: true, edit: Edit(clips: clips)))
        // Once forwards, back without the two turning frames, and two seconds.
        let (before, after) = (try Decoded(source).hashes, try Decoded(job.output))
        let back = before.reversed().dropFirst().dropLast()
        #expect(after.hashes == before + back + Array(repeating: before[0], count: 50))
        #expect(after.times == (0..<142).map { Rational($0, 25) })
        #expect(try samples(of: job.output).count == 142 * 1920)
    }

    @Test("uneven frames are refused before any work, with the first that differs")
    func uneven() throws {
        let source = try source(
            "vfr.mkv", rate: "25", video: Fixture.x264 + ["-bsf:v", "setts=pts=PTS+40*gte(N\\,40):dts=DTS"])
        let found = try reason(source, JobSpec(container: .avi))
        guard case .framesUneven(let time, let length, let rate, .avi) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(length > Rational(1, 25))
        #expect(rate == Rational(25))
        #expect(time > Rational(0))
    }

    @Test("a frame rate that MXF cannot have is refused; AVI takes it")
    func rates() throws {
        let source = try source("s.mov", rate: "15", video: Fixture.x264)
        let known = try #require(Container.mxf.traits.pacing?.frameRates)
        #expect(
            try reason(source, JobSpec(container: .mxf))
                == .frameRateNotHeld(rate: Rational(15), container: .mxf, known: known))
        #expect(try reason(source, JobSpec(container: .avi)) == nil)
    }

    @Test("libavformat writes MXF at each of the rates", arguments: Container.mxf.traits.pacing?.frameRates ?? [])
    func everyRate(rate: Rational) throws {
        let source = try source("s.mov", rate: "\(rate)", frames: 5, video: ["-c:v", "mpeg2video", "-q:v", "4"])
        #expect(try Decoded(try reversed(source, JobSpec(container: .mxf)).output).times.count == 5)
    }

    @Test("a codec that would have been kept elsewhere is said to change")
    func otherCodec() throws {
        let source = try source("s.mov", frames: 5, video: ["-c:v", "libx264"])
        func changes(_ container: Container, _ codec: String? = nil) throws -> [Diagnostic] {
            let job = try reversed(source, JobSpec(container: container, videoCodec: codec, audio: .none))
            return job.plan.diagnostics.filter { if case .videoCodecChanged = $0 { true } else { false } }
        }
        #expect(try changes(.avi) == [.videoCodecChanged(container: .avi, from: "h264", to: "mjpeg")])
        #expect(try changes(.mxf) == [.videoCodecChanged(container: .mxf, from: "h264", to: "mpeg2video")])
        #expect(try changes(.avi, "mjpeg") == [])
        #expect(try changes(.mkv) == [])
    }

    @Test(
        "codecs whose frames are shown in another order than coded are refused", arguments: ["libx264", "mpeg2video"])
    func reordering(codec: String) throws {
        let source = try source("s.mov", video: ["-c:v", "ffv1"])
        let found = try reason(source, JobSpec(container: .avi, videoCodec: codec))
        let made = codec == "libx264" ? "h264" : codec
        #expect(found == .codecNotHeld(option: .videoCodec, codec: made, container: .avi))
    }
}

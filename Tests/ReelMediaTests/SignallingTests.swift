import Foundation
import ReelCore
import ReelMedia
import Testing

/// Shape and side data of pictures.
@Suite("Shape and side data")
struct SignallingTests {
    private let folder = ScratchFolder()

    @Test(
        "the shape of pixels through every encoder",
        arguments: [
            ("libx264", Container.mp4, "ultrafast"), ("libx265", .mkv, "ultrafast"), ("libsvtav1", .mp4, "12"),
            ("libvpx-vp9", .webm, "8"), ("ffv1", .mov, nil), ("prores_ks", .mov, nil), ("mjpeg", .mkv, nil),
            ("mpeg2video", .mp4, nil), ("libx264", .ts, "ultrafast"), ("ffv1", .nut, nil),
        ] as [(String, Container, String?)])
    func aspect(encoder: String, container: Container, preset: String?) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 10, rate: "25", size: "176x144", filter: "setsar=16/11", video: Fixture.x264)
        let spec = JobSpec(container: container, videoCodec: encoder, preset: preset)
        let output = try MediaJob(source, spec: spec, folder: folder.path).output
        let ratio = try probe(output, "stream=sample_aspect_ratio,width", streams: "v:0")
        #expect(ratio.hasPrefix("176,16:11"))
    }

    @Test("closed captions are stripped, with one warning", arguments: [true, false])
    func captions(lossless: Bool) throws {
        let source = try captioned(in: folder)
        #expect(try sideData(of: source).contains("ATSC A53"))
        for codec in lossless ? [nil] : ["libx264", "mpeg2video"] {
            let spec = JobSpec(container: .mkv, videoCodec: codec, lossless: lossless, passFrames: 10)
            let job = try MediaJob(source, spec: spec, folder: folder.path)
            #expect(job.warnings == ["the closed captions in the pictures are left out"])
            #expect(try !sideData(of: job.output).contains("ATSC A53"))
        }
    }

    @Test("packets that are copied keep their captions, without a warning")
    func copiedCaptions() throws {
        let source = folder.path + "/s.mp4"
        try ffmpeg(["-i", try captioned(in: folder)] + Fixture.x264 + ["-g", "1", "-a53cc", "1", source])
        let copy = try MediaJob(source, spec: JobSpec(container: .mp4), folder: folder.path)
        #expect(copy.plan.video.isPassthrough)
        #expect(copy.warnings == [])
        #expect(try sideData(of: copy.output).contains("ATSC A53"))
        let encoded = try MediaJob(source, spec: JobSpec(container: .mp4, crf: 20), folder: folder.path)
        #expect(encoded.warnings == ["the closed captions in the pictures are left out"])
    }

    /// A transport stream of MPEG-2 with a caption in every picture.
    private func captioned(in folder: ScratchFolder) throws -> String {
        let plain = try Fixture.make(
            "plain.m2v", in: folder, frames: 20, rate: "30000/1001",
            video: ["-c:v", "mpeg2video", "-q:v", "2", "-g", "10"])
        let bytes = [UInt8](try contents(of: plain))
        try store(Data(Captions.added(to: bytes)), to: plain)
        let source = folder.path + "/captions.ts"
        try ffmpeg("-fflags", "+genpts", "-framerate", "30000/1001", "-i", plain, "-c", "copy", source)
        return source
    }

    private func sideData(of path: String) throws -> String {
        try run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_frames", "-of", "compact", path)
    }

    @Test("AV1's film grain is part of the pictures, as ffmpeg decodes them")
    func grain() throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 12,
            video: ["-c:v", "libsvtav1", "-preset", "12", "-svtav1-params", "film-grain=20"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    @Test("frames whose clock jitters by less than a millisecond have a rate that Matroska names; others have none")
    func jitter() throws {
        let isNamed = { (filter: String) in
            let folder = ScratchFolder()
            let source = try Fixture.make(
                "s.mp4", in: folder, frames: 40, rate: "60", filter: filter,
                video: Fixture.x264 + ["-enc_time_base", "1/90000", "-video_track_timescale", "90000"])
            let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
            let head = try contents(of: job.output).prefix(1000)
            return head.range(of: Data([0x23, 0xE3, 0x83])) != nil  // DefaultDuration (RFC 9559 5.1.4.1.13)
        }
        #expect(try isNamed("settb=1/90000,setpts='N*1500+mod(N*7,3)*20'"))
        #expect(try !isNamed("settb=1/90000,setpts='N*1500+mod(N,2)*600'"))
    }
}

/// Puts an ATSC A/53 caption behind every picture's header extensions (ATSC A/53 part 4, 6.2.3).
private enum Captions {
    static func added(to bytes: [UInt8]) -> [UInt8] {
        let caption: [UInt8] = [0, 0, 1, 0xB2] + Array("GA94".utf8) + [0x03, 0xC1, 0xFF, 0xFC, 0x94, 0x2C, 0xFF]
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 2)
        for place in bytes.indices {
            // Before the first slice of each picture.
            if place + 4 <= bytes.count, bytes[place..<place + 4].elementsEqual([0, 0, 1, 1]) { result += caption }
            result.append(bytes[place])
        }
        return result
    }
}

import Foundation
import ReelCore
import ReelMedia
import Testing

/// Moving pictures that loop, as files. The sources have at most 64 colours and are encoded without loss, so that a
/// palette holds them all and every frame must come out exactly.
@Suite("Moving pictures that loop")
struct LoopMediaTests {
    private let folder: ScratchFolder

    private static let fewColours = "format=gbrp,lutrgb=r='bitand(val,192)':g='bitand(val,192)':b='bitand(val,192)'"
    private static let lossless = ["-c:v", "libx264rgb", "-qp", "0", "-g", "12"]

    init() throws { folder = try ScratchFolder() }

    private func source(_ name: String, frames: Int, rate: String, size: String = "192x108") throws -> String {
        try Fixture.make(
            name, in: folder, frames: frames, rate: rate, size: size, filter: Self.fewColours, video: Self.lossless)
    }

    private func job(
        _ source: String, _ container: Container, play: Play? = nil, size: PictureSize? = nil,
        mostFrames: Rational? = nil, loop: LoopOptions? = nil
    ) throws -> MediaJob {
        let edit = play.map { Edit(clips: [EditClip(play: $0)]) }
        let spec = JobSpec(
            container: container, edit: edit, size: size, mostFrames: mostFrames, loop: loop, passFrames: 9)
        return try MediaJob([source], spec: spec, folder: folder.path)
    }

    @Test(
        "a loop shows 2n - 2 frames, each as in the source, for times that do not drift", arguments: Container.looping)
    func pingPong(container: Container) throws {
        let source = try source("a.mp4", frames: 40, rate: "30000/1001")
        let made = try job(
            source, container, play: .pingPong, loop: LoopOptions(dither: container == .gif ? Dither.none : nil))
        let frames = try Decoded(source, pixelFormat: "rgb24").hashes
        let shown = try Decoded(made.output, pixelFormat: "rgb24")
        #expect(shown.hashes == frames + frames[1..<39].reversed())
        let clock = try #require(container.traits.loops?.clock)
        for (place, time) in shown.times.enumerated() {
            let exact = Rational(Int64(place) * 1001, 30_000)
            #expect(time == clock.seconds(Timestamp(clock.ticks(in: exact, rounding: .nearest))))
        }
    }

    @Test("of more than 30 frames a second, every second is shown, of a reversal too")
    func thinned() throws {
        let source = try source("fast.mp4", frames: 41, rate: "60000/1001")
        let frames = try Decoded(source, pixelFormat: "rgb24").hashes
        let kept = stride(from: 0, to: 41, by: 2).map { frames[$0] }
        let loop = try job(source, .gif, play: .pingPong, loop: LoopOptions(dither: Dither.none))
        #expect(try Decoded(loop.output, pixelFormat: "rgb24").hashes == kept + kept[1..<20].reversed())
        let reversed = try job(source, .gif, loop: LoopOptions(dither: Dither.none))
        #expect(try Decoded(reversed.output, pixelFormat: "rgb24").hashes == kept.reversed())
        let slower = try job(source, .gif, mostFrames: Rational(10), loop: LoopOptions(dither: Dither.none))
        #expect(
            try Decoded(slower.output, pixelFormat: "rgb24").hashes
                == stride(from: 0, to: 41, by: 6).map { frames[$0] }.reversed())
    }

    @Test("a GIF is at most 640 wide, upright and without sound; --size decides otherwise")
    func sizes() throws {
        let wide = try source("wide.mp4", frames: 6, rate: "25", size: "1280x720")
        let format = try job(wide, .gif).plan.video.format
        #expect(format.width == 640 && format.height == 360)
        let small = try job(wide, .gif, size: PictureSize(width: 100, height: 100))
        let probe = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=width,height,codec_type", "-of", "csv=p=0", small.output)
        #expect(probe.trimmingCharacters(in: .newlines) == "video,100,100")
    }

    @Test("options that the container does not have are refused")
    func refusals() throws {
        let source = try source("a.mp4", frames: 6, rate: "25")
        func reason(_ spec: JobSpec) throws -> FailureReason? {
            let index = try Recon(.file(source)).run()
            var choice = TargetChoice(indexes: [index], spec: spec)
            return #expect(throws: ReelFailure.self) { _ = try choice.video() }?.reason
        }
        #expect(
            try reason(JobSpec(container: .mp4, loop: LoopOptions(plays: 2)))
                == .optionNotOfContainer(option: .loop, container: .mp4))
        #expect(
            try reason(JobSpec(container: .apng, loop: LoopOptions(colours: 2)))
                == .optionNotOfContainer(option: .colors, container: .apng))
        #expect(
            try reason(JobSpec(container: .gif, crf: 20)) == .optionNotOfContainer(option: .crf, container: .gif))
    }

    @Test("one changed byte is found")
    func verified() throws {
        let source = try source("a.mp4", frames: 12, rate: "25")
        let made = try job(source, .gif)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: made.output))
        bytes[bytes.count / 2] ^= 0x10
        let changed = folder.path + "/changed.gif"
        try bytes.write(to: URL(fileURLWithPath: changed))
        let assembler = Assembler(
            sources: [IndexedSource(.file(source), index: made.index)], plan: made.plan,
            segments: SegmentList(made.results.flatMap(\.segments), in: folder.path))
        #expect(try assembler.verify(.file(made.output)) { _ in } == 12)
        #expect(throws: ReelFailure.self) { try assembler.verify(.file(changed)) { _ in } }
    }
}

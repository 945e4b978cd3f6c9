import Foundation
import ReelCore
import ReelMedia
import Testing

/// Clips that show their frames in the source's order, alone and beside clips in the other direction.
@Suite("Forward clips")
struct ForwardClipTests {
    private let folder = ScratchFolder()

    /// Shows a source forwards without loss, in passes of 12 frames: the output must show the same frames, each as long
    /// as the source does, and few of them may be held at a time.
    private func shown(_ source: String) throws -> (job: MediaJob, before: Decoded) {
        let spec = JobSpec(container: .nut, lossless: true, passFrames: 12)
        let job = try MediaJob(source, spec: spec, folder: folder.path, clips: [.forwards])
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(after.hashes == before.hashes)
        #expect(after.gaps == before.gaps)
        #expect(after.times.first == Rational(0))
        #expect((1...2).contains(job.mostFramesHeld))
        return (job, before)
    }

    @Test(
        "frames in order, at a rate that is not round, from groups that are open and have B-frames",
        arguments: ["open.mp4", "open.mkv", "open.ts", "closed.mp4", "m.mpg"])
    func order(name: String) throws {
        let source = try Fixture.grouped(name, in: folder)
        let (job, before) = try shown(source)
        #expect(before.hashes.count == 80)
        #expect(job.plan.passes.count > 2)
        let starts = job.plan.passes.compactMap { pass in
            if case .video(let pass) = pass { pass.frames.lowerBound } else { nil }
        }
        #expect(starts == starts.sorted())
        // Backwards, the same source is decoded in windows.
        if name.hasPrefix("open") {
            let spec = JobSpec(container: .nut, lossless: true, passFrames: 12)
            let other = ScratchFolder()
            let back = try MediaJob(source, spec: spec, folder: other.path)
            #expect(back.mostFramesHeld > 2)
        }
    }

    @Test("a variable frame rate")
    func variableFrameRate() throws {
        let source = try Fixture.variable("vfr.mp4", in: folder)
        let (_, before) = try shown(source)
        #expect(Set(before.gaps).count > 10)
    }

    @Test("a part that begins within a group of pictures")
    func part() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 60, rate: "24000/1001", video: Fixture.x264 + ["-g", "24", "-bf", "2"])
        let spec = JobSpec(
            container: .nut, lossless: true, from: .seconds(Rational(7 * 1001, 24000)),
            to: .seconds(Rational(40 * 1001, 24000)))
        let job = try MediaJob(source, spec: spec, folder: folder.path, clips: [.forwards])
        let frames = job.plan.clips[0].frames
        #expect(frames.count == 33)
        #expect(try Decoded(job.output).hashes == Array(Decoded(source).hashes[frames]))
    }

    @Test("one key frame for all, and long chunks: few frames are held, and the plan asks for memory for those")
    func oneKeyFrame() throws {
        let source = try Fixture.make(
            "one.mp4", in: folder, frames: 600, video: Fixture.x264 + ["-g", "9999", "-sc_threshold", "0", "-bf", "3"])
        let spec = JobSpec(container: .nut, lossless: true)
        let job = try MediaJob(source, spec: spec, folder: folder.path, slots: 1, clips: [.forwards])
        #expect(job.plan.passes.count == 1)
        #expect(job.framesDecoded == 600)
        #expect((1...2).contains(job.mostFramesHeld))
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes)
        let other = ScratchFolder()
        let back = try MediaJob(source, spec: spec, folder: other.path, slots: 1)
        #expect(back.mostFramesHeld >= 48)
        let more = Int64(back.mostFramesHeld - 2) * job.index.video.stream.frameBytes
        #expect(back.plan.need - job.plan.need == more)
    }

    @Test("a frame that does not come is the frame before, or the next at the start", arguments: [0, 5, 20])
    func missing(place: Int) throws {
        let source = try Fixture.make("s.avi", in: folder, frames: 20, video: ["-c:v", "magicyuv"])
        let spec = JobSpec(container: .nut, lossless: true)
        let job = try MediaJob(source, spec: spec, folder: folder.path, slots: 1, clips: [.forwards])

        // An index with a frame that no packet shows, and that says that the source is damaged from its start.
        var (index, plan) = (job.index, job.plan)
        var frame = index.video.frames[0]
        let (start, length) = (frame.interval.start, frame.interval.duration.count)
        frame.packet = Int32(max(place - 1, 0))
        index.video.frames.insert(frame, at: place)
        index.video.pictures.insert(index.video.pictures[0], at: place)
        index.video.pictures[place].hash ^= 1
        index.video.pictures[0].isDamaged = true
        for number in index.video.frames.indices {
            let time = start + Ticks(Int64(number) * length)
            index.video.frames[number].interval.start = time
            if number != place { index.video.packets[Int(index.video.frames[number].packet)].pts = time }
        }
        index.video.randomAccessPoints.removeSubrange(1...)
        plan.clips[0].rangeCount = 21
        plan.clips[0].map.end = start + Ticks(21 * length)
        plan.passes = [.video(pass: VideoPass(randomAccessPoint: 0, frames: 0..<21, chunkCount: 1))]

        let reverser = try job.reverser(of: source, plan: plan, index: index)
        var segments: [SegmentRecord] = []
        for case .video(let pass) in plan.passes {
            let places = plan.places(of: .video(pass: pass), in: folder.path, token: "5407")
            segments += try reverser.reverse(pass, at: places) { _, _ in }.segments
        }
        let output = folder.path + "/longer.nut"
        _ = try job.assembler(of: source, segments, plan: plan, index: index).assemble(to: .file(output)) { _ in }
        var expected = try Decoded(source).hashes
        expected.insert(expected[max(place - 1, 0)], at: place)
        #expect(try Decoded(output).hashes == expected)
        #expect((1...2).contains(reverser.mostFramesHeld))
    }

    @Test("the same frames in several clips, in either direction: each has segments of its own name")
    func severalClips() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 48, rate: "30000/1001", video: Fixture.x264 + ["-g", "16", "-bf", "2"])
        let spec = JobSpec(container: .nut, lossless: true, passFrames: 16)
        let job = try MediaJob(source, spec: spec, folder: folder.path, clips: [.forwards, .backwards, .forwards])
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        let expected = before.hashes + before.hashes.reversed() + before.hashes
        #expect(after.hashes == expected)
        let rate = Rational(1001, 30000)
        #expect(after.gaps.allSatisfy { $0 == rate })

        let records = job.records
        #expect(Set(records.map(\.name)).count == records.count)
        #expect(Set(records.map(\.name.subject.clip)) == [0, 1, 2])
        func contents(_ clip: Int) -> Set<SegmentContent> {
            Set(records.filter { $0.name.subject.clip == clip }.map(\.content))
        }
        #expect(contents(0) == contents(2))
        #expect(contents(0).isDisjoint(with: contents(1)))
        // Segments of the same content serve both clips.
        let again = folder.path + "/again.nut"
        _ = try job.assembler(of: source, records.filter { $0.name.subject.clip != 2 }).assemble(to: .file(again)) {
            _ in
        }
        #expect(try Decoded(again).hashes == expected)
    }
}

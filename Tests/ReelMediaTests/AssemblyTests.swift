import Foundation
import ReelCore
import ReelMedia
import Testing

/// What joins and verifies, and what must not pass.
@Suite("Assembly")
struct AssemblyTests {
    private let folder: ScratchFolder
    private let job: MediaJob

    init() throws {
        Media.prepare()
        folder = try ScratchFolder()
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 48, rate: "30000/1001", video: Fixture.x264 + ["-g", "16"],
            audio: ["-c:a", "aac"])
        job = try MediaJob(source, spec: JobSpec(container: .mp4, passFrames: 16), folder: folder.path)
    }

    private var records: [SegmentRecord] { job.results.flatMap(\.segments) }

    private func assembler(_ records: [SegmentRecord]) -> Assembler {
        Assembler(
            source: folder.path + "/s.mp4", index: job.index, plan: job.plan, folder: folder.path,
            segments: SegmentList(records))
    }

    @Test("row 35: the tables stand before the media: playing begins while the file loads")
    func fastStart() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: job.output))
        let (moov, mdat) = (bytes.range(of: Data("moov".utf8)), bytes.range(of: Data("mdat".utf8)))
        #expect(try #require(moov).lowerBound < #require(mdat).lowerBound)
    }

    @Test("a finished file is verified again, packet by packet")
    func verify() throws {
        #expect(try assembler(records).verify(job.output) { _ in } == records.reduce(0) { $0 + $1.packets })
    }

    @Test("one changed byte of payload is found")
    func changedPayload() throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: job.output))
        let media = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
        bytes[media + 4000] ^= 0x10
        let changed = folder.path + "/changed.mp4"
        try bytes.write(to: URL(fileURLWithPath: changed))
        let failure = #expect(throws: ReelFailure.self) { try assembler(records).verify(changed) { _ in } }
        #expect(failure?.message.contains("verification") == true)
    }

    @Test("moved timestamps are found")
    func changedTimes() throws {
        let moved = folder.path + "/moved.mp4"
        try run(
            "ffmpeg", "-v", "error", "-i", job.output, "-map", "0", "-c", "copy", "-bsf:v", "setts=pts=PTS*2:dts=DTS*2",
            moved)
        #expect(throws: ReelFailure.self) { try assembler(records).verify(moved) { _ in } }
    }

    @Test("a missing segment is named")
    func missing() throws {
        let some = records.filter { $0.pass != 2 }
        let failure = #expect(throws: ReelFailure.self) {
            try assembler(some).assemble(to: folder.path + "/x.mp4") { _, _ in }
        }
        #expect(failure?.message == "the segment of pass 2, run 0 is missing")
    }

    @Test("row 33: a segment of another encoder's parameters is refused by name")
    func otherParameters() throws {
        let other = try ScratchFolder()
        let spec = JobSpec(container: .mp4, preset: "ultrafast", passFrames: 16)
        let foreign = try MediaJob(folder.path + "/s.mp4", spec: spec, folder: other.path)
        let stranger = try #require(foreign.results.flatMap(\.segments).first { $0.pass == 2 })
        try FileManager.default.copyItem(
            atPath: other.path + "/" + stranger.name, toPath: folder.path + "/stranger.nut")
        let mixed = records.map { record in
            var record = record
            if record.pass == 2 { record.name = "stranger.nut" }
            return record
        }
        let failure = #expect(throws: ReelFailure.self) {
            try assembler(mixed).assemble(to: folder.path + "/x.mp4") { _, _ in }
        }
        #expect(failure?.message.contains("segment stranger.nut was encoded with other parameters") == true)
    }

    @Test("row 12: the same input makes the same bytes, whatever is joined from wherever")
    func repeatable() throws {
        let again = try ScratchFolder()
        let second = try MediaJob(
            folder.path + "/s.mp4", spec: JobSpec(container: .mp4, passFrames: 16), folder: again.path)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: second.output))
                == Data(contentsOf: URL(fileURLWithPath: job.output)))
    }
}

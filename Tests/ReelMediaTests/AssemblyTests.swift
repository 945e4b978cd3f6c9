import Foundation
import ReelCore
import ReelMedia
import ReelTestSupport
import ReelWords
import Testing

/// Joining and verifying, and outputs that must fail verification.
@Suite("Assembly")
struct AssemblyTests {
    private let folder: ScratchFolder
    private let job: MediaJob

    init() throws {
        Media.prepare()
        folder = ScratchFolder()
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 48, rate: "30000/1001", video: Fixture.x264 + ["-g", "16"],
            audio: ["-c:a", "aac"])
        job = try MediaJob(source, spec: JobSpec(container: .mp4, passFrames: 16), folder: folder.path)
    }

    private var records: [SegmentRecord] { job.records }

    private func assembler(_ records: [SegmentRecord]) -> Assembler {
        job.assembler(of: folder.path + "/s.mp4", records)
    }

    @Test("the tables stand before the media: playing begins while the file loads")
    func fastStart() throws {
        let bytes = try contents(of: job.output)
        let (moov, mdat) = (bytes.range(of: Data("moov".utf8)), bytes.range(of: Data("mdat".utf8)))
        #expect(try #require(moov).lowerBound < #require(mdat).lowerBound)
    }

    @Test("a finished file is verified again, packet by packet")
    func verify() throws {
        #expect(try assembler(records).verify(.file(job.output)) { _ in } == records.reduce(0) { $0 + $1.packets })
    }

    @Test(
        "size and checksum are the whole file's, whatever part is read first",
        arguments: Thoroughness.third(of: Container.ofPictures))
    func checksum(container: Container) throws {
        let folder = ScratchFolder()
        let job = try MediaJob(
            self.folder.path + "/s.mp4", spec: JobSpec(container: container, passFrames: 16), folder: folder.path)
        let bytes = try contents(of: job.output)
        #expect(job.assembled.bytes == Int64(bytes.count))
        #expect(try run("sha256sum", job.output).hasPrefix(job.assembled.checksum + " "))
    }

    @Test("one changed byte of payload is found")
    func changedPayload() throws {
        var bytes = try contents(of: job.output)
        let media = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
        bytes[media + 4000] ^= 0x10
        let changed = folder.path + "/changed.mp4"
        try store(bytes, to: changed)
        let failure = #expect(throws: ReelFailure.self) { try assembler(records).verify(.file(changed)) { _ in } }
        #expect(failure?.words.contains("verification") == true)
    }

    @Test("moved timestamps are found")
    func changedTimes() throws {
        let moved = folder.path + "/moved.mp4"
        try ffmpeg("-i", job.output, "-map", "0", "-c", "copy", "-bsf:v", "setts=pts=PTS*2:dts=DTS*2", moved)
        #expect(throws: ReelFailure.self) { try assembler(records).verify(.file(moved)) { _ in } }
    }

    @Test("a missing segment is named")
    func missing() throws {
        let missing = try #require(job.results[2].segments.first)
        let some = records.filter { $0 != missing }
        let failure = #expect(throws: ReelFailure.self) {
            try assembler(some).assemble(to: .file(folder.path + "/x.mp4")) { _ in }
        }
        #expect(failure?.reason == .segmentMissing(segment: "\(missing.name.subject)", pass: 2))
    }

    /// The same source's segment of the third pass, made with another preset.
    private func stranger(in other: ScratchFolder) throws -> SegmentRecord {
        let spec = JobSpec(container: .mp4, preset: "ultrafast", passFrames: 16)
        let foreign = try MediaJob(folder.path + "/s.mp4", spec: spec, folder: other.path)
        return try #require(foreign.results[2].segments.first)
    }

    private func failure(with stranger: SegmentRecord) -> ReelFailure? {
        let mixed = records.map { $0.name.subject == stranger.name.subject ? stranger : $0 }
        return #expect(throws: ReelFailure.self) {
            try assembler(mixed).assemble(to: .file(folder.path + "/x.mp4")) { _ in }
        }
    }

    @Test("a segment of another encoder's parameters is refused by name")
    func otherParameters() throws {
        let other = ScratchFolder()
        var stranger = try stranger(in: other)
        let foreign = "\(other.path)/\(stranger.name)"
        stranger.name.token = "5717a9"
        try FileManager.default.copyItem(atPath: foreign, toPath: "\(folder.path)/\(stranger.name)")
        // As if this host's encoder did not follow the plan.
        stranger.content = try #require(job.results[2].segments.first).content
        let message = try #require(failure(with: stranger)).words
        #expect(message.contains("segment \(stranger.name) was encoded with other parameters"))
    }

    @Test("a segment of the same frames that is made for another target is refused by name")
    func otherContent() throws {
        let other = ScratchFolder()
        let stranger = try stranger(in: other)
        #expect(failure(with: stranger)?.words.contains("segment \(stranger.name) does not match the plan") == true)
    }

    @Test(
        "the same input makes the same bytes, wherever its segments were made",
        arguments: [
            JobSpec(container: .mp4, passFrames: 16), JobSpec(container: .mp4, bitrate: .source, passFrames: 16),
            JobSpec(container: .mp4, bitrate: .source, passFrames: 16, threads: 2),
            JobSpec(container: .mp4, mostBytes: 90_000, passFrames: 16),
            JobSpec(container: .mp4, mostBytes: 90_000, passFrames: 16, threads: 2),
        ])
    func repeatable(_ spec: JobSpec) throws {
        let outputs = try (0..<3).map { _ in
            let again = ScratchFolder()
            return try withExtendedLifetime(again) {
                try contents(of: MediaJob(folder.path + "/s.mp4", spec: spec, folder: again.path).output)
            }
        }
        #expect(Set(outputs).count == 1)
    }
}

import Foundation
import ReelCore
import ReelMedia
import ReelRandom
import Testing

/// Segments that differ from their records: they are not used, and the failure names the pass to repeat.
@Suite("Segments that change after their pass")
struct SegmentIntegrityTests {
    private let folder: ScratchFolder
    private let job: MediaJob

    init() throws {
        Media.prepare()
        folder = ScratchFolder()
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 48, rate: "30000/1001", video: Fixture.x264 + ["-g", "16"],
            audio: ["-c:a", "aac"])
        job = try MediaJob(source, spec: JobSpec(container: .mkv, passFrames: 16), folder: folder.path)
    }

    private func path(_ record: SegmentRecord) -> String { "\(folder.path)/\(record.name)" }

    /// The failure of the assembly of these segments.
    private func failure(with segments: SegmentList) -> FailureReason? {
        let assembler = Assembler(
            sources: [IndexedSource(.file(folder.path + "/s.mp4"), index: job.index)], plan: job.plan,
            segments: segments)
        do throws(ReelFailure) {
            _ = try assembler.assemble(to: .file(folder.path + "/x.mkv")) { _ in }
            return nil
        } catch { return error.reason }
    }

    private var records: [SegmentRecord] { job.records }

    /// The failure of the assembly while a segment's file has other bytes.
    private func failure(_ record: SegmentRecord, changed change: (inout Data) -> Void) throws -> FailureReason? {
        let whole = try contents(of: path(record))
        var bytes = whole
        change(&bytes)
        try store(bytes, to: path(record))
        defer { try? store(whole, to: path(record)) }
        return failure(with: SegmentList(records, in: folder.path))
    }

    @Test("one changed byte anywhere is found, in header, packets, index and tail")
    func flippedByte() throws {
        #expect(failure(with: SegmentList(records, in: folder.path)) == nil)
        var random = SplitMix64(seed: 11)
        for (pass, result) in job.results.enumerated() {
            for record in result.segments {
                let end = Int(record.bytes)
                var places = [0, 1, 24, 25, 40, end / 2, end - 60, end - 13, end - 12, end - 5, end - 1]
                places += (0..<12).map { _ in Int.random(in: 0..<end, using: &random) }
                for place in places {
                    let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                    let found = try failure(record) { $0[place] ^= bit }
                    #expect(
                        found == .segmentDiffers(segment: record.name.text, pass: pass),
                        "byte \(place) of \(end) of \(record.name), bit \(bit)")
                }
            }
        }
    }

    @Test("a segment that was cut off, grew, or is another's file is found")
    func otherSize() throws {
        for (pass, result) in job.results.enumerated() {
            let record = try #require(result.segments.first)
            let differs = FailureReason.segmentDiffers(segment: record.name.text, pass: pass)
            #expect(try failure(record) { $0.removeLast() } == differs)
            #expect(try failure(record) { $0.removeLast($0.count / 2) } == differs)
            #expect(try failure(record) { $0.removeAll() } == differs)
            #expect(try failure(record) { $0.append(0) } == differs)
            #expect(try failure(record) { $0 += $0 } == differs)
            let other = try #require(job.results[(pass + 1) % job.results.count].segments.first)
            let foreign = try contents(of: path(other))
            #expect(try failure(record) { $0 = foreign } == differs)
            #expect(differs.passToRepeat == pass)
        }
    }

    @Test("a segment that is gone names its pass; one that cannot be read is an error of this host")
    func missing() throws {
        for (pass, result) in job.results.enumerated() {
            let record = try #require(result.segments.first)
            let away = path(record) + ".away"
            try FileManager.default.moveItem(atPath: path(record), toPath: away)
            #expect(
                failure(with: SegmentList(records, in: folder.path))
                    == .segmentMissing(segment: record.name.text, pass: pass))
            try FileManager.default.createDirectory(atPath: path(record), withIntermediateDirectories: false)
            #expect(
                failure(with: SegmentList(records, in: folder.path))
                    == .fileFailed(path: path(record), step: .read, errno: EISDIR, passes: false))
            try FileManager.default.removeItem(atPath: path(record))
            try FileManager.default.moveItem(atPath: away, toPath: path(record))
        }
        #expect(failure(with: SegmentList(records, in: folder.path)) == nil)
    }

    @Test("what changes while an assembly that began early waits for other segments is found")
    func growingList() throws {
        let known = records.map { StoredSegment($0, in: folder.path) }
        #expect(known.count == 4)
        // Sound, and the source's last frames; the rest comes while the assembly waits for it.
        let feed = SegmentFeed()
        feed.add(Array(known[..<2]))
        let late = records[2]
        var waited = false
        let segments = SegmentList(feed) {
            guard !waited else { return }
            waited = true
            // The sound has been begun, and its end is not read yet.
            for path in [path(late)] {
                guard let file = FileHandle(forUpdatingAtPath: path) else { continue }
                try? file.seek(toOffset: UInt64(late.bytes) - 3)
                try? file.write(contentsOf: Data([0x55]))
            }
            feed.add(Array(known[2...]))
        }
        #expect(failure(with: segments) == .segmentDiffers(segment: late.name.text, pass: 2))
        #expect(waited)
    }
}

import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("The list of an assembly's segments")
struct SegmentListTests {
    private func record(_ frames: Range<Int>) -> SegmentRecord {
        SegmentRecord(
            content: SegmentContent(part: .video(frames: frames), times: "t", target: "x"), clip: 0, token: "aa",
            frames: frames.count, packets: frames.count, bytes: 1, checksum: "", timeBase: TimeBase(1, 25),
            reorderDepth: 0, extradataHash: "")
    }

    @Test("It grows by a line for each segment, and begins empty")
    func grows() throws {
        try withFolder { folder in
            let path = folder + "/list"
            try write("of an earlier attempt", path)
            let list = try SegmentListFile(path: path)
            #expect(try text(path) == "")
            let records = [record(0..<3), record(3..<5), record(5..<6)]
            try list.append(Array(records[..<2]))
            try list.append([])
            try list.append(Array(records[2...]))
            let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last == "")
            #expect(
                try lines.dropLast().map { try CanonicalJSON.value(SegmentRecord.self, from: Array($0.utf8)) }
                    == records)
        }
    }

    @Test("One that cannot be written may go well another time")
    func unwritable() throws {
        try withFolder { folder in
            let list = try SegmentListFile(path: folder + "/list")
            try FileManager.default.removeItem(atPath: folder + "/list")
            let failure = #expect(throws: ReelFailure.self) { try list.append([record(0..<3)]) }
            #expect(failure?.reason == .segmentListUnwritable(path: folder + "/list", errno: ENOENT))
            #expect(failure?.cause == .transient)
        }
    }
}

@Suite("A source in the store")
struct StageTests {
    @Test("A copy is the source as it was fingerprinted, with its time")
    func copies() throws {
        try withFolder { folder in
            let source = folder + "/in.mp4"
            try write("frames", source)
            let fingerprint = try Fingerprint.of(source)
            let job = try Store.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            try job.stage(source, as: "in.mp4", fingerprint)
            var record = record(job.id)
            record.source = JobSource(path: source, staged: "in.mp4", fingerprint: fingerprint)
            #expect(try text(job.source(of: record)) == "frames")
            #expect(try Fingerprint.of(job.source(of: record)) == fingerprint)
            record.source.staged = nil
            #expect(job.source(of: record) == source)
        }
    }

    @Test("A source that is another by now is refused")
    func changed() throws {
        try withFolder { folder in
            let source = folder + "/in.mp4"
            try write("frames", source)
            var fingerprint = try Fingerprint.of(source)
            fingerprint.size += 1
            let job = try Store.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            let failure = #expect(throws: ReelFailure.self) { try job.stage(source, as: "in.mp4", fingerprint) }
            #expect(failure?.reason == .sourceChangedWhileCopied(path: source))
            #expect(failure?.kind == .input)
        }
    }
}

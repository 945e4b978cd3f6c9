import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("Whole segments")
struct SegmentTests {
    /// Runs a test's body with a job folder that has segments of runs 0 and 1 of pass 3 and of run 0 of pass 30.
    private func withJob(_ body: (JobFolder) throws -> Void) throws {
        try withFolder { folder in
            let job = try Store(root: folder).job(JobID("a1"))
            try job.create()
            try add(job, pass: 3, run: 1, token: "aa")
            try add(job, pass: 3, run: 0, token: "aa")
            try add(job, pass: 30, run: 0, token: "aa")
            try body(job)
        }
    }

    /// Makes a segment as an engine would.
    @discardableResult
    private func add(_ job: JobFolder, pass: Int, run: Int, token: String) throws -> SegmentRecord {
        let name = "\(pass).\(run).\(token).nut"
        let bytes = Array("segment \(name)".utf8)
        try AtomicFile.write(bytes, to: "\(job.segments)/\(name)")
        let record = SegmentRecord(
            name: name, pass: pass, run: run, frames: 240, packets: 240, bytes: Int64(bytes.count),
            checksum: Fingerprint.sha256Hex(bytes), timeBase: TimeBase(1, 25), reorderDepth: 2, extradataHash: "")
        try AtomicFile.write(json: record, to: "\(job.segments)/\(name).json")
        return record
    }

    private func found(_ job: JobFolder) -> [String] { job.wholeSegments(pass: 3).map(\.name) }

    @Test("All runs of the pass are found, in order, with their records")
    func all() throws {
        try withJob { job in
            #expect(found(job) == ["3.0.aa.nut", "3.1.aa.nut"])
            #expect(job.wholeSegments(pass: 30).first?.reorderDepth == 2)
            #expect(job.wholeSegments(pass: 4).isEmpty)
        }
    }

    @Test("A segment without a record is not whole")
    func withoutRecord() throws {
        try withJob { job in
            try FileManager.default.removeItem(atPath: job.segments + "/3.0.aa.nut.json")
            #expect(found(job) == ["3.1.aa.nut"])
        }
    }

    @Test("A segment with other bytes than recorded is not whole")
    func otherBytes() throws {
        try withJob { job in
            try write("Segment 3.0.aa.nut", job.segments + "/3.0.aa.nut")
            #expect(found(job) == ["3.1.aa.nut"])
        }
    }

    @Test("A segment that was cut off is not whole, nor is one that is gone, nor one with a broken record")
    func cut() throws {
        try withJob { job in
            try write("segment 3.0.aa.nu", job.segments + "/3.0.aa.nut")
            #expect(found(job) == ["3.1.aa.nut"])
            try FileManager.default.removeItem(atPath: job.segments + "/3.0.aa.nut")
            #expect(found(job) == ["3.1.aa.nut"])
            try write("{", job.segments + "/3.1.aa.nut.json")
            #expect(found(job).isEmpty)
        }
    }

    @Test("Of two whole segments of a run the first by name counts, of a broken and a whole one the whole")
    func tokens() throws {
        try withJob { job in
            try add(job, pass: 3, run: 0, token: "bb")
            try add(job, pass: 3, run: 1, token: "00")
            #expect(found(job) == ["3.0.aa.nut", "3.1.00.nut"])
            try write("", job.segments + "/3.0.aa.nut")
            #expect(found(job) == ["3.0.bb.nut", "3.1.00.nut"])
        }
    }

    @Test("A record that names a file elsewhere counts for nothing")
    func elsewhere() throws {
        try withJob { job in
            var record = try #require(job.wholeSegments(pass: 3).first)
            try FileManager.default.moveItem(atPath: job.segments + "/3.0.aa.nut", toPath: job.path + "/3.0.aa.nut")
            record.name = "../3.0.aa.nut"
            try AtomicFile.write(json: record, to: job.segments + "/3.0.aa.nut.json")
            #expect(found(job) == ["3.1.aa.nut"])
        }
    }

    @Test("Segments that another host wrote may be missing for a while")
    func missing() throws {
        try withJob { job in
            let records = job.wholeSegments(pass: 3)
            #expect(job.missingSegments(of: records).isEmpty)
            try FileManager.default.removeItem(atPath: job.segments + "/3.1.aa.nut")
            #expect(job.missingSegments(of: records).map(\.name) == ["3.1.aa.nut"])
            try job.removeParts()
            #expect(job.missingSegments(of: records).count == 2)
            #expect(job.wholeSegments(pass: 3).isEmpty)
        }
    }
}

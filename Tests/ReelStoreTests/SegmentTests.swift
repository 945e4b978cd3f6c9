import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("Segments in a folder")
struct SegmentTests {
    private func video(_ frames: Range<Int>) -> SegmentContent {
        SegmentContent(part: .video(frames: frames), times: "t", target: "x")
    }

    /// What a pass of two chunks wants.
    private var wanted: [SegmentContent] { [video(0..<240), video(240..<480)] }

    /// Runs a test's body with a job folder that has the segments of that pass, of another one, and of a track.
    private func withJob(_ body: (JobFolder) throws -> Void) throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            try job.create()
            for content in wanted + [
                video(480..<720), SegmentContent(part: .audio(track: 0), times: "t", target: "x"),
            ] {
                try add(job, content, token: "aa")
            }
            try body(job)
        }
    }

    /// Makes a segment as an engine would.
    private func add(_ job: JobFolder, _ content: SegmentContent, token: String) throws {
        let bytes = Array("segment \(SegmentSubject(clip: 0, part: content.part)) \(token)".utf8)
        let record = SegmentRecord(
            content: content, clip: 0, token: token, frames: 240, packets: 240, bytes: Int64(bytes.count),
            checksum: Fingerprint.sha256Hex(bytes), timeBase: TimeBase(1, 25), reorderDepth: 2, extradataHash: "")
        try AtomicFile.write(bytes, to: "\(job.segments)/\(record.name)")
        try AtomicFile.write(json: record, to: "\(job.segments)/\(record.name.recordName)")
    }

    private func found(_ job: JobFolder) -> [String?] { job.wholeSegments([wanted])[0].map { $0?.name.text } }

    @Test("Records of another version are ignored")
    func earlier() throws {
        try withJob { job in
            let path = job.segments + "/c0v0-240.aa.nut.json"
            let own = "\"version\":\(SegmentRecord.version)"
            let record = try text(path)
            #expect(record.contains(own))
            try write(record.replacing(own, with: "\"version\":\(SegmentRecord.version - 1)"), path)
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
        }
    }

    @Test("A record that names another file than the one it lies beside counts for nothing")
    func elsewhere() throws {
        try withJob { job in
            let files = FileManager.default
            try files.moveItem(atPath: job.segments + "/c0v0-240.aa.nut", toPath: job.path + "/c0v0-240.aa.nut")
            var json = try text(job.segments + "/c0v0-240.aa.nut.json")
            json.replace("c0v0-240.aa.nut", with: "../c0v0-240.aa.nut")
            try write(json, job.segments + "/c0v0-240.aa.nut.json")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
            try files.moveItem(
                atPath: job.segments + "/c0v240-480.aa.nut.json", toPath: job.segments + "/c0v240-480.bb.nut.json")
            #expect(found(job) == [nil, nil])
        }
    }

    @Test("Few records of each part are read, and only short ones; the search ends with its task")
    func many() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let job = try FolderStore.make(root: folder).job(JobID("a1"))
        try job.create()
        try add(job, wanted[0], token: "aa")
        #expect(found(job) == ["c0v0-240.aa.nut", nil])
        let search = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return found(job)
        }
        #expect(await search.value == [nil, nil])
        let record = "\(job.segments)/c0v0-240.aa.nut.json"
        let json = try text(record)
        try write(json + String(repeating: " ", count: 8 << 10), record)
        #expect(found(job) == [nil, nil])
        try write(json, record)
        #expect(found(job) == ["c0v0-240.aa.nut", nil])
    }

    @Test("Half-written files of an attempt are removed; whole segments and those of other attempts stay")
    func partial() throws {
        try withJob { job in
            let left = try names(job.segments)
            for name in [
                "c0v0-240.aa.nut.part", "c0v720-960.aa.nut", "c0v720-960.aa.nut.json.part", "c0v720-960.aaa.nut",
            ] {
                try write("half", "\(job.segments)/\(name)")
            }
            try write("half", job.assembling(.mkv, token: "aa").name)
            try write("half", job.assembling(.mkv, token: "aa").name + ".part")
            try write("half", job.assembling(.mkv, token: "bb").name + ".part")
            job.removePartial(token: "aa")
            #expect(try names(job.segments) == (left + ["c0v720-960.aaa.nut"]).sorted())
            #expect(try names(job.path) == ["assemblies", "attempts", "segments"])
            #expect(try names(job.path + "/assemblies") == ["bb.mkv.part"])
        }
    }
}

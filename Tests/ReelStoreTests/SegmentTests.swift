import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("Whole segments")
struct SegmentTests {
    private func video(_ frames: Range<Int>, times: String = "t", target: String = "x") -> SegmentContent {
        SegmentContent(part: .video(frames: frames), times: times, target: target)
    }

    /// What a pass of two runs wants.
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
    @discardableResult
    private func add(
        _ job: JobFolder, _ content: SegmentContent, clip: Int = 0, token: String
    ) throws -> SegmentRecord {
        let bytes = Array("segment \(SegmentSubject(clip: clip, part: content.part)) \(token)".utf8)
        let record = SegmentRecord(
            content: content, clip: clip, token: token, frames: 240, packets: 240, bytes: Int64(bytes.count),
            checksum: Fingerprint.sha256Hex(bytes), timeBase: TimeBase(1, 25), reorderDepth: 2, extradataHash: "")
        try AtomicFile.write(bytes, to: "\(job.segments)/\(record.name)")
        try AtomicFile.write(json: record, to: "\(job.segments)/\(record.name.recordName)")
        return record
    }

    private func found(_ job: JobFolder) -> [String?] { job.wholeSegments(wanted).map { $0?.name.text } }

    @Test("What a pass wants is found, in its order, with its record")
    func all() throws {
        try withJob { job in
            #expect(found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
            #expect(job.wholeSegments(wanted.reversed()).map { $0?.name.text } == found(job).reversed())
            #expect(job.wholeSegments([video(480..<720)]).first??.reorderDepth == 2)
            #expect(job.wholeSegments([video(0..<480)]) == [nil])
            #expect(job.wholeSegments([SegmentContent]()).isEmpty)
        }
    }

    @Test("With many passes, each gets its own segments")
    func passes() throws {
        try withJob { job in
            let sound = SegmentContent(part: .audio(track: 0), times: "t", target: "x")
            let passes = [[sound], [video(480..<720), video(720..<960)], wanted, []]
            #expect(
                job.wholeSegments(passes).map { $0.map { $0?.name.text } } == [
                    ["c0a0.aa.nut"], ["c0v480-720.aa.nut", nil], ["c0v0-240.aa.nut", "c0v240-480.aa.nut"], [],
                ])
        }
    }

    @Test("The same frames at other times or for another target make another segment")
    func otherContent() throws {
        try withJob { job in
            #expect(job.wholeSegments([video(0..<240, times: "u"), video(0..<240, target: "y")]) == [nil, nil])
            try add(job, video(0..<240, target: "y"), token: "00")
            #expect(found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
            #expect(job.wholeSegments([video(0..<240, target: "y")]).first??.name.token == "00")
        }
    }

    @Test("A segment that was made for another clip counts, if its content is the same, and keeps its name")
    func otherClip() throws {
        try withJob { job in
            try add(job, video(720..<960), clip: 3, token: "aa")
            #expect(job.wholeSegments([video(720..<960)]).map { $0?.name.text } == ["c3v720-960.aa.nut"])
            #expect(job.hasSegments(of: [.video(frames: 720..<960)]))
            #expect(job.wholeSegments([video(720..<960, times: "backwards")]) == [nil])
            var other = video(720..<960)
            other.source = 1
            #expect(job.wholeSegments([other]) == [nil], "the same frames of another source")
            try add(job, video(720..<960, times: "backwards"), clip: 4, token: "aa")
            #expect(job.wholeSegments([video(720..<960)]).first??.name.subject.clip == 3)
            #expect(job.wholeSegments([video(720..<960, times: "backwards")]).first??.name.subject.clip == 4)
        }
    }

    @Test("A segment without a record is not whole")
    func withoutRecord() throws {
        try withJob { job in
            try FileManager.default.removeItem(atPath: job.segments + "/c0v0-240.aa.nut.json")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
        }
    }

    @Test("A segment with other bytes than recorded is not whole")
    func otherBytes() throws {
        try withJob { job in
            try write("Segment c0v0-240 aa", job.segments + "/c0v0-240.aa.nut")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
        }
    }

    @Test("A segment that was cut off is not whole, nor is one that is gone, nor one with a broken record")
    func cut() throws {
        try withJob { job in
            try write("segment c0v0-240 a", job.segments + "/c0v0-240.aa.nut")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
            try FileManager.default.removeItem(atPath: job.segments + "/c0v0-240.aa.nut")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
            try write("{", job.segments + "/c0v240-480.aa.nut.json")
            #expect(found(job) == [nil, nil])
        }
    }

    @Test("Records of other versions are ignored")
    func otherVersions() throws {
        try withJob { job in
            var record = try #require(job.wholeSegments([wanted[0]])[0])
            record.version += 1
            try AtomicFile.write(json: record, to: "\(job.segments)/\(record.name.recordName)")
            // As the release before wrote them.
            try write(#"{"name":"0.0.aa.nut","pass":0,"run":0}"#, job.segments + "/0.0.aa.nut.json")
            try write(#"{"name":"0.0.aa.nut","pass":0,"run":0}"#, job.segments + "/c0v0-240.00.nut.json")
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
            try job.take(wanted, from: job.id)
            #expect(found(job) == [nil, "c0v240-480.aa.nut"])
        }
    }

    @Test("Of two whole segments of a run the first by name counts, of a broken and a whole one the whole")
    func tokens() throws {
        try withJob { job in
            try add(job, wanted[0], token: "bb")
            try add(job, wanted[1], token: "00")
            #expect(found(job) == ["c0v0-240.aa.nut", "c0v240-480.00.nut"])
            try write("", job.segments + "/c0v0-240.aa.nut")
            #expect(found(job) == ["c0v0-240.bb.nut", "c0v240-480.00.nut"])
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

    @Test("Another job's segments that are wanted are taken over under their names, once; the others stay")
    func take() throws {
        try withJob { other in
            let job = other.store.job(JobID("b2"))
            try job.create()
            try add(job, wanted[0], token: "00")
            try write("{", other.segments + "/c0v240-480.00.nut.json")
            try job.take(wanted, from: other.id)
            #expect(
                try names(job.segments) == [
                    "c0v0-240.00.nut", "c0v0-240.00.nut.json", "c0v0-240.aa.nut", "c0v0-240.aa.nut.json",
                    "c0v240-480.aa.nut",
                    "c0v240-480.aa.nut.json",
                ])
            #expect(found(job) == ["c0v0-240.00.nut", "c0v240-480.aa.nut"])
            #expect(found(other) == [nil, nil])
            #expect(other.wholeSegments([video(480..<720)]) != [nil])
            try job.take(wanted, from: other.id)
            try job.take(wanted, from: JobID("gone"))
            #expect(found(job) == ["c0v0-240.00.nut", "c0v240-480.aa.nut"])
        }
    }

    @Test("The failure to take segments over names the folder")
    func takeNowhere() throws {
        try withJob { other in
            let job = other.store.job(JobID("b2"))
            let failure = #expect(throws: ReelFailure.self) { try job.take(wanted, from: other.id) }
            #expect(failure?.reason == .storeUnusable(doing: .moveSegments, path: job.segments, errno: ENOENT))
            #expect(found(other) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
        }
    }

    @Test("Segments that another host wrote may be missing for a while")
    func missing() throws {
        try withJob { job in
            let records = job.wholeSegments(wanted).compactMap(\.self)
            #expect(job.missingSegments(of: records).isEmpty)
            try FileManager.default.removeItem(atPath: job.segments + "/c0v240-480.aa.nut")
            #expect(job.missingSegments(of: records).map(\.name.text) == ["c0v240-480.aa.nut"])
            try job.removeParts(keepingSegments: false)
            #expect(job.missingSegments(of: records).count == 2)
            #expect(found(job) == [nil, nil])
        }
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
            #expect(try names(job.path) == ["assembling.bb.mkv.part", "attempts", "segments"])
        }
    }
}

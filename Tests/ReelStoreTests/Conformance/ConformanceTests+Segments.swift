import Foundation
import ReelCore
import ReelStore
import Testing

extension ConformanceTests {
    private func video(_ frames: Range<Int>, times: String = "t", target: String = "x") -> SegmentContent {
        SegmentContent(part: .video(frames: frames), times: times, target: target)
    }

    private var sound: SegmentContent { SegmentContent(part: .audio(track: 0), times: "t", target: "x") }

    /// What a pass of two chunks wants.
    private var wanted: [SegmentContent] { [video(0..<240), video(240..<480)] }

    /// Runs a test's body with a job that has the segments of that pass, of another one, and of a track.
    private func withSegments(
        _ kind: StoreKind, _ body: (_ store: any JobStore, _ job: any JobEntry) async throws -> Void
    ) async throws {
        try await kind.withJob { store, job in
            for content in wanted + [video(480..<720), sound] { try add(content, token: "aa", to: job) }
            try await body(store, job)
        }
    }

    /// Makes a segment as an engine does.
    @discardableResult
    private func add(
        _ content: SegmentContent, clip: Int = 0, token: String, to job: any JobEntry
    ) throws -> SegmentRecord {
        let bytes = Array("segment \(SegmentSubject(clip: clip, part: content.part)) \(token)".utf8)
        let record = SegmentRecord(
            content: content, clip: clip, token: token, frames: 240, packets: 240, bytes: Int64(bytes.count),
            checksum: Fingerprint.sha256Hex(bytes), timeBase: TimeBase(1, 25), reorderDepth: 2, extradataHash: "")
        let place = job.place(of: record.name)
        #expect(place.name == record.name)
        try AtomicFile.write(bytes, to: place.data.name)
        try AtomicFile.write(json: record, to: place.record.name)
        try StoreInBucket.settle(job)
        return record
    }

    private func found(_ job: any JobEntry) async -> [String?] { await job.wholeSegments(wanted).map { $0?.name.text } }

    /// Where the store has the segment of one of the wanted contents.
    private func place(_ content: SegmentContent, token: String = "aa", in job: any JobEntry) -> SegmentPlace {
        job.place(of: SegmentName(subject: SegmentSubject(clip: 0, part: content.part), token: token))
    }

    @Test("What a pass wants is found, in its order, with its record", arguments: StoreKind.all)
    func wholeSegments(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
            let reversed = await job.wholeSegments(wanted.reversed()).map { $0?.name.text }
            #expect(reversed == ["c0v240-480.aa.nut", "c0v0-240.aa.nut"])
            #expect(await job.wholeSegments([video(480..<720)]).first??.reorderDepth == 2)
            #expect(await job.wholeSegments([video(0..<480)]) == [nil])
            #expect(await job.wholeSegments([SegmentContent]()).isEmpty)
            let records = await job.wholeSegments(wanted).compactMap(\.self)
            try await job.bring(records)
            let texts = try job.stored(records).map { try text($0.data.name) }
            #expect(texts == ["segment c0v0-240 aa", "segment c0v240-480 aa"])
        }
    }

    @Test("A machine of a bucket without room for segments and their output fetches none of them, and waits for room")
    func scratchTooSmall() async throws {
        try await StoreKind.bucket.withJob { store, job in
            var record = try add(wanted[0], token: "aa", to: job)
            try await job.bring([record])
            try removeFile(job.place(of: record.name).data.name)
            record.bytes = 1 << 60
            let reason = try #require(await reason { try await job.bring([record]) })
            guard case .scratchTooSmall(_, 1 << 61, let free) = reason else {
                Issue.record("\(reason)")
                return
            }
            #expect(free > 0)
            // As after a full disk: no job excludes the worker, and its disk may have room for everything else.
            let failure = await store.checked(ReelFailure(reason))
            #expect(failure == ReelFailure(reason) && failure.cause == .noSpace)
        }
    }

    @Test("Names tell whether there may be segments of a part, and whether there are any", arguments: StoreKind.all)
    func segmentNames(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try write("half", place(wanted[0], in: job).data.name)
            try StoreInBucket.settle(job)
            #expect(await !job.hasFinishedSegments)
            #expect(await !job.hasSegments(of: [wanted[0].part]))
            try add(wanted[1], clip: 2, token: "aa", to: job)
            #expect(await job.hasFinishedSegments)
            #expect(await job.hasSegments(of: [wanted[0].part, wanted[1].part]))
            #expect(await !job.hasSegments(of: [wanted[0].part]))
        }
    }

    @Test("With many passes, each gets its own segments", arguments: StoreKind.all)
    func passes(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let passes = [[sound], [video(480..<720), video(720..<960)], wanted, []]
            #expect(
                await job.wholeSegments(passes).map { $0.map { $0?.name.text } } == [
                    ["c0a0.aa.nut"], ["c0v480-720.aa.nut", nil], ["c0v0-240.aa.nut", "c0v240-480.aa.nut"], [],
                ])
        }
    }

    @Test("The same frames at other times or for another target make another segment", arguments: StoreKind.all)
    func otherContent(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            #expect(await job.wholeSegments([video(0..<240, times: "u"), video(0..<240, target: "y")]) == [nil, nil])
            try add(video(0..<240, target: "y"), token: "00", to: job)
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
            #expect(await job.wholeSegments([video(0..<240, target: "y")]).first??.name.token == "00")
        }
    }

    @Test(
        "A segment that was made for another clip counts, if its content is the same, and keeps its name",
        arguments: StoreKind.all)
    func otherClip(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            try add(video(720..<960), clip: 3, token: "aa", to: job)
            #expect(await job.wholeSegments([video(720..<960)]).map { $0?.name.text } == ["c3v720-960.aa.nut"])
            #expect(await job.hasSegments(of: [.video(frames: 720..<960)]))
            #expect(await job.wholeSegments([video(720..<960, times: "backwards")]) == [nil])
            var other = video(720..<960)
            other.source = 1
            #expect(await job.wholeSegments([other]) == [nil], "the same frames of another source")
            try add(video(720..<960, times: "backwards"), clip: 4, token: "aa", to: job)
            #expect(await job.wholeSegments([video(720..<960)]).first??.name.subject.clip == 3)
            #expect(await job.wholeSegments([video(720..<960, times: "backwards")]).first??.name.subject.clip == 4)
        }
    }

    @Test("A segment with a likeness serves plans that want none, too", arguments: StoreKind.all)
    func likeness(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            let content = SegmentContent(part: .video(frames: 0..<240), times: "t", target: "x", likeness: "l")
            try add(content, token: "aa", to: job)
            #expect(await job.wholeSegments([content, wanted[0]]).compactMap { $0 }.count == 2)
        }
    }

    @Test("A segment without a record is not whole, nor one with a broken record", arguments: StoreKind.all)
    func withoutRecord(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            try removeFile(place(wanted[0], in: job).record.name)
            try StoreInBucket.settle(job)
            #expect(await found(job) == [nil, "c0v240-480.aa.nut"])
            try write("{", place(wanted[1], in: job).record.name)
            try StoreInBucket.settle(job)
            #expect(await found(job) == [nil, nil])
        }
    }

    @Test("A segment with other bytes than recorded, with fewer or with none is not whole", arguments: StoreKind.all)
    func otherBytes(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let records = await job.wholeSegments(wanted).compactMap(\.self)
            #expect(await job.areWhole(records))
            let data = place(wanted[0], in: job).data.name
            for other in ["Segment c0v0-240 aa", "segment c0v0-240 a", nil] {
                if let other { try write(other, data) } else { try removeFile(data) }
                try StoreInBucket.settle(job)
                #expect(await found(job) == [nil, "c0v240-480.aa.nut"])
                #expect(await !job.areWhole(records))
                #expect(await job.areWhole(Array(records.dropFirst())))
            }
        }
    }

    @Test("Records of other versions, and those that name another segment, are ignored", arguments: StoreKind.all)
    func otherRecords(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let record = try #require(await job.wholeSegments([wanted[0]])[0])
            let path = place(wanted[0], in: job).record.name
            var other = record
            for version in [record.version - 1, record.version + 1] {
                other.version = version
                try AtomicFile.write(json: other, to: path)
                try StoreInBucket.settle(job)
                #expect(await found(job) == [nil, "c0v240-480.aa.nut"])
            }
            other = record
            other.name.token = "bb"
            try AtomicFile.write(json: other, to: path)
            try StoreInBucket.settle(job)
            #expect(await found(job) == [nil, "c0v240-480.aa.nut"])
            try AtomicFile.write(json: record, to: path)
            try StoreInBucket.settle(job)
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
        }
    }

    @Test(
        "Of two whole segments of a chunk the first by name counts, of a broken and a whole one the whole",
        arguments: StoreKind.all)
    func tokens(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            try add(wanted[0], token: "bb", to: job)
            try add(wanted[1], token: "00", to: job)
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.00.nut"])
            try write("", place(wanted[0], in: job).data.name)
            try StoreInBucket.settle(job)
            #expect(await found(job) == ["c0v0-240.bb.nut", "c0v240-480.00.nut"])
        }
    }

    @Test("Segments that are missing, or have another size, are named", arguments: StoreKind.all)
    func missingSegments(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let records = await job.wholeSegments(wanted).compactMap(\.self)
            #expect(try await job.missingSegments(of: records).isEmpty)
            try removeFile(place(wanted[1], in: job).data.name)
            try StoreInBucket.settle(job)
            #expect(try await job.missingSegments(of: records).map(\.name.text) == ["c0v240-480.aa.nut"])
            try write("short", place(wanted[0], in: job).data.name)
            try StoreInBucket.settle(job)
            #expect(try await job.missingSegments(of: records) == records)
        }
    }

    @Test("Of a failed job, what is whole stays, and nothing else", arguments: StoreKind.all)
    func removeStrays(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let strays = ["aa", "bb"].map { place(video(720..<960), token: $0, in: job).data }
            for locator in strays { try write("half", locator.name) }
            try StoreInBucket.settle(job)
            await job.removeStrays()
            #expect(strays.filter(isThere).isEmpty)
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
        }
    }

    @Test(
        "What an attempt left half-written is removed; what is whole and other attempts' stays",
        arguments: StoreKind.all)
    func removePartial(_ kind: StoreKind) async throws {
        try await withSegments(kind) { _, job in
            let half = [place(video(720..<960), in: job).data, job.assembling(.mkv, token: "aa")]
            let others = [place(video(720..<960), token: "aaa", in: job).data, job.assembling(.mkv, token: "bb")]
            for locator in half + others { try write("half", locator.name) }
            try StoreInBucket.settle(job)
            await job.removePartial(token: "aa")
            #expect(half.filter(isThere).isEmpty)
            #expect(others.filter(isThere) == others)
            #expect(await found(job) == ["c0v0-240.aa.nut", "c0v240-480.aa.nut"])
        }
    }
}

import Foundation
import ReelCore
import ReelStore
import ReelTestSupport
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

@Suite("Identity of segments across plans")
struct PlannedSegmentsTests {
    private func contents(_ plan: Plan, of index: SourceIndex = Samples.index) -> Set<SegmentContent> {
        let planned = PlannedSegments(plan: plan, indexes: [index])
        return Set(plan.passes.flatMap(planned.contents))
    }

    private func plan(_ change: (inout Plan) -> Void) -> Plan { Samples.plan(Samples.index, change) }

    @Test("A pass wants a segment for each of its chunks, in their order, and a track one")
    func passes() {
        let planned = PlannedSegments(plan: Samples.plan, indexes: [Samples.index])
        #expect(
            planned.contents(of: Samples.plan.passes[1]).map(\.part) == [
                .video(frames: 0..<4), .video(frames: 4..<8), .video(frames: 8..<12),
            ])
        #expect(planned.contents(of: .audio(place: 0)).map(\.part) == [.audio(track: 0)])
        #expect(planned.contents(of: .audio(place: 1)).isEmpty)
    }

    @Test("Plans of other passes agree about chunks of the same frames, whatever their number, need and threads")
    func otherPasses() {
        let whole = contents(Samples.plan)
        let halves = contents(
            Samples.plan(Samples.index, cuts: [0, 4, 12]) { plan in
                var encoding = Samples.encoding
                encoding.threads = 8
                (plan.number, plan.need, plan.video, plan.onDamage) = (7, 1, .encode(encoding), .fail)
            })
        #expect(whole == halves)
        let others = contents(Samples.plan(Samples.index, cuts: [0, 12], chunks: 2))
        #expect(whole.intersection(others).map(\.part) == [.audio(track: 0)], "chunks of other frames")
    }

    @Test("Another end of what is shown moves all of it, and changes no run's own times")
    func otherEnd() {
        let head = contents(Samples.plan(Samples.index, cuts: [0, 8]) { $0.passes.removeFirst() })
        #expect(head.count == 2)
        #expect(head.isSubset(of: contents(Samples.plan)))
    }

    @Test("A clip's number changes no content; its direction and its source do")
    func clips() throws {
        let plan = Samples.plan
        let two = self.plan { plan in
            var forwards = plan.clips[0]
            forwards.map.direction = .forwards
            (plan.clips, plan.isEdit) = ([forwards, plan.clips[0]], true)
        }
        let planned = PlannedSegments(plan: two, indexes: [Samples.index])
        let alone = PlannedSegments(plan: plan, indexes: [Samples.index])
        #expect(planned.content(ofChunk: 0..<4, of: 1) == alone.content(ofChunk: 0..<4, of: 0))
        #expect(planned.content(ofChunk: 0..<4, of: 0) != alone.content(ofChunk: 0..<4, of: 0))
        #expect(planned.content(ofChunk: 3..<4, of: 0) != planned.content(ofChunk: 3..<4, of: 1), "its fields differ")
        #expect(planned.content(ofAudio: 0) != alone.content(ofAudio: 0), "the sound is that of both clips")

        let other = self.plan { plan in
            plan.sources.append(plan.sources[0])
            plan.clips[0].source = 1
            plan.audio[0].source = 1
        }
        let second = PlannedSegments(plan: other, indexes: [Samples.index, Samples.index])
        #expect(second.content(ofChunk: 0..<4, of: 0) != alone.content(ofChunk: 0..<4, of: 0))
        #expect(second.content(ofAudio: 0) != alone.content(ofAudio: 0))
    }

    @Test("Every setting of the encoder makes another segment")
    func targets() {
        let changes: [(inout VideoEncoding) -> Void] = [
            { $0.encoder = "libx265" }, { $0.format.pixelFormat = "yuv444p" }, { $0.format.width = 4 },
            { $0.format.height = 4 }, { $0.format.frameRate = Rational(24) }, { $0.format.fieldOrder = .topFirst },
            { $0.format.fieldsVary = true }, { $0.options = [MediaOption(name: "crf", value: "19.0")] },
            { $0.bitrate = .source }, { $0.bitrate = .constant(1000) }, { $0.keyFrameInterval = 50 },
            { $0.identity.build = "libx264 2" }, { $0.identity.extradataHash = "" },
        ]
        var all = contents(Samples.plan)
        for change in changes {
            var encoding = Samples.encoding
            change(&encoding)
            let other = contents(plan { $0.video = .encode(encoding) })
            #expect(all.intersection(other).map(\.part) == [.audio(track: 0)])
            all.formUnion(other)
        }
        var index = Samples.index
        index.video.stream.sampleAspectRatio = Rational(16, 11)
        #expect(all.intersection(contents(Samples.plan, of: index)).map(\.part) == [.audio(track: 0)])
    }

    @Test("Other times, or pictures of other times, make another segment")
    func times() {
        func chunks(_ plan: Plan, _ index: SourceIndex) -> Set<SegmentContent> {
            contents(plan, of: index).filter { $0.part != .audio(track: 0) }
        }
        let even = chunks(Samples.plan, Samples.index)
        var durations = [Int64](repeating: 512, count: 12)
        durations[5] = 513
        let longer = Samples.index(durations: durations)
        #expect(even.intersection(chunks(Samples.plan(longer), longer)).map(\.part) == [.video(frames: 0..<4)])
        let later = Samples.index(durations: Array(repeating: 512, count: 12), start: 1536)
        #expect(even.isDisjoint(with: chunks(Samples.plan(later), later)), "the frames before each of them")
        var slower = Samples.index
        slower.video.stream.timeBase = TimeBase(1, 12_801)
        #expect(even.isDisjoint(with: chunks(Samples.plan(slower), slower)))

        // The source's own timestamps: of even frames they are the same.
        #expect(even == chunks(Samples.plan(Samples.index, mode: .source), Samples.index))
        #expect(
            chunks(Samples.plan(longer), longer).isDisjoint(with: chunks(Samples.plan(longer, mode: .source), longer))
                == false)
        #expect(chunks(Samples.plan(longer), longer) != chunks(Samples.plan(longer, mode: .source), longer))
    }

    @Test("Every setting that decides which samples of a track are kept, and how, makes another segment")
    func sound() {
        func track(_ index: SourceIndex = Samples.index, _ change: (inout Plan) -> Void = { _ in }) -> SegmentContent? {
            PlannedSegments(plan: Samples.plan(index, change), indexes: [index]).content(ofAudio: 0)
        }
        let changes: [(inout Plan) -> Void] = [
            { $0.clips[0].map.end = Timestamp(1) },
            { ($0.clips[0].firstFrame, $0.clips[0].rangeCount, $0.clips[0].map.start) = (1, 11, Timestamp(1536)) },
            { $0.clips[0].audioFrom = Rational(1) },
            { $0.clips[0].audioTo = Rational(1) }, { $0.audio[0].direction = .forwards },
            { $0.audio[0].encoder = VideoTarget.copy }, { $0.audio[0].encoder = "libopus" },
            { $0.audio[0].sampleRate = 44_100 }, { $0.audio[0].channelLayout = "mono" }, { $0.audio[0].bitrate = nil },
            { $0.audio[0].lossless = true },
        ]
        let all = [track()] + changes.map { track(Samples.index, $0) }
        #expect(Set(all).count == all.count)
        #expect(!all.contains(nil))
        #expect(track { $0.container = .mp4 } == track(), "only copied packets depend on the container")
        #expect(
            track {
                $0.audio[0].encoder = VideoTarget.copy
                $0.container = .mp4
            } != all[6])
        var other = Samples.index
        other.audio[0].index = 2
        #expect(track(other) != track(), "another stream of the file")
    }

    @Test("Names and hashes of contents stay as they are: segments that are in a store are found by them")
    func golden() throws {
        let planned = PlannedSegments(plan: Samples.plan, indexes: [Samples.index])
        let contents = Samples.plan.passes.flatMap(planned.contents)
        let bytes = try CanonicalJSON.bytes(of: contents)
        try Golden.expect(bytes, is: "segment-contents.json")
        #expect(try CanonicalJSON.value([SegmentContent].self, from: bytes) == contents)
    }
}

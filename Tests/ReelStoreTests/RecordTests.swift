import Foundation
import ReelCore
import ReelStore
import ReelTestSupport
import Testing

@Suite("Job ids")
struct JobIDTests {
    private func id(_ change: (inout JobSpec) -> Void = { _ in }) throws -> String {
        var changed = spec
        change(&changed)
        return try JobID.make(sources: [fingerprint], spec: changed).text
    }

    @Test("The same job has the same id on every machine and in every release of this rule")
    func golden() throws {
        try Golden.expect(Array(id().utf8), is: "job-id.v2.txt")
    }

    @Test("Every option that changes the output makes another job")
    func options() throws {
        let changes: [(inout JobSpec) -> Void] = [
            { $0.container = .mkv }, { $0.videoCodec = "libx265" }, { $0.videoCodec = nil }, { $0.crf = 19 },
            { $0.crf = nil }, { $0.preset = "slow" }, { $0.bitrate = .constant(1_000_000) },
            { $0.bitrate = .source }, { $0.mostBytes = 1_000_000 }, { $0.mostSide = 1920 }, { $0.fit = .blur },
            { $0.lossless = true },
            { $0.audio = .none }, { $0.audioCodec = "libopus" }, { $0.from = nil }, { $0.to = .seconds(Rational(61)) },
            { $0.to = .frames(61) }, { $0.duration = .frames(61) }, { $0.profile = "high" },
            { $0.audioBitrate = 128_000 }, { $0.tracks = TrackSelection(audio: [0], subtitles: nil) },
            { $0.timestamps = .source }, { $0.passFrames = 100 }, { $0.threads = 2 },
            { $0.onDamage = .fail }, { $0.size = PictureSize(width: 640, height: 360) },
            { $0.pixelFormat = "yuv420p" }, { $0.sampleRate = 44_100 }, { $0.channelLayout = "mono" },
            { $0.loop = LoopOptions(plays: 2) }, { $0.mostFrames = Rational(10) },
            { $0.loop = LoopOptions(dither: .bayer) }, { $0.loop = LoopOptions(colours: 16) },
        ]
        let clip = EditClip(to: .seconds(Rational(61)), play: .pingPong)
        let edits = [
            Edit(clips: [clip]), Edit(clips: [clip], turn: .twice), Edit(clips: [clip, clip]),
            Edit(clips: [clip], crossfade: Rational(0)),
            Edit(clips: [EditClip(to: .seconds(Rational(61)), play: .forward)]),
            Edit(clips: [EditClip(to: .seconds(Rational(61)), play: .pingPong, times: 2)]),
            Edit(clips: [EditClip(play: .pingPong)]),
        ]
        // With `memory` and `verify`, all there are.
        #expect(Set(Mirror(reflecting: spec).children.map(\.label)).count == 30)
        let ids = try [id()] + changes.map { try id($0) } + edits.map { edit in try id { $0.edit = edit } }
        #expect(Set(ids).count == ids.count)
    }

    @Test("Memory and verification make no other job")
    func shapes() throws {
        #expect(try id { $0.memory = 1 << 30 } == id())
        #expect(try id { $0.verify = .decode } == id())
    }

    @Test("Another source, or another number of them, makes another job")
    func rest() throws {
        var (larger, later, other) = (fingerprint, fingerprint, fingerprint)
        larger.size += 1
        later.mtimeNanoseconds += 1
        other.edges = String(repeating: "ac", count: 32)
        let ids =
            try [[fingerprint], [larger], [later], [other], [fingerprint, fingerprint]]
            .map { try JobID.make(sources: $0, spec: spec).text }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
    }
}

@Suite struct SubmissionTests {
    @Test func namesAndValues() {
        for text in ["a", "Trailer, take 3", "ä = b", "日本", String(repeating: "x", count: 100)] {
            #expect(Submission.isText(text), "\(text)")
        }
        for text in ["", "two\nlines", "a\tb", "\u{1B}[2J", String(repeating: "x", count: 101)] {
            #expect(!Submission.isText(text), "\(text)")
        }
    }

    @Test func namesOfLabels() {
        for name in ["a", "Project", "reel.org-2_x", String(repeating: "x", count: 40)] {
            #expect(Submission.isLabelName(name), "\(name)")
        }
        for name in ["", "a b", "a=b", "ä", "a/b", String(repeating: "x", count: 41)] {
            #expect(!Submission.isLabelName(name), "\(name)")
        }
    }

    @Test func theLastThatSaysSomethingCounts() {
        let first = Submission(name: "one", labels: ["a": "b"], submitter: "alice@h")
        let labels = Submission(labels: ["c": "d"], submitter: "bob@h")
        #expect(labels.after(first) == labels)
        let bare = Submission(submitter: "bob@h")
        #expect(bare.after(first) == Submission(name: "one", labels: ["a": "b"], submitter: "bob@h"))
        #expect(bare.after(nil) == bare)
    }
}

/// What lists show of a job: all but a long edit.
@Suite("The outline of a job")
struct OutlineTests {
    private func outline(clips: Int, _ change: (inout JobRecord) -> Void = { _ in }) throws -> (JobOutline, JobRecord) {
        try withFolder { folder throws in
            let job = try FolderStore.make(root: folder + "/store").job(JobID("a1"))
            var record = record(job.id)
            record.spec.crf = 23
            record.spec.edit = Edit(
                clips: (0..<clips).map {
                    EditClip(from: .seconds(Rational(Int64($0))), play: .forward, title: "\"}, {\\")
                })
            record.submission = Submission(name: "edit", labels: ["spec": "edit"], submitter: "alice@edit-2")
            change(&record)
            try job.create()
            try job.write(record)
            return (try job.outline(), try job.read())
        }
    }

    @Test("It has a short edit, and leaves a long one out")
    func edits() throws {
        let (short, shortRecord) = try outline(clips: 10)
        #expect(short.options == shortRecord.spec)
        let (long, longRecord) = try outline(clips: 10_000)
        #expect(longRecord.spec.edit?.clips.count == 10_000)
        var rest = longRecord.spec
        rest.edit = nil
        #expect(long.options == rest)
        #expect(long.submission == longRecord.submission)
    }

    @Test("The outline of a long edit has the result")
    func results() throws {
        let recorded = JobResult(name: "output.mkv", bytes: 12, sha256: String(repeating: "ab", count: 32))
        let (long, _) = try outline(clips: 10_000) { record in
            record.state = .done
            record.result = recorded
        }
        #expect(long.recorded == recorded)
        #expect(long.result == nil, "its file is not there")
    }

    @Test("A value is cut out by its path of keys alone")
    func cuts() {
        for (text, rest) in [
            (#"{"a":{"b":[1,{"b":2}],"c":3},"d":4}"#, #"{"a":{"b":null,"c":3},"d":4}"#),
            (#"{"d":{"b":1}, "a" : {"c":{"b":1}, "b" : "},\"" }}"#, #"{"d":{"b":1}, "a" : {"c":{"b":1}, "b" :null}}"#),
            (#"{"x":"a","b":1,"a":[{"b":1}]}"#, nil), (#"["a",{"b":1}]"#, nil), (#"{"a":{"\u0062":1}}"#, nil),
            (#"{"a":{"b":"\"#, nil), (#"{"a":{"b":1"#, nil), (#"}}]]{"a":{"b":1}}"#, nil), ("", nil),
        ] {
            let cut = JSONCut.text(Array(text.utf8), without: ["a", "b"])
            #expect(String(decoding: cut, as: UTF8.self) == rest ?? text)
        }
    }
}

@Suite("What the store holds, byte by byte")
struct GoldenTests {
    private func expect<Value: Codable & Equatable>(
        _ value: Value, is name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Golden.expect(CanonicalJSON.bytes(of: value), is: name, sourceLocation: sourceLocation)
        let read = try CanonicalJSON.value(Value.self, from: Golden.read(name))
        #expect(read == value, sourceLocation: sourceLocation)
    }

    @Test("A fingerprint")
    func fingerprints() throws { try expect(fingerprint, is: "fingerprint.json") }

    @Test("A job's record, as it was asked for and as it ended")
    func records() throws {
        try expect(record(JobID("0123456789abcdef")), is: "job-record.v2.begun.json")
        try expect(ended, is: "job-record.v2.json")
        var submitted = record(JobID("0123456789abcdef"))
        submitted.submission = Submission(
            name: "Trailer, take 3", labels: ["project": "ä", "take": "3"], submitter: "alice@edit-2")
        try expect(submitted, is: "job-record.v2.submitted.json")
        submitted.webhooks = ["https://a.example/hook?key=1", "https://b.example/"]
        try expect(submitted, is: "job-record.v2.webhooks.json")
    }

    private var ended: JobRecord {
        var record = record(JobID("0123456789abcdef"))
        record.sources[0].staged = "ä b.mp4"
        record.terms = JobTerms(weight: 2.5, retain: 60, keepsSegments: true)
        record.state = .failed
        record.paused = true
        record.result = JobResult(name: "output.mp4", bytes: 4711, sha256: String(repeating: "ef", count: 32))
        record.failure = ReelFailure(.encoderMissing(build: "libx264 1"))
        record.finished = 1_700_000_060.5
        return record
    }

    @Test("A record of release 0.1.0 is read")
    func firstRelease() throws {
        #expect(try CanonicalJSON.value(JobRecord.self, from: Golden.read("job-record.v2.of-0.1.0.json")) == ended)
    }
}

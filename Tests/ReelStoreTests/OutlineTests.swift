import Foundation
import ReelCore
import ReelStore
import Testing

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

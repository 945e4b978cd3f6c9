import Foundation
import ReelCore
import ReelStore
import ReelTestSupport
import Testing

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

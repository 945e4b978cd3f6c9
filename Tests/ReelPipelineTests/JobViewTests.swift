import Foundation
import ReelCore
import ReelPipeline
import ReelQueue
import Testing

@Suite struct JobViewTests {
    private func status(
        _ state: JobState = .running, live: Int = 0, failure: ReelFailure? = nil, spaceNote: String? = nil
    ) -> JobStatus {
        let job = PublishedJob(
            id: JobID("0123456789abcdef"), source: "/a/clip.mp4", frames: 200, passCount: 3, need: 1 << 30,
            encoders: ["libx264 Lavc59.37.100"], protocolVersion: 1, warnings: ["a warning"])
        let died = PassFailure.Attempt(
            cause: "crash", message: "died", worker: "w", host: "h", token: "t", time: 11)
        return JobStatus(
            job: job, state: state, passes: JobStatus.PassCounts(done: 3, live: live), framesEncoded: 150,
            framesDecoded: 160, peakRSS: 7, created: 10.5, failureCount: 1,
            failures: [PassFailure(index: 1, attempts: ["crash": 2], recent: [died])], spaceNote: spaceNote,
            failure: failure)
    }

    private func worker(_ memory: Int64, beatAge: Double = 1) -> WorkerStatus {
        WorkerStatus(
            report: WorkerReport(
                worker: WorkerID("w"), host: "h", slots: 1, memoryTotal: memory, encoders: [], protocolVersion: 1,
                held: []),
            beatAge: beatAge, draining: false)
    }

    @Test func theSchemaOfAJob() throws {
        let view = JobView(status(), output: "/a/clip.reversed.mp4", notes: ["a note", "a warning"])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(view), as: UTF8.self)
        #expect(
            text == """
                {"created":10.5,"failures":[{"attempts":{"crash":2},"index":1,"lastMessage":"died"}],"frames":200,\
                "framesDecoded":160,"framesEncoded":150,"id":"0123456789abcdef","need":1073741824,\
                "output":"/a/clip.reversed.mp4","passes":3,"passesDone":3,"passesLive":0,"peakRSS":7,\
                "source":"/a/clip.mp4","state":"running","warnings":["a warning","a note"]}
                """)
    }

    @Test func whyNothingHappens() {
        #expect(status(live: 1).idleReason(workers: []) == nil)
        #expect(status(.done).idleReason(workers: []) == nil)
        #expect(status().idleReason(workers: [])?.hasPrefix("no worker is connected") == true)
        #expect(
            status().idleReason(workers: [worker(2 << 30, beatAge: 60)])?.hasPrefix("no worker is connected") == true)
        #expect(status().idleReason(workers: [worker(2 << 30)]) == nil)
        #expect(
            status().idleReason(workers: [worker(1 << 20), worker(1 << 29)])
                == "no worker has the memory that a pass needs: 1 GiB; the largest has 512 MiB")
    }

    @Test func whatAnEndMeans() {
        #expect(status(.done).endingFailure == nil)
        #expect(status(.cancelled).endingFailure?.exitCode == 1)
        #expect(status(.failed).endingFailure?.exitCode == 1)
        let refused = ReelFailure(.input, "the source has changed")
        #expect(status(.failed, failure: refused).endingFailure == refused)
        #expect(status(.running).endingFailure != nil)
    }

    @Test func aFullDiskIsSeen() {
        let full = status(spaceNote: "waiting for disk space on h: no room")
        #expect(full.warnings == ["a warning", "waiting for disk space on h: no room"])
        #expect(full.idleReason(workers: []) == nil)
    }
}

import Foundation
import ReelCore
import ReelPipeline
import ReelQueue
import Testing

@Suite struct JobViewTests {
    private func status(
        _ state: JobState = .running, live: Int = 0, failure: ReelFailure? = nil
    ) -> JobStatus {
        let job = PublishedJob(
            id: JobID("0123456789abcdef"), source: "/a/clip.mp4", frames: 200, passCount: 3, need: 1 << 30,
            encoders: ["libx264 Lavc59.37.100"], protocolVersion: 1, warnings: ["a warning"])
        let died = PassFailure.Attempt(
            cause: "crash", message: "died", worker: "w", host: "h", token: "t", time: 11)
        return JobStatus(
            job: job, state: state, passes: JobStatus.PassCounts(done: 3, live: live), framesEncoded: 150,
            framesDecoded: 160, peakRSS: 7, created: 10.5, failureCount: 1,
            failures: [PassFailure(index: 1, attempts: ["crash": 2], recent: [died])], excluded: ["h": "no store"],
            failure: failure)
    }

    @Test func theSchemaOfAJob() throws {
        let status = status()
        let pass = Pass.video(VideoPass(randomAccessPoint: 0, frames: 10..<20, runCount: 1))
        let view = JobView(
            status, output: "/a/clip.reversed.mp4", notes: ["a note", "a warning"],
            waitReason: WaitReason(status, workers: []),
            failures: status.failures.map { FailureView($0, pass: pass, logs: ["t": "said\nthis\n"]) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(view), as: UTF8.self)
        #expect(
            text == """
                {"created":10.5,"excluded":[{"host":"h","reason":"no store"}],"failureCount":1,\
                "failures":[{"attempts":{"crash":2},"endFrame":20,"firstFrame":10,"index":1,"kind":"video",\
                "lastMessage":"died","recent":[{"cause":"crash","host":"h","log":["said","this"],"message":"died",\
                "time":11,"worker":"w"}]}],"frames":200,"framesDecoded":160,"framesEncoded":150,"framesPerSecond":0,\
                "id":"0123456789abcdef","need":1073741824,"output":"/a/clip.reversed.mp4","passes":3,"passesDone":3,\
                "passesExhausted":0,"passesLive":0,"passesPerSecond":0,"passesReady":0,"passesRetrying":0,\
                "paused":false,"peakRSS":7,"source":"/a/clip.mp4","state":"running","waitReason":"no worker is \
                connected: start reel-worker with the same --redis and --store","warnings":["a warning",\
                "h cannot take this job: no store","a note","no worker is connected: start reel-worker with the same \
                --redis and --store"]}
                """)
    }

    @Test func whatAnEndMeans() {
        #expect(status(.done).endingFailure == nil)
        #expect(status(.cancelled).endingFailure?.exitCode == 1)
        #expect(status(.failed).endingFailure?.exitCode == 1)
        let refused = ReelFailure(.input, "the source has changed")
        #expect(status(.failed, failure: refused).endingFailure == refused)
        #expect(status(.running).endingFailure != nil)
    }
}

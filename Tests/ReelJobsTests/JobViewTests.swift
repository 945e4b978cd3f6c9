import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

@Suite struct JobViewTests {
    private func status(
        _ state: JobState = .running, live: Int = 0, failure: ReelFailure? = nil
    ) -> JobStatus {
        let job = BoardJob(
            id: JobID("0123456789abcdef"), source: "/a/clip.mp4", frames: 200, passCount: 3, need: 1 << 30,
            encoders: ["libx264 Lavc59.37.100"], protocolVersion: 1, diagnostics: [.noTimestamps])
        let died = PassFailure.Attempt(
            cause: "crash", reason: ReelFailure(.engineEnded), worker: "w", host: "h", token: "t", time: 11)
        return JobStatus(
            job: job, state: state, passes: JobStatus.PassCounts(done: 3, live: live), framesEncoded: 150,
            framesDecoded: 160, peakRSS: 7, created: 10.5, failureCount: 1,
            failures: [PassFailure(index: 1, attempts: ["crash": 2], recent: [died])],
            excluded: ["w": JobStatus.Exclusion(host: "h", reason: ReelFailure(.encoderMissing(build: "x265")))],
            failure: failure)
    }

    @Test func theSchemaOfAJob() throws {
        let status = status()
        let pass = Pass.video(pass: VideoPass(randomAccessPoint: 0, frames: 10..<20, chunkCount: 1))
        let view = JobView(
            status,
            output: StoredResult(
                job: JobID("0123456789abcdef"), locator: .file("/a/clip.reversed.mp4"),
                recorded: JobResult(name: "output.mp4", bytes: 17, sha256: "ab")),
            found: [.fieldOrdersVary, .noTimestamps], waitReason: WaitReason(status, workers: []),
            failures: status.failures.map {
                FailureView($0, work: .video, pass: pass, logs: ["t": "said\nthis\n"])
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(view), as: UTF8.self)
        #expect(
            text == """
                {"clips":[],"created":10.5,"diagnostics":[{"code":"no-timestamps","facts":{},"message":"the video has no timestamps: its \
                frames are shown in order, at the rate it states"},{"code":"field-orders-vary","facts":{},"message":"clips show their fields in \
                different orders: the file states no order, each frame its own"}],\
                "engines":[],"excluded":[{"code":"encoder-missing","host":"h","reason":"the worker has no encoder x265","worker":"w"}],"failureCount":1,\
                "failures":[{"attempts":{"crash":2},"endFrame":20,"firstFrame":10,"index":1,"kind":"video",\
                "lastMessage":"the engine was ended","recent":[{"cause":"crash","code":"engine-ended","facts":{},\
                "host":"h","log":["said","this"],"message":"the engine was ended","owner":"passing","time":11,\
                "worker":"w"}]}],"fingerprints":[],"frames":200,"framesDecoded":160,"framesEncoded":150,"framesPerSecond":0,\
                "id":"0123456789abcdef","labels":{},"need":1073741824,"output":"/a/clip.reversed.mp4","outputBytes":17,"outputSha256":"ab","passes":3,"passesDone":3,\
                "passesExhausted":0,"passesLive":0,"passesPerSecond":0,"passesReady":0,"passesRetrying":0,\
                "paused":false,"peakRSS":7,"source":"/a/clip.mp4","sources":["/a/clip.mp4"],"state":"running","waitCode":"no-worker",\
                "waitReason":"no worker is connected","warnings":["the video has no timestamps: its frames are shown \
                in order, at the rate it states","clips show their fields in different orders: the file states no order, each frame its own","h cannot take this job: the worker has no encoder x265",\
                "no worker is connected"],"weight":1}
                """)
    }

    @Test("failures of the probe and of the assembly have their kinds, also without a store")
    func kindsOfFailures() {
        var status = status()
        status.failures[0].index = BoardJob.planningIndex
        #expect(JobView(status, output: nil).failures.map(\.kind) == ["probe"])
        status.failures[0].index = status.job.passCount
        #expect(JobView(status, output: nil).failures.map(\.kind) == ["assembly"])
    }

    @Test func whatAnEndMeans() {
        #expect(status(.done).endingFailure == nil)
        #expect(status(.cancelled).endingFailure?.exitCode == 1)
        #expect(status(.failed).endingFailure?.exitCode == 1)
        let refused = ReelFailure(.sourceReplaced(path: "/a/clip.mp4"))
        #expect(status(.failed, failure: refused).endingFailure == refused)
        #expect(status(.running).endingFailure != nil)
    }
}

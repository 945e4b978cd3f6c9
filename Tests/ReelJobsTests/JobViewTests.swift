import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

/// Why a job waits: the reason that tells most comes first, and a job that is worked on or can be claimed does not wait.
@Suite struct WaitReasonTests {
    private func status(
        _ state: JobState = .running, paused: Bool = false, live: Int = 0, nextRetry: Double? = nil,
        spaceNote: ReelFailure? = nil, excluded: [String: JobStatus.HostFailure] = [:]
    ) -> JobStatus {
        let job = BoardJob(
            id: JobID("a1"), source: "/a/clip.mp4", frames: 200, passCount: 3, need: 1 << 30, encoders: ["libx264 1"],
            protocolVersion: 2)
        return JobStatus(
            job: job, state: state, isPaused: paused, passes: JobStatus.PassCounts(live: live, ready: 3), created: 0,
            nextRetry: nextRetry, spaceNote: spaceNote.map { JobStatus.HostFailure(host: "h", reason: $0) },
            excluded: excluded)
    }

    private func worker(
        _ host: String = "h", memory: Int64 = 2 << 30, encoders: [String] = ["libx264 1"], version: Int = 2,
        beatAge: Double = 1, drained: DrainScope? = nil, notes: [Diagnostic] = [], busy: Int = 0
    ) -> WorkerStatus {
        let held = WorkerReport.Held(
            job: JobID("b"), index: 0, token: "t", plan: 1, decoded: 0, encoded: 0, wholeChunks: 0)
        return WorkerStatus(
            report: WorkerReport(
                worker: WorkerID("w of \(host)"), host: host, slots: 2, memoryTotal: memory, encoders: encoders,
                protocolVersion: version, notes: notes, held: Array(repeating: held, count: busy)),
            beatAge: beatAge, isGone: beatAge > 20, drained: drained)
    }

    @Test func whatWorksOrEndedDoesNotWait() {
        #expect(WaitReason(status(live: 1), workers: []) == nil)
        #expect(WaitReason(status(.done), workers: []) == nil)
        #expect(WaitReason(status(.failed, paused: true), workers: []) == nil)
        #expect(WaitReason(status(), workers: [worker()]) == nil)
    }

    @Test func whatPeopleDidComesFirst() {
        #expect(WaitReason(status(paused: true, live: 1), workers: [worker()]) == .paused)
        #expect(WaitReason(status(.probing, paused: true), workers: []) == .paused)
    }

    @Test func aProbeWaitsAsAPassDoes() {
        #expect(WaitReason(status(.probing), workers: []) == .noWorker)
        #expect(WaitReason(status(.probing, live: 1), workers: []) == nil)
        #expect(WaitReason(status(.probing), workers: [worker()]) == nil)
    }

    private let full = ReelFailure(.diskFull(path: "/s"))

    @Test func nobodyIsThere() {
        #expect(WaitReason(status(spaceNote: full), workers: []) == .noWorker)
        #expect(WaitReason(status(), workers: [worker(beatAge: 60)]) == .noWorker)
    }

    @Test func nobodyCan() {
        #expect(
            WaitReason(status(spaceNote: full), workers: [worker()])?.description
                == "waiting for disk space on h: /s: no space left on the disk")
        #expect(
            WaitReason(status(), workers: [worker(memory: 1 << 20), worker(memory: 1 << 29)])?.description
                == "no worker has the memory that a pass needs: 1 GiB; the largest has 512 MiB")
        #expect(
            WaitReason(status(), workers: [worker(version: 1), worker(version: 3), worker(memory: 1)])
                == .protocolVersion(2, workers: [1, 3]))
        let workers = [worker("b"), worker("a", encoders: ["aac 2"]), worker("c", version: 1)]
        let vanished = JobStatus.HostFailure(host: "b", reason: ReelFailure(.workerVanished(worker: "w")))
        #expect(
            WaitReason(status(excluded: ["w of b": vanished]), workers: workers)?
                .description
                == "no worker can take it: a: the worker has no encoder libx264 1; b: worker w vanished")
        #expect(WaitReason(status(), workers: [worker(drained: .host), worker("a", encoders: [])]) == .draining)
        #expect(
            WaitReason(status(), workers: [worker(notes: [.workerDiskFull(folders: ["/s"])])])?.description
                == "h claims nothing: the disk of /s is full")
    }

    @Test func whatPassesByItself() {
        #expect(WaitReason(status(nextRetry: 3.2), workers: [worker(busy: 2)]) == .retry(4))
        #expect(WaitReason(status(), workers: [worker(busy: 2), worker("b", busy: 1)]) == .busy(slots: 4))
        #expect(WaitReason(status(), workers: [worker(busy: 2), worker("b")]) == nil)
        let reasons: [WaitReason] = [.retry(4), .busy(slots: 1), .paused, .noWorker, .draining]
        #expect(reasons.map(\.isPassing) == [true, true, false, false, false])
    }
}

@Suite struct JobViewTests {
    private func status(_ state: JobState = .running, live: Int = 0, failure: ReelFailure? = nil) -> JobStatus {
        let job = BoardJob(
            id: JobID("0123456789abcdef"), source: "/a/clip.mp4", frames: 200, passCount: 3, need: 1 << 30,
            encoders: ["libx264 Lavc59.37.100"], protocolVersion: 1, diagnostics: [.noTimestamps])
        let died = PassFailure.Attempt(
            cause: "crash", reason: ReelFailure(.engineEnded), worker: "w", host: "h", token: "t", time: 11)
        return JobStatus(
            job: job, state: state, passes: JobStatus.PassCounts(done: 3, live: live), framesEncoded: 150,
            framesDecoded: 160, peakRSS: 7, created: 10.5, failureCount: 1,
            failures: [PassFailure(index: 1, attempts: ["crash": 2], recent: [died])],
            excluded: ["w": JobStatus.HostFailure(host: "h", reason: ReelFailure(.encoderMissing(build: "x265")))],
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
            failures: status.failures.map { FailureView($0, work: .video, pass: pass, logs: ["t": "said\nthis\n"]) })
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

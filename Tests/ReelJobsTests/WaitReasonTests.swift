import ReelCore
import ReelJobs
import ReelQueue
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
            nextRetry: nextRetry,
            spaceNote: spaceNote.map { JobStatus.HostFailure(host: "h", reason: $0) },
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

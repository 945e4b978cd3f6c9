import Foundation
import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// A slot that plans jobs.
@Suite struct ProbingTests {
    @Test func aSlotPlansAJobAndDoesIt() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            try await worker.workToEnd(of: record.id)
            #expect(worker.engines.recons == 1)
            #expect(worker.engines.passes == [0, 1, 2, 3])
            #expect(try await worker.store.job(record.id).read().state == .done)
            #expect(worker.log.lines.contains("finished probe of job \(record.id): 4 passes"))
        }
    }

    @Test func aSourceThatIsNoMediaFailsTheJob() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            worker.engines.failProbes(with: .of(.permanent))
            try await worker.workToEnd(of: record.id)
            let status = try await worker.status(record.id)
            #expect(status.isRefused)
            #expect(status.failure == .of(.permanent))
            #expect(try await worker.store.job(record.id).read().failure == .of(.permanent))
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test func aProbeThatFailsInPassingIsTriedAgain() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            worker.engines.failProbes(with: .of(.transient))
            try await worker.work { await worker.board.calls["fail"] == 1 && worker.environment.passes.report.isEmpty }
            let status = try await worker.status(record.id)
            #expect(status.state == .probing)
            #expect(status.failures.map(\.index) == [BoardJob.planningIndex])
            #expect(status.failures.map(\.attempts) == [["transient": 1]])
            #expect(await worker.board.model.retries(record.id.text) == 1)
        }
    }

    /// No encoder has taken these settings before, so another attempt would end in the same way.
    @Test func settingsThatAnEncoderRefusesFailTheJob() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            let refusal = ReelFailure(.encoderRefuses(encoder: "libx264", settings: [], said: "no threads"))
            worker.engines.failProbes(with: refusal)
            try await worker.workToEnd(of: record.id)
            let status = try await worker.status(record.id)
            #expect(status.isRefused)
            #expect(status.failure == refusal)
        }
    }

    /// Lets a slot begin to plan a job; its engine reads the source until the body ends that.
    private func withRunningProbe(_ body: (WorkerFixture, JobRecord) async throws -> Void) async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            worker.engines.answerProbes(.wait)
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            try await body(worker, record)
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(worker.environment.passes.report == [])
            #expect(await worker.claimer.memoryReserved == 0)
            #expect(await worker.board.calls["fail"] == nil)
        }
    }

    @Test func aProbeThatIsLostIsStopped() async throws {
        try await withRunningProbe { worker, record in
            await worker.board.lapse(record.id)
            #expect(try await worker.board.reap() == 1)
            let other = try await worker.another("w2")
            #expect(await other.claimer.take()?.claim.work == .planning)
            await worker.heartbeat.beat()
            try await until { worker.log.lines.contains("lost probe of job \(record.id): its lease had lapsed") }
            // The lapse was charged by the board, and nothing by the worker.
            #expect(try await worker.status(record.id).failures.map(\.attempts) == [["lost": 1]])
            #expect(worker.environment.notes.attempts == [.lost: 1])
        }
    }

    /// The board refuses the plan of a probe that it has given to another worker, perhaps before a beat says so.
    @Test func aPlanThatComesLateIsDiscarded() async throws {
        try await withRunningProbe { worker, record in
            await worker.board.lapse(record.id)
            #expect(try await worker.board.reap() == 1)
            let other = try await worker.another("w2")
            #expect(await other.claimer.take()?.claim.work == .planning)
            worker.engines.answerProbes(.result)
            worker.engines.letGo()
            try await until { worker.log.lines.contains("lost probe of job \(record.id): its lease had lapsed") }
            #expect(try await worker.status(record.id).state == .probing)
            #expect(worker.environment.notes.attempts == [.lost: 1])
        }
    }

    @Test func theProbeOfACancelledJobIsStopped() async throws {
        try await withRunningProbe { worker, record in
            #expect(try await worker.board.cancel(record.id))
            await worker.heartbeat.beat()
            try await until { worker.log.lines.contains("stopped probe of job \(record.id): the job was cancelled") }
            #expect(worker.environment.notes.attempts == [:])
        }
    }

    @Test func aWorkerThatEndsHandsItsProbeBackUncharged() async throws {
        try await withRunningProbe { worker, record in
            worker.environment.drain.stopNow()
            try await until { worker.log.lines.contains("hands back probe of job \(record.id)") }
            try await until { worker.environment.passes.report.isEmpty }
            let status = try await worker.status(record.id)
            #expect(status.state == .probing)
            #expect(status.failures == [])
            #expect(worker.environment.notes.attempts == [.released: 1])
            // Another process gets it.
            #expect(try await worker.board.begin(record.beginning, holder: WorkerID("c2")) != .probing)
        }
    }

    /// What an engine that was taken over says of a source.
    enum Lie: CaseIterable, CustomTestStringConvertible {
        case times, clock, hash, track

        var testDescription: String { "\(self)" }

        func tell(by engines: FakeEngines) {
            switch self {
            case .times:
                engines.changeIndexes { index in
                    index.video.frames[39].interval = Interval(
                        start: Timestamp(Timestamp.bound), duration: Ticks(Timestamp.bound))
                }
            case .clock: engines.changeIndexes { $0.video.stream.timeBase = TimeBase(1, .max) }
            case .hash: engines.nameHash(String(repeating: "a", count: 100_000))
            case .track:
                engines.changeTargets { targets in
                    targets.audio = [
                        AudioTarget(
                            track: 7, direction: .backwards, encoder: "aac", sampleRate: 48_000,
                            channelLayout: "stereo", bitrate: nil, lossless: false)
                    ]
                }
            }
        }
    }

    @Test("What no source can be is the engine's fault, not the store's", arguments: Lie.allCases)
    func impossibleAnswers(lie: Lie) async throws {
        try await withWorker(store: .folder) { worker in
            let record = try await worker.begin()
            lie.tell(by: worker.engines)
            try await worker.work { await worker.board.calls["fail"] == 1 && worker.environment.passes.report.isEmpty }
            let status = try await worker.status(record.id)
            #expect(status.failures.map(\.attempts) == [["crash": 1]])
            let place: EnginePlace = lie == .track ? .choice : .recon(source: worker.source)
            #expect(
                status.failures.first?.recent.map(\.reason.reason)
                    == [.engineNonsense(place: place, nonsense: .unfitResult(part: .numbers), lastWords: nil)])
            // The next attempt takes the index of which only the hash was wrong.
            let plans = try await worker.store.job(record.id).planNumbers()
            #expect(lie == .hash || plans.isEmpty)
        }
    }

    @Test("A source outside a worker's roots is not copied into the store, not even if its index is there")
    func sourcesOutside() async throws {
        try await withWorker(store: .folder) { worker in
            _ = try await worker.planning.planAlone(try worker.record(), anew: false)
            let record = try JobRecord(
                submitting: [worker.source], spec: JobSpec(container: .mkv, crf: 30, passFrames: 10), stages: true)
            let source = record.sources[0]
            func isCopied() async -> Bool {
                await worker.store.job(record.id).presentLocator(of: source) != source.original
            }
            let other = try await worker.another("w2")
            worker.engines.takeSources(from: "/elsewhere")
            try await worker.board.release(try await worker.holdProbe(record))
            try await worker.work { try await worker.status(record.id).excluded["w1"] != nil }
            #expect(try await worker.status(record.id).state == .probing)
            #expect(worker.engines.recons == 1)
            #expect(await !isCopied())
            worker.engines.takeSources(from: nil)
            try await other.work { try await worker.status(record.id).state != .probing }
            #expect(worker.engines.recons == 1)
            #expect(await isCopied())
        }
    }

    @Test("Encoders get the threads that keep all slots busy, once it is known how many passes there are")
    func threads() async throws {
        try await withWorker { worker in
            let record = try JobRecord(
                submitting: [worker.folder + "/film.mkv"], spec: JobSpec(container: .mkv, passFrames: 10))
            func threads(slots: Int) async throws -> Int? {
                let planning = Planning(store: worker.store, engine: worker.engines, capacity: Capacity(slots: slots))
                return try await planning.planAlone(record, anew: true).plan.video.encoding?.threads
            }
            let forFew = try await threads(slots: 4)
            #expect(forFew == 1 && worker.engines.threads == [1])
            let forMany = try await threads(slots: 12)
            #expect(forMany == 3 && worker.engines.threads == [1, 1, 3])
        }
    }
}

import Foundation
import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelMemoryStore
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// What a slot does with a pass, and how it reports it.
@Suite struct ReportingTests {
    @Test func aJobIsDoneByOneEngineFromTheLastFramesToTheFirst() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try await worker.workToEnd(of: job.id)
            let status = try #require(try await worker.board.status(job.id))
            #expect((status.passes.done, status.framesEncoded) == (4, 40))
            #expect(worker.engines.passes == [0, 1, 2, 3])
            #expect(worker.engines.assemblies == 1)
            #expect(worker.engines.started == [job.plan.need + job.plan.reservedAddresses])
            let record = try await job.entry.read()
            #expect(record.state == .done)
            #expect(record.finished ?? 0 >= 2_000_000_000)
            let output = try #require(await job.entry.result)
            try output.verify()
            let text = try String(contentsOfFile: output.locator.name, encoding: .utf8)
            #expect(text == "v30-40 backwards\nv20-30 backwards\nv10-20 backwards\nv0-10 backwards\n")
            #expect(await !job.entry.hasFinishedSegments)
            #expect(await worker.claimer.memoryReserved == 0)
            #expect(await worker.board.model.leases.isEmpty)
        }
    }

    /// Another worker made two passes, and the board has forgotten that.
    @Test func segmentsThatAreWholeAreNotMadeAgain() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let other = try await worker.another("w2")
            worker.engines.answer { $0.pass == 2 ? .wait : .result }
            try await other.work { worker.engines.waiting == 1 }
            let results = try await worker.board.recordedResults(job.id)
            #expect(results.keys.sorted() == [0, 1])
            let taken = try await worker.board.invalidate(
                job.id, passes: results.map { (index: $0.key, token: $0.value.token) }, plan: job.plan.number,
                by: other.worker, reason: .of(.transient))
            #expect(taken == 2)
            worker.engines.answer { $0.pass == 3 ? .wait : .result }
            try await worker.work { worker.engines.waiting == 1 }
            #expect(worker.engines.passes.sorted() == [0, 1, 2, 2, 3])
            #expect(worker.log.lines.count { $0.hasSuffix("was whole already") } == 2)
            #expect(try await worker.board.results(job.id)[0]?.segments == results[0]?.result.segments)
            worker.engines.answer { _ in .result }
            try await worker.another("w3").workToEnd(of: job.id)
        }
    }

    @Test func aCompletionWhoseReplyIsLostIsReportedAgain() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { $0.pass == 0 ? .wait : .result }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            await worker.board.loseReplies(1)
            worker.engines.letGo()
            try await until { worker.clock.sleepers == 1 }
            #expect(try await worker.board.results(job.id).keys.sorted() == [0])
            worker.clock.advance(by: .milliseconds(250))
            try await until { try await worker.board.state(of: job.id) == .done }
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(await worker.board.calls["complete"] == 6)
            #expect(worker.log.lines.count { $0.hasPrefix("finished pass 0 of job \(job.id)") } == 1)
        }
    }

    /// The pause doubles from a quarter of a second.
    @Test func aResultIsReportedWhenTheBoardIsBack() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { $0.pass == 0 ? .wait : .result }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            await worker.board.setOutage(ModelBoard.unreachable)
            worker.engines.letGo()
            for pause in [Duration.milliseconds(250), .milliseconds(500)] {
                try await until { worker.clock.sleepers == 1 }
                worker.clock.advance(by: pause - .milliseconds(1))
                #expect(worker.clock.sleepers == 1)
                worker.clock.advance(by: .milliseconds(1))
            }
            try await until { worker.clock.sleepers == 1 }
            #expect(await worker.board.calls["complete"] == 3)
            await worker.board.setOutage(nil)
            worker.clock.advance(by: .seconds(1))
            try await until { try await worker.board.state(of: job.id) == .done }
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(try await worker.status(job.id).failures == [])
            #expect(worker.log.lines.count { $0.hasPrefix("waiting for Redis") } == 1)
        }
    }

    @Test func aResultThatComesLateIsDiscarded() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { $0.pass == 0 ? .wait : .result }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            await worker.board.lapse(job.id)
            #expect(try await worker.board.reap() == 1)
            let other = try await worker.another("w2")
            let claim = try #require(await other.claimer.take()).claim
            #expect(claim.index == 0)
            let result = PassResult(segments: [], statistics: PassStatistics(framesEncoded: 10), diagnostics: [])
            #expect(try await worker.board.complete(claim, worker: other.worker, result: result) == .ok)
            worker.engines.letGo()
            try await until { worker.log.lines.contains { $0.hasSuffix("had been finished by another worker") } }
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(try await worker.board.recordedResults(job.id)[0]?.token == claim.token)
        }
    }

    @Test func aResultOfACancelledJobIsDiscarded() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { $0.pass == 0 ? .wait : .result }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            #expect(try await worker.board.cancel(job.id))
            worker.engines.letGo()
            try await until { worker.log.lines.contains { $0.hasSuffix("is not needed: the job was cancelled") } }
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(try await worker.board.results(job.id).isEmpty)
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test(
        "a store that is away is charged to no job; an engine that says so of one that is there is not believed",
        arguments: [true, false])
    func aStoreThatIsAway(isAway: Bool) async throws {
        try await withWorker { worker in
            try await worker.board.register(WorkerID("w2"), host: "another", memory: WorkerFixture.memory)
            let job = try await worker.publish()
            let (once, store) = (Once(), try #require(worker.store as? MemoryStore))
            let away = FailureReason.bucketUnanswered(role: .store, address: "s3://reel/work", said: "no answer")
            worker.engines.answer { request in
                guard request.pass == 0, once.take() else { return .wait }
                store.isAway = isAway
                return .failure(ReelFailure(away))
            }
            let call = isAway ? "release" : "fail"
            try await worker.work { await worker.board.calls[call] == 1 }
            let status = try await worker.status(job.id)
            #expect(status.state == .running && status.excluded.isEmpty)
            #expect(status.failures.map(\.attempts) == (isAway ? [] : [["transient": 1]]))
        }
    }

    @Test(arguments: [FailureCause.transient, .crash, .limit, .incompatible, .noSpace, .permanent])
    func aFailedAttemptIsReportedByItsCause(_ cause: FailureCause) async throws {
        try await withWorker { worker in
            try await worker.board.register(WorkerID("w2"), host: "another", memory: WorkerFixture.memory)
            let job = try await worker.publish()
            let once = Once()
            (worker.store as? MemoryStore)?.isFull = cause == .noSpace
            worker.engines.answer { request in
                guard request.pass == 0 else { return .wait }
                return once.take() ? .failure(.of(cause)) : .wait
            }
            try await worker.work { await worker.board.calls["fail"] == 1 }
            let status = try await worker.status(job.id)
            #expect(status.state == .running)
            switch cause {
            case .incompatible:
                #expect(status.excluded["w1"] == .init(host: "host of w1", reason: .of(cause)))
                #expect(status.failures == [])
            case .noSpace:
                #expect(status.spaceNote == .init(host: "host of w1", reason: .of(cause)))
                #expect(status.failures == [])
                #expect(worker.environment.notes.diagnostics.map(\.code) == ["worker-disk-full"])
            default:
                #expect(status.failures.map(\.index) == [0])
                #expect(status.failures.map(\.attempts) == [[cause.rawValue: 1]])
                let attempt = try #require(status.failures.first?.recent.first)
                #expect(attempt.reason == .of(cause))
                #expect(await job.entry.readAttempt(pass: 0, token: attempt.token) == "last words")
            }
            #expect(worker.log.lines.contains { $0.contains("failed (\(cause.rawValue))") })
        }
    }

    /// Works until one attempt has failed, and returns what was charged for it, by pass.
    private func charged(_ job: StoredJob, in worker: WorkerFixture) async throws -> [Int: [String: Int]] {
        try await worker.work { await worker.board.calls["fail"] == 1 }
        let failures = try await worker.status(job.id).failures
        return Dictionary(uniqueKeysWithValues: failures.map { ($0.index, $0.attempts) })
    }

    /// A hostile file that has taken over an engine could keep a worker from all other jobs.
    @Test func aFullDiskThatHasRoomIsChargedToTheJob() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { request in request.pass == 0 ? .failure(.of(.noSpace)) : .wait }
            #expect(try await charged(job, in: worker) == [0: ["transient": 1]])
            #expect(try await worker.status(job.id).spaceNote == nil)
            #expect(worker.environment.notes.diagnostics == [])
        }
    }

    /// The encoder took the settings when the job was planned.
    @Test func aPassWhoseEncoderDoesNotOpenIsTriedAgain() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let refusal = ReelFailure(.encoderRefuses(encoder: "libx264", settings: [], said: "no threads"))
            worker.engines.answer { request in request.pass == 0 ? .failure(refusal) : .wait }
            #expect(try await charged(job, in: worker) == [0: ["transient": 1]])
            #expect(try await worker.status(job.id).state == .running)
        }
    }

    @Test func whatWasDecodedAsAWholeCannotBeDisproved() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let disproof = ReelFailure(.planDisproved(path: worker.source, disproof: .order, time: Rational(1)))
            worker.engines.answer { request in request.pass == 0 ? .failure(disproof) : .wait }
            #expect(try await charged(job, in: worker) == [0: ["crash": 1]])
            #expect(worker.engines.recons == 2)
        }
    }

    @Test func aPassThatRanOutOfMemoryGetsTwiceAsMuch() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let once = Once()
            worker.engines.answer { request in
                guard request.pass == 0 else { return .result }
                return once.take() ? .failure(.of(.limit)) : .result
            }
            try await worker.workToEnd(of: job.id)
            let reserved = job.plan.reservedAddresses
            #expect(worker.engines.started.prefix(2) == [job.plan.need + reserved, 2 * job.plan.need + reserved])
            #expect(try await worker.board.state(of: job.id) == .done)
        }
    }

    @Test func theStoreLearnsOfAFailedJob() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { _ in .failure(.of(.permanent)) }
            try await worker.workToEnd(of: job.id)
            let record = try await job.entry.read()
            #expect(record.state == .failed)
            #expect(record.failure == .of(.permanent))
            #expect(try await worker.status(job.id).failure == .of(.permanent))
        }
    }

    @Test func theAssemblyHasASegmentMadeAgainThatIsMissing() async throws {
        try await withWorker(store: .folder) { worker in
            let job = try await worker.publish()
            let once = Once()
            let folder = try #require(worker.store as? FolderStore).job(job.id).segments
            worker.engines.answer { request in
                guard case .assemble = request, once.take() else { return .result }
                let files = FileManager.default
                for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix("c0v20-30.") {
                    try? files.removeItem(atPath: folder + "/" + name)
                }
                return .failure(ReelFailure(.segmentMissing(segment: "c0v20-30.0.nut", pass: 1)))
            }
            try await worker.workToEnd(of: job.id)
            #expect(worker.engines.passes == [0, 1, 2, 3, 1])
            #expect(worker.engines.assemblies == 2)
            let status = try await worker.status(job.id)
            #expect(status.state == .done)
            #expect(status.failures.map(\.index) == [1])
            #expect(status.failures.map(\.attempts) == [["transient": 1]])
        }
    }

    @Test func aDisprovedPlanIsMadeAnewFromTheWholeSource() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let once = Once()
            let disproof = ReelFailure(.planDisproved(path: worker.source, disproof: .order, time: Rational(1)))
            worker.engines.answer { request in request.pass == 1 && once.take() ? .failure(disproof) : .result }
            try await worker.workToEnd(of: job.id)
            #expect(try await worker.store.source(job.record.source.fingerprint).isDisproved())
            #expect(worker.engines.recons == 2)
            #expect(worker.engines.passes == [0, 1, 1, 2, 3])
            let status = try await worker.status(job.id)
            #expect(status.state == .done)
            #expect(status.failures == [])
            #expect(worker.log.lines.count { $0 == "job \(job.id) is planned anew" } == 1)
        }
    }

    /// An engine reads bytes of any origin, and the board keeps its report.
    @Test func aReportOfSegmentsThatWereNotAskedForCountsAsACrash() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let once = Once()
            worker.engines.answer { request in
                guard request.pass == 0 else { return .wait }
                return once.take() ? .misreport : .wait
            }
            try await worker.work { await worker.board.calls["fail"] == 1 && worker.engines.waiting == 1 }
            let status = try await worker.status(job.id)
            #expect(status.failures.map(\.attempts) == [["crash": 1]])
            #expect(status.failures.first?.recent.map(\.reason) == [ReelFailure(.engineMisanswered(task: .pass))])
        }
    }

    @Test func anotherFileInTheSourcesPlaceFailsTheJob() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try Data("another film".utf8).write(to: URL(filePath: worker.source))
            try await worker.workToEnd(of: job.id)
            #expect(worker.engines.passes == [])
            #expect(try await job.entry.read().failure == ReelFailure(.sourceReplaced(path: worker.source)))
        }
    }
}

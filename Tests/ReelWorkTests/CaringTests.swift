import Foundation
import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// The roles that look after board and store.
@Suite struct CaringTests {
    @Test func theReaperRequeuesLapsedPasses() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            _ = await worker.claimer.take()
            _ = await worker.claimer.take()
            await Reaper(worker.environment).reap()
            #expect(try await worker.held(job.id) == [0, 1])
            await worker.board.lapse(job.id)
            await Reaper(worker.environment).reap()
            #expect(try await worker.held(job.id) == [])
            #expect(worker.log.lines == ["2 expired leases were given back"])
        }
    }

    @Test func theReaperRemovesWhatKilledWorkersLeft() async throws {
        try await withWorker { worker in
            let scratch = worker.environment.scratch
            let inUse = try TemporaryFolder(scratchIn: scratch)
            let abandoned = scratch + "/reel-scratch.0123456789abcdef"
            try FileManager.default.createDirectory(atPath: abandoned, withIntermediateDirectories: false)
            for name in ["lock", "spill"] {
                try Data("1 host\n".utf8).write(to: URL(fileURLWithPath: "\(abandoned)/\(name)"))
            }
            // No lease has lapsed: another host's reaper was first.
            await Reaper(worker.environment).reap()
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch)
            #expect(left.map { "\(scratch)/\($0)" } == [inUse.path])
        }
    }

    @Test func aProcessThatExitsRemovesTheFoldersThatATaskStillHolds() async throws {
        let result = try #require(
            await #expect(processExitsWith: .exitCode(7), observing: [\.standardOutputContent]) {
                let folder = try TemporaryFolder(scratchIn: FileManager.default.temporaryDirectory.path)
                try Data("spill".utf8).write(to: URL(fileURLWithPath: folder.path + "/spill"))
                FileHandle.standardOutput.write(Data("<\(folder.path)>".utf8))
                // A task that never ends.
                Task {
                    try? await Task.sleep(for: .seconds(600))
                    _ = folder.path
                }
                exit(7)
            })
        let said = String(decoding: result.standardOutputContent, as: UTF8.self)
        let path = try #require(said.firstMatch(of: /<(.*)>/)?.1)
        #expect(path.contains("/reel-scratch."))
        #expect(!FileManager.default.fileExists(atPath: String(path)))
    }

    @Test func theAuditorReportsLostJobsOnce() async throws {
        try await withWorker { worker in
            let auditor = Auditor(worker.environment)
            #expect(await auditor.look(wasEmpty: false))
            #expect(worker.log.lines == [])
            let job = try await worker.planning.planAlone(try worker.record(), anew: false)
            #expect(await auditor.look(wasEmpty: false))
            #expect(worker.log.lines.count { $0.contains(job.id.text) } == 1)
            #expect(await auditor.look(wasEmpty: true))
            #expect(worker.log.lines.count == 1)
            try await worker.publish(job)
            #expect(await !auditor.look(wasEmpty: true))
            await worker.board.restart(losing: [JobID("abad1dea")])
            #expect(await !auditor.look(wasEmpty: false))
            #expect(worker.log.lines.count == 2)
            #expect(worker.log.lines.last?.contains("abad1dea") == true)
            #expect(await !auditor.look(wasEmpty: false))
            #expect(worker.log.lines.count == 2)
        }
    }

    @Test func whatCannotBeSeenIsNoChange() async throws {
        try await withWorker { worker in
            await worker.board.setOutage(ModelBoard.unreachable)
            #expect(await Auditor(worker.environment).look(wasEmpty: true))
            #expect(await !Auditor(worker.environment).look(wasEmpty: false))
            #expect(worker.log.lines == [])
        }
    }

    /// The board has lost its last second, and the removal with it.
    @Test func endedJobsThatTheStoreHasNoMoreLeaveTheBoard() async throws {
        try await withWorker { worker in
            let registrar = Registrar(worker.environment)
            let job = try await worker.planning.planAlone(try worker.record(), anew: false)
            try await worker.publish(job)
            try await worker.store.job(job.id).remove()
            var look = Registrar.Look()
            for _ in 0..<3 { look = await registrar.look(after: look) }
            #expect(try await worker.board.state(of: job.id) == .running, "it has not ended")
            #expect(try await worker.board.cancel(job.id))
            let first = await registrar.look(after: Registrar.Look())
            #expect(try await worker.board.state(of: job.id) == .cancelled)
            _ = await registrar.look(after: first)
            #expect(try await worker.board.state(of: job.id) == nil)
        }
    }

    @Test func jobsThatTheBoardHasLostComeBack() async throws {
        try await withWorker { worker in
            let registrar = Registrar(worker.environment)
            let job = try await worker.planning.planAlone(try worker.record(), anew: false)
            // A process that submits it writes its record first.
            let first = await registrar.look(after: Registrar.Look())
            #expect(try await worker.board.state(of: job.id) == nil)
            let second = await registrar.look(after: first)
            #expect(try await worker.board.state(of: job.id) == .running)
            #expect(
                worker.log.lines == [
                    "put job \(job.id) back on the board, which had lost it; 0 of its passes are finished"
                ])
            try await worker.workToEnd(of: job.id)

            // A board that has lost a job that is done gets no job back.
            try await worker.board.forget(job.id)
            let lines = worker.log.lines.count
            var look = await registrar.look(after: second)
            for _ in 0..<3 { look = await registrar.look(after: look) }
            #expect(try await worker.board.state(of: job.id) == nil)
            #expect(worker.log.lines.count == lines)

            // It is retried, and the board loses that.
            try await worker.change(job) { $0.reopen() }
            look = Registrar.Look()
            for _ in 0..<2 { look = await registrar.look(after: look) }
            #expect(try await worker.board.state(of: job.id)?.isTerminal == false)
        }
    }

    @Test func theJanitorWritesHowJobsEnded() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            #expect(try await worker.board.cancel(job.id))
            #expect(try await job.entry.read().state == nil)
            await Janitor(worker.environment).clean()
            #expect(try await job.entry.read().state == .cancelled)
        }
    }

    @Test func theJanitorRemovesTheCopyOfACancelledJobsSource() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let fingerprint = job.record.source.fingerprint
            let source = JobSource(path: worker.source, staged: "film.mkv", fingerprint: fingerprint)
            try await job.entry.stage(worker.source, as: "film.mkv", fingerprint)
            await Janitor(worker.environment).clean()
            #expect(await job.entry.hasCopy(of: source))
            #expect(try await worker.board.cancel(job.id))
            await Janitor(worker.environment).clean()
            #expect(await !job.entry.hasCopy(of: source))
        }
    }

    @Test func aCancelledJobGivesBackTheCopyOfItsSourceAtOnce() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let fingerprint = job.record.source.fingerprint
            try await job.entry.stage(worker.source, as: "film.mkv", fingerprint)
            #expect(try await worker.service.cancel(job.id) == .cancelled)
            let source = JobSource(path: worker.source, staged: "film.mkv", fingerprint: fingerprint)
            #expect(await !job.entry.hasCopy(of: source))
        }
    }

    /// The clocks differ by two minutes, and the earlier one decides.
    @Test func theJanitorKeepsAJobUntilBothClocksSayThatItsTimeIsOver() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            #expect(try await worker.store.source(job.record.source.fingerprint).index(.index) != nil)
            try await worker.workToEnd(of: job.id)
            let finished = try #require(try await job.entry.read().finished)
            let end = finished + job.record.terms.retain
            let janitor = Janitor(worker.environment)
            await worker.board.set(Clocks(board: end, host: end + 120))
            await janitor.clean()
            #expect(await job.entry.exists)
            #expect(worker.environment.notes.diagnostics == [.workerClockDiffers(seconds: 120)])
            await worker.board.set(Clocks(board: end + 1, host: end + 1))
            await janitor.clean()
            #expect(await !job.entry.exists)
            #expect(worker.environment.notes.diagnostics == [])
            #expect(try await worker.board.status(job.id) == nil)
            let source = try worker.store.source(job.record.source.fingerprint)
            #expect(try await source.index(.index) == nil)
        }
    }

    @Test func theJanitorLeavesAJobThatRunsAgain() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try await worker.change(job) { ($0.state, $0.finished) = (.failed, 0) }
            await Janitor(worker.environment).clean()
            #expect(await job.entry.exists)
            #expect(try await worker.board.state(of: job.id) == .running)
        }
    }
}

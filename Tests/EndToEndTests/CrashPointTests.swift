import Foundation
import Glibc
import ReelTestSupport
import Testing

/// Every point at which a process can die, as docs/board.md lists them, with real processes. Leases take time to lapse, so
/// these tests run in parallel.
@Suite("Crash points") struct CrashPointTests {
    private let fixture: ProcessFixture

    init() throws { fixture = try ProcessFixture() }

    @Test("crash point: worker killed before its segment is whole")
    func killedBeforeTheSegment() async throws {
        try await withJob(workers: 2) { fleet, id in
            let held = try await fleet.hold(id)
            try await fleet.kill(held.worker)
            Glibc.kill(held.engine, SIGKILL)
            let isElsewhere = try await eventually { try fleet.sight(id).isElsewhere(held) }
            #expect(isElsewhere)
            try await expectDone(fleet, id)
            let failures = try await fleet.job(id).failures
            #expect(failures.map(\.index) == [held.index])
            #expect(failures.map(\.attempts) == [["lost": 1]])
        }
    }

    @Test("crash point: killed after the segment, before complete")
    func killedAfterTheSegment() async throws {
        try await withJob(workers: 1) { fleet, id in
            let held = try await fleet.hold(id)
            held.worker.send(SIGSTOP)
            Glibc.kill(held.engine, SIGCONT)
            let segment = ".\(held.token).nut.json"
            #expect(try await eventually { fleet.segments(id).contains { $0.hasSuffix(segment) } })
            try await fleet.kill(held.worker)
            let second = try await fleet.startWorker()
            try await expectDone(fleet, id)
            let said = try await second.end().errorLines
            let name = "pass \(held.index) of job \(id) (crowd.mov),"
            #expect(said.contains { $0.contains(name) && $0.hasSuffix("was whole already") })
            #expect(!said.contains { $0.contains("begins \(name)") })
        }
    }

    @Test("crash point: a stalled worker wakes after its pass was reclaimed", arguments: [true, false])
    func stalled(withEngine: Bool) async throws {
        try await withJob(workers: 1) { fleet, id in
            let held = try await fleet.hold(id)
            held.worker.send(SIGSTOP)
            if !withEngine { Glibc.kill(held.engine, SIGCONT) }
            try await fleet.startWorker()
            #expect(try await eventually { try fleet.sight(id).state == "done" })
            #expect(try fleet.sight(id).done[held.index] != held.token)
            held.worker.send(SIGCONT)
            // Also one that stands still.
            #expect(try await eventually { ProcessFacts(held.engine)?.isAlive != true })
            let said = try await held.worker.end().error
            let (lost, late) = ("lost pass \(held.index) ", "had been finished by another worker")
            #expect(said.contains(lost) || !withEngine && said.contains(late), "\(said)")
            try await expectDone(fleet, id)
        }
    }

    @Test("crash point: coordinator killed while publishing")
    func killedWhilePublishing() async throws {
        // The one test with the lease of production.
        let fixture = try ProcessFixture(keepsLease: true)
        let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
        try await Fleet.with(fixture, workers: 1) { fleet in
            let submitter = try await fleet.startCoordinator(["submit", source] + options)
            while submitter.isRunning, fleet.jobs.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            let id = try #require(fleet.jobs.first)
            let begun = ContinuousClock.now
            while submitter.isRunning, try fleet.sight(id).state == "" { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await submitter.kill().code == 128 + 9)
            #expect(try fleet.sight(id).state == "probing")
            #expect(try fleet.sight(id).done.isEmpty)
            // Its lease lapses, and a worker makes the plan.
            #expect(try await eventually { try fleet.sight(id).state != "probing" })
            #expect(ContinuousClock.now - begun >= .seconds(19))
            try await expectDone(fleet, id)
            let failures = try await fleet.job(id).failures
            #expect(failures.isEmpty || failures.map(\.attempts) == [["lost": 1]])
        }
    }

    @Test("crash point: Redis killed and restarted")
    func redisKilled() async throws {
        try await withJob(workers: 2) { fleet, id in
            #expect(
                try await eventually {
                    let sight = try fleet.sight(id)
                    return sight.done.count >= 1 && sight.live.count == 2
                })
            try await fleet.killRedis()
            // Passes end meanwhile, and their results cannot be reported.
            try await Task.sleep(for: .seconds(2))
            try await fleet.startRedis()
            try await expectDone(fleet, id)
            #expect(try await fleet.job(id).failures.isEmpty)
        }
    }

    @Test("crash point: Redis killed and restarted while commands wait for a job")
    func redisKilledUnderCommands() async throws {
        let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
        try await Fleet.with(fixture, workers: 1) { fleet in
            let output = fixture.path("output.mkv")
            let submitter = try await fleet.startCoordinator(["submit", source, "--wait", "-o", output] + options)
            #expect(try await eventually { !fleet.jobs.isEmpty })
            let id = try #require(fleet.jobs.first)
            let waiter = try await fleet.startCoordinator(["wait", id])
            _ = try await firstSegment(fleet, id)
            // Each has a connection for its calls and one for the job's events.
            #expect(
                try await eventually {
                    let clients = try RawRedis(socket: fleet.socket)("CLIENT", "LIST").split(separator: "\n")
                    return clients.count { $0.contains("name=reel-coordinator-") } >= 4
                })
            try await fleet.killRedis()
            try await Task.sleep(for: .seconds(1))
            try await fleet.startRedis()
            for command in [submitter, waiter] {
                let outcome = try await command.outcome
                #expect(outcome.code == 0, "\(outcome.error)")
            }
            #expect(FileManager.default.fileExists(atPath: output))
        }
    }

    /// The log of a machine that crashes lacks its last second; a short job's last passes and its end fit into one.
    @Test("crash point: Redis killed and restarted, without the end of a job that is done")
    func redisForgetsTheEnd() async throws {
        try await withJob(workers: 1) { fleet, id in
            try await expectDone(fleet, id)
            let tokens = try fleet.sight(id).done
            try await fleet.killRedis()
            // The trimming of each result, its end, the assembly's result and that of a pass.
            #expect(try fleet.cutLog(beforeLast: tokens.count + 3, of: ":\(id):done") > 0)
            try await fleet.startRedis()
            try await expectDone(fleet, id)
            #expect(try fleet.sight(id).done.count { tokens[$0.key] != $0.value } == 2)
        }
    }

    @Test("crash point: Redis killed while it rewrites a torn log")
    func redisKilledWhileRewriting() async throws {
        try await withJob(workers: 1) { fleet, id in
            _ = try await firstSegment(fleet, id)
            // The first write closes the transaction that is cut, so no program may write.
            let worker = try #require(await fleet.workers.first)
            worker.send(SIGSTOP)
            try await fleet.killRedis()
            #expect(try fleet.cutLog(beforeLast: 1, of: "EXEC") > 0)
            let torn = try fleet.newestLog()
            // Microseconds for each key: the log is not to be new at once.
            try await fleet.startRedis("--rdb-key-save-delay", "1000000", repairing: false)
            let isRewriting = try await eventually {
                _ = try? RawRedis(socket: fleet.socket)("BGREWRITEAOF")
                return try fleet.newestLog() != torn
            }
            #expect(isRewriting)
            try await fleet.killRedis()
            worker.send(SIGCONT)
            try await fleet.startRedis(repairing: false)
            let isBack = try await eventually {
                _ = try await fleet.keepRedis()
                return (try? RawRedis(socket: fleet.socket)("PING")) == "PONG"
            }
            #expect(isBack)
            try await expectDone(fleet, id)
        }
    }

    @Test("crash point: Redis wiped")
    func redisWiped() async throws {
        var cancelled = ""
        // The job must not be back before `recover`: with a short lease, workers put it back so much earlier.
        try await withJob(ProcessFixture(keepsLease: true), workers: 1) { fleet in
            // Another job, which must not be recovered.
            let source = try fleet.fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            cancelled = try await fleet.submit([source] + options)
            #expect(try await fleet.coordinator(["cancel", cancelled]).code == 0)
        } _: { fleet, id in
            let fixture = fleet.fixture
            let segment = try await firstSegment(fleet, id)
            try await fleet.killRedis()
            try FileManager.default.removeItem(atPath: fixture.path("redis/reel-appendonly"))
            try await fleet.startRedis()
            // Its functions are lost, too, and the users of deploy/ may not load them.
            let isBack = try await eventually { (try? RawRedis(socket: fleet.socket)("PING")) == "PONG" }
            #expect(isBack)
            let prepared = try await fixture.run(.coordinator, ["init", "--redis", fleet.address(as: "reel-admin")])
            #expect(prepared.code == 0, "\(prepared.error)")
            // The worker has looked after it.
            let isSeen = try await eventually {
                (try? RawRedis(socket: fleet.socket)("HGET", "reel2:{main}:control", "audited")).map { !$0.isEmpty }
                    == true
            }
            #expect(isSeen)
            #expect(try fleet.sight(id).state == "")
            let recovered = try await fleet.coordinator(["recover"])
            #expect(recovered.code == 0, "\(recovered.error)")
            #expect(recovered.output == id + "\n")
            #expect(try fleet.sight(cancelled).state == "")
            #expect(try await fleet.coordinator(["remove", cancelled]).code == 0)
            try await expectDone(fleet, id)
            let token = try #require(segment.split(separator: ".").dropFirst().first)
            #expect(try fleet.sight(id).done.values.contains(String(token)))
            let again = try await fleet.coordinator(["recover"])
            #expect(again.output == "" && again.error.contains("the store has no unfinished job"))
            let said = try await fleet.endWorkers().map(\.error).joined()
            #expect(said.contains("Redis has lost jobs that had not ended (\(id))"), "\(said)")
        }
    }

    @Test("crash point: assembler killed or run twice", arguments: [true, false])
    func assemblerDisturbed(isKilled: Bool) async throws {
        try await withJob(workers: 1) { fleet, id in
            // An assembly that begins early waits for the last pass: time to take hold of it.
            let slow = try await fleet.hold(id, index: 3)
            // The pass is not to be done a second time.
            try RawRedis(socket: fleet.socket)("HSET", BoardSight.prefix + "job:\(id)", "copied", "100")
            try await fleet.startWorker()
            let held = try await holdAssembly(fleet, id)
            Glibc.kill(slow.engine, SIGCONT)
            if isKilled {
                try await fleet.kill(held.worker)
                Glibc.kill(held.engine, SIGKILL)
                try await fleet.startWorker()
                try await expectDone(fleet, id)
                return
            }
            held.worker.send(SIGSTOP)
            Glibc.kill(held.engine, SIGCONT)
            #expect(try await eventually { fleet.names(id + "/assemblies").contains("\(held.token).mov.part") })
            try await fleet.startWorker()
            #expect(try await eventually { try fleet.sight(id).state == "done" })
            held.worker.send(SIGCONT)
            #expect(try await eventually { ProcessFacts(held.engine)?.isAlive != true })
            try await expectDone(fleet, id)
            #expect(try fleet.sight(id).done[held.index] != held.token)
        }
    }

    @Test("crash point: engine crashes on the same pass everywhere")
    func crashesEverywhere() async throws {
        try await withJob(workers: 1) { fleet, id in
            let other = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let unharmed = try await fleet.submit([other])
            let first = try await fleet.hold(id)
            try await killEngine(first)
            for attempt in 2...3 {
                let next = try await fleet.hold(id, index: first.index)
                #expect(try await fleet.job(id).failures.map(\.attempts) == [["crash": attempt - 1]])
                try await killEngine(next)
            }
            #expect(try await eventually { try fleet.sight(id).state == "failed" })
            let told = try await fleet.coordinator(["status", id]).output
            #expect(told.contains("pass \(first.index) failed 3 times: "), "\(told)")
            #expect(told.contains("SIGKILL"))
            #expect(told.contains("frames "))
            #expect(try await eventually { try fleet.sight(unharmed).state == "done" })
        }
    }

    @Test("crash point: disk full", .enabled(if: canMountFileSystems, "cannot mount a tmpfs"))
    func diskFull() async throws {
        let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
        try FileManager.default.createDirectory(atPath: fixture.path("store"), withIntermediateDirectories: true)
        #expect(mount("tmpfs", fixture.path("store"), "tmpfs", 0, "size=9m") == 0)
        defer { umount2(fixture.path("store"), Int32(MNT_DETACH)) }
        try await Fleet.with(fixture, workers: 1) { fleet in
            let id = try await fleet.submit([source] + options)
            let isTold = try await eventually {
                try await fleet.job(id).warnings.contains { $0.hasPrefix("waiting for disk space on ") }
            }
            #expect(isTold)
            let waiting = try await fleet.job(id)
            #expect(waiting.state == "running")
            #expect(waiting.failures.isEmpty)
            #expect(waiting.passesLive == 0)
            let whole = fleet.segments(id).filter { $0.hasSuffix(".nut.json") }
            #expect(Set(fleet.segments(id)) == Set(whole + whole.map { String($0.dropLast(5)) }))
        }
    }
}

// MARK: Shared steps

extension CrashPointTests {
    private var options: [String] { ["--lossless", "--pass-frames", "48"] }

    /// Runs `body` with a job of three passes of video, one of sound, and the assembly, which is submitted after `before`.
    private func withJob(
        _ own: ProcessFixture? = nil, workers: Int, before: (Fleet) async throws -> Void = { _ in },
        _ body: (Fleet, String) async throws -> Void
    ) async throws {
        let fixture = own ?? fixture
        let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
        try await Fleet.with(fixture, workers: workers) { fleet in
            try await before(fleet)
            let id = try await fleet.submit([source] + options)
            try await body(fleet, id)
        }
    }

    /// Kills an engine and waits for its end, so that it is not taken for the next one.
    private func killEngine(_ held: Held) async throws {
        Glibc.kill(held.engine, SIGKILL)
        #expect(try await eventually { ProcessFacts(held.engine)?.isAlive != true })
    }

    /// Stops the engine of the worker that holds the assembly.
    private func holdAssembly(_ fleet: Fleet, _ id: String) async throws -> Held {
        let isHeld = try await eventually {
            let sight = try fleet.sight(id)
            return sight.passes > 0 && sight.live[sight.passes] != nil
        }
        #expect(isHeld)
        let sight = try fleet.sight(id)
        let holder = try #require(sight.live[sight.passes])
        let worker = try #require(await fleet.workers.first { $0.pid == holder.pid })
        #expect(try await eventually { fleet.names(id + "/assemblies").contains("\(holder.token).mov.part") })
        let engine = try #require(worker.children("reel-engine").first)
        Glibc.kill(engine, SIGSTOP)
        return Held(worker: worker, engine: engine, index: sight.passes, token: holder.token)
    }

    /// The file of a segment that is recorded.
    private func firstSegment(_ fleet: Fleet, _ id: String) async throws -> String {
        #expect(try await eventually { try !fleet.sight(id).done.isEmpty })
        let token = try #require(try fleet.sight(id).done.first?.value)
        return try #require(fleet.segments(id).first { $0.hasSuffix(".\(token).nut") })
    }

    /// Expects that the job ends done, each pass is recorded once, the output is exact, and nothing is left behind.
    private func expectDone(_ fleet: Fleet, _ id: String) async throws {
        #expect(try await eventually { (try? fleet.sight(id).state) == "done" })
        let sight = try fleet.sight(id)
        #expect(Set(sight.done.keys) == Set(0...sight.passes))
        #expect(sight.live.isEmpty && sight.copies.isEmpty)
        #expect(try await eventually { try BoardSight.leases(fleet.socket).isEmpty })
        #expect(try BoardSight.events("completed", fleet.socket).allSatisfy { $0.value == 1 })
        #expect(try await eventually { fleet.leftovers.isEmpty }, "\(fleet.leftovers)")
        try await fleet.fixture.expectExactlyReversed(fleet.fixture.path("crowd.mov"), "\(fleet.folder(id))/output.mov")
    }
}

extension BoardSight {
    /// Whether another worker works on the pass, or has finished it.
    fileprivate func isElsewhere(_ held: Held) -> Bool {
        let token = live[held.index]?.token ?? done[held.index]
        return copies[held.index] != nil || token != nil && token != held.token
    }
}

/// Whether this process may mount file systems: root outside a container may.
private let canMountFileSystems: Bool = {
    let folder = NSTemporaryDirectory() + "reel-mount-\(UUID().uuidString)"
    defer { rmdir(folder) }
    guard mkdir(folder, 0o700) == 0, mount("tmpfs", folder, "tmpfs", 0, "size=4k") == 0 else { return false }
    return umount(folder) == 0
}()

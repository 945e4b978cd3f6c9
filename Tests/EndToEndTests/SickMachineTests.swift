import Foundation
import Glibc
import ReelCore
import ReelEngine
import Testing

extension EndToEnd {
    /// Machines on which engines crash, disks are read-only or full, or clocks are wrong, beside healthy machines.
    @Suite struct SickMachineTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        // MARK: Engines that crash

        @Test func aMachineWhoseEnginesCrashStopsClaiming() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let bad = try await machine { _ in "read -r _; kill -SEGV $$" }
            try await Fleet.with(fixture, workers: 0) { fleet in
                var jobs: [String] = []
                for crf in ["20", "21", "22"] { jobs.append(try await fleet.submit([source, "--crf", crf])) }
                try await fleet.startWorker(.at(bad))
                #expect(try await eventually { try await fleet.listedWorkers().map(\.slotsOut) == [1] })
                let notes = try await fleet.listedWorkers().flatMap(\.notes)
                #expect(notes.count == 1 && notes.first?.hasPrefix("1 slot out of work: engines crashed") == true)
                for id in jobs { #expect(try await fleet.job(id).failures.map(\.attempts) == [["crash": 1]]) }
                try await fleet.startWorker()
                for id in jobs {
                    #expect(try await eventually { try fleet.sight(id).state == "done" })
                }
                #expect(try await fleet.listedWorkers().map(\.slotsOut).sorted() == [0, 1])
            }
        }

        /// Whatever the files do to its engines, the machine is healthy: it reverses its test clip.
        @Test func filesThatCrashEnginesStopNoMachine() async throws {
            let clip = try await Clips.shared.film()
            let evil = try fixture.copy(clip, as: "evil.mp4")
            let good = try fixture.copy(clip, as: "good.mp4")
            let machine = try await machine { engine in
                """
                read -r request
                case $request in *evil.mp4*) kill -SEGV $$ ;; esac
                { printf '%s\\n' "$confinement" "$request"; cat; } | "\(engine)" "$@" | sed -u 1d
                """
            }
            try await Fleet.with(fixture, workers: 0) { fleet in
                var jobs: [String] = []
                for crf in ["20", "21", "22", "23"] { jobs.append(try await fleet.submit([evil, "--crf", crf])) }
                try await fleet.startWorker(.at(machine))
                let crashing = jobs
                #expect(
                    try await eventually {
                        try crashing.filter { try fleet.sight($0).crashes.values.contains { $0 > 0 } }.count >= 3
                    })
                let id = try await fleet.submit([good])
                #expect(try await eventually { try fleet.sight(id).state == "done" })
            }
        }

        /// Its engine answers wrongly: the answer is not recorded, or is noticed later and the pass done again.
        @Test(
            arguments: [
                #"/\"pass\"/s|\"timeBase\":\"[^\"]*\"|\"timeBase\":\"1/25\"|g"#,
                #"/\"pass\"/s|\"times\":\"[^\"]*\"|\"times\":\"dddd\"|g"#,
                #"/\"assembly\"/s|\"checksum\":\"[^\"]*\"|\"checksum\":\"ABCD\"|"#,
                #"/\"assembly\"/s|\"bytes\":[0-9]*|\"bytes\":77|"#,
            ])
        func aMachineWhoseEngineLiesHarmsNoJob(lie: String) async throws {
            let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
            let source = try fixture.copy(clip, as: "crowd.mov")
            let machine = try await machine { engine in
                "{ printf '%s\\n' \"$confinement\"; cat; } | \"\(engine)\" \"$@\" | sed -u '1d; \(lie)'"
            }
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "12"])
                let sick = try await fleet.startWorker(.at(machine))
                let begins = try await eventually {
                    let sight = try fleet.sight(id)
                    return sight.done.count >= 2 || sight.crashes.values.contains { $0 > 0 }
                }
                #expect(begins)
                if !lie.contains("assembly") { _ = try await sick.end() }
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                #expect(try await fleet.coordinator(["verify", id]).code == 0)
            }
        }

        /// The path of a worker beside an engine that says it is ready and then does what a script says, which gets the
        /// real engine's path.
        private func machine(_ script: (_ engine: String) -> String) async throws -> String {
            let folder = fixture.path("machine")
            let link = URL(fileURLWithPath: #filePath)
                .appendingPathComponent("../../ReelEngineTests/Fixtures/fake-engine").standardized.path
            let files = FileManager.default
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try files.copyItem(atPath: Program.folder + "/reel-worker", toPath: folder + "/reel-worker")
            try files.createSymbolicLink(atPath: folder + "/reel-engine", withDestinationPath: link)
            // An engine ends with its input: it is given time to say what it is.
            let engine = Program.folder + "/reel-engine"
            let confinement = EngineInput.confinement(Confinement(scope: .nothing, mode: .try, sourceRoots: nil))
            let line = String(decoding: try JSONEncoder().encode(confinement), as: UTF8.self)
            let command = "{ echo '\(line)'; sleep 2; } | \(engine)"
            let ready = try await fixture.run(.at("/bin/sh"), ["-c", command]).output
            #expect(ready.hasPrefix("{\"ready\""))
            try ready.write(toFile: folder + "/ready", atomically: false, encoding: .utf8)
            let lines = "cat \(folder)/ready\n\(script(engine))\n"
            try lines.write(toFile: folder + "/reel-engine.script", atomically: false, encoding: .utf8)
            return folder + "/reel-worker"
        }

        // MARK: A store that one host cannot write

        @Test(.enabled(if: geteuid() == 0, "a mount namespace needs root"))
        func aStoreThatBecomesReadOnlyForOneHostFailsNoJob() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let sick = try await fleet.startWorkerApart()
                #expect(try await eventually { try await !fleet.listedWorkers().isEmpty })
                try await fleet.startWorker()
                try await fleet.remount("ro", of: sick)
                var jobs: [String] = []
                for crf in ["20", "21", "22", "23"] { jobs.append(try await fleet.submit([source, "--crf", crf])) }
                let note = "claims nothing until it can write in the store"
                #expect(
                    try await eventually {
                        try await fleet.listedWorkers().contains { $0.notes.contains { $0.hasPrefix(note) } }
                    })
                for id in jobs {
                    #expect(try await eventually { try fleet.sight(id).state == "done" })
                    #expect(try await fleet.job(id).failures.isEmpty)
                }
                // When its store is writable again the machine works again.
                try await fleet.remount("rw", of: sick)
                #expect(try await eventually { try await fleet.listedWorkers().allSatisfy(\.notes.isEmpty) })
            }
        }

        /// One host recovers before the other fails, so there is always one that can do the job.
        @Test func aStoreThatFailsOnOneHostAfterTheOtherFailsNoJob() async throws {
            let clip = try await Clips.shared.crowd(frames: 1440, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            let sicknesses = [try await Sickness(fixture), try await Sickness(fixture)]
            try await Fleet.with(fixture, workers: 0) { fleet in
                for sickness in sicknesses { try await fleet.startWorker(sickness: sickness) }
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "24"])
                for sickness in sicknesses {
                    let before = try fleet.sight(id).done.count
                    try sickness.setStoreError(EROFS)
                    #expect(try await eventually { try await fleet.listedWorkers().contains { !$0.notes.isEmpty } })
                    #expect(try fleet.sight(id).state == "running", "the job is too short")
                    try sickness.setStoreError(0)
                    #expect(try await eventually { try await fleet.listedWorkers().allSatisfy(\.notes.isEmpty) })
                    #expect(try await eventually { try fleet.sight(id).done.count > before })
                }
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                #expect(try fleet.sight(id).excluded.isEmpty)
            }
        }

        @Test func aStoreThatIsFullForOneHostFailsNoJob() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let sickness = try await Sickness(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.startWorker(sickness: sickness)
                #expect(try await eventually { try await !fleet.listedWorkers().isEmpty })
                try await fleet.startWorker()
                try sickness.setStoreError(ENOSPC)
                for crf in ["20", "21", "22"] {
                    let id = try await fleet.submit([source, "--crf", crf])
                    #expect(try await eventually { try fleet.sight(id).state == "done" })
                    #expect(try await fleet.job(id).failures.isEmpty)
                }
                try sickness.setStoreError(0)
                #expect(try await eventually { try await fleet.listedWorkers().allSatisfy(\.notes.isEmpty) })
            }
        }

        @Test func aFileServerThatGetsARequestTwiceDoesNotFailADelivery() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let sickness = try await Sickness(fixture)
            try sickness.setRepeats(true)
            let run = ["run", source, "-o", "out.mp4"]
            let outcome = try await fixture.run(.coordinator, run, environment: sickness.environment)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(fixture.names.filter { $0.hasPrefix("out") || $0.hasPrefix(".") } == ["out.mp4"])
            #expect(try await fixture.frames(of: fixture.path("out.mp4")).count == 120)
            let again = try await fixture.run(.coordinator, run, environment: sickness.environment)
            #expect(again.code == 5 && again.error.contains("exists"), "\(again.error)")
        }

        // MARK: A clock that is wrong

        @Test(arguments: [8 * 86_400, -8 * 86_400] as [Int64])
        func aWorkerWhoseClockIsWrongRemovesNothing(seconds: Int64) async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let sickness = try await Sickness(fixture)
            try sickness.setClock(seconds)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([source])
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                let healthy = try #require(await fleet.workers.first)
                _ = try await healthy.end()
                let worker = try await fleet.startWorker(sickness: sickness)
                // It looks for jobs to remove as soon as it has begun to work.
                let other = try await fleet.submit([source, "--crf", "30"])
                #expect(try await eventually { try fleet.sight(other).state == "done" })
                try await Task.sleep(for: .seconds(3))
                #expect(worker.isRunning)
                for id in [id, other] {
                    #expect(fleet.names(id).contains("output.mp4"))
                    #expect(try await fleet.coordinator(["fetch", id, "-o", "\(id).mp4"]).code == 0)
                }
            }
        }

        /// For days the dead worker's last beat lies ahead of the clock, and Redis's uptime is negative.
        @Test func aJobThatNoWorkerCanDoFailsAlsoOnABoardWhoseClockWasSetBack() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let sickness = try await Sickness(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.killRedis()
                try? FileManager.default.removeItem(atPath: fleet.socket)
                await fleet.setRedisSickness(sickness)
                try await fleet.startRedis()
                let dead = try await fleet.startWorker()
                #expect(try await eventually { (try? await fleet.listedWorkers().count) == 1 })
                try await fleet.kill(dead)
                let id = try await fleet.submit([source])
                try sickness.setClock(-3 * 86_400)
                try FileManager.default.removeItem(atPath: fleet.folder(id))
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).excluded.count == 1 })
                // The dead worker counts as live for one lease.
                #expect(try fleet.sight(id).state == "running")
                #expect(try await eventually { try fleet.sight(id).state == "failed" })
            }
        }

        // MARK: Lost writes

        @Test func aCancelledJobStaysSoOnABoardThatLostItsLastWrites() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let cancelled = try await fleet.submit([source, "--crf", "20"])
                let paused = try await fleet.submit([source, "--crf", "21"])
                try await fleet.killRedis()
                let (log, before) = (fixture.path("redis"), fixture.path("before"))
                try? FileManager.default.removeItem(atPath: fleet.socket)
                try FileManager.default.copyItem(atPath: log, toPath: before)
                try await fleet.startRedis()
                #expect(try await eventually { (try? fleet.sight(cancelled).state) == "running" })
                #expect(try await fleet.coordinator(["cancel", cancelled]).code == 0)
                #expect(try await fleet.coordinator(["pause", paused]).code == 0)

                try await fleet.killRedis()
                try FileManager.default.removeItem(atPath: log)
                try FileManager.default.moveItem(atPath: before, toPath: log)
                try await fleet.startRedis()
                #expect(try await eventually { (try? fleet.sight(cancelled).state) == "running" })
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(cancelled).state == "cancelled" })
                #expect(
                    try await eventually { try await fleet.coordinator(["status", paused]).output.contains("paused") })
                #expect(!fleet.names(cancelled).contains("output.mp4") && !fleet.names(paused).contains("output.mp4"))
            }
        }
    }
}

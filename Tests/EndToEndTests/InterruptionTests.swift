import Foundation
import Glibc
import ReelTestSupport
import Subprocess
import Testing

extension EndToEnd {
    /// `run` ended from outside: nothing keeps running, nothing half-written stays, and the same command goes on.
    @Suite struct InterruptionTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private let command = [
            "run", "long.mp4", "-o", "out.mov", "--lossless", "--slots", "1", "--pass-frames", "40", "--json",
        ]

        /// Names of the segments that are whole.
        private var whole: Set<String> { Set(segments.filter { $0.hasSuffix(".nut.json") }) }

        private var segments: [String] { names(in: job + "/segments") }

        /// Names in the folder of the only job.
        private var jobFiles: [String] { names(in: job) }

        private var job: String { jobs.first ?? fixture.path(".reel/jobs/none") }

        /// The folders of the jobs.
        private var jobs: [String] {
            let folder = fixture.path(".reel/jobs")
            return names(in: folder).map { "\(folder)/\($0)" }
        }

        private func names(in folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }

        private func interrupt(by signal: Signal) async throws -> Outcome {
            try await fixture.run(.coordinator, command) { running in
                #expect(try await running.waits { whole.count >= 2 })
                try running.send(signal)
            }
        }

        private func expectResumed() async throws {
            let kept = whole
            #expect(kept.count >= 2)
            let outcome = try await fixture.run(.coordinator, command)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("goes on where an earlier run of the same job stopped"))
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.frames == 480)
            // What was whole is not decoded again; each segment is of 40 frames.
            #expect(view.framesDecoded <= 480 - 40 * (kept.count - 1))
            try await fixture.expectExactlyReversed(fixture.path("long.mp4"), fixture.path("out.mov"))
            #expect(fixture.names == ["long.mp4", "out.mov"])
            #expect(try await fixture.isQuiet())
        }

        @Test("Ctrl-Z stops the work, not only the bar; then it goes on and nothing is done again")
        func controlZ() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await fixture.run(.coordinator, command) { running in
                #expect(try await running.waits { whole.count >= 2 })
                try running.send(Signal(rawValue: SIGTSTP))
                #expect(try await running.waits { !engines.isEmpty && engines.allSatisfy { $0 == "T" } })
                let before = segments.sorted()
                try await Task.sleep(for: .seconds(2))
                #expect(segments.sorted() == before)
                #expect(engines.allSatisfy { $0 == "T" })
                try running.send(.resume)
            }
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(!outcome.error.contains("tried again"), "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.framesDecoded == 480)
            try await fixture.expectExactlyReversed(fixture.path("long.mp4"), fixture.path("out.mov"))
            #expect(try await fixture.isQuiet())
        }

        @Test("if a batch is interrupted, its JSON names each job that had not ended")
        func interruptedBatch() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "a.mp4")
            _ = try fixture.copy(try await Clips.shared.wide(), as: "b.mp4")
            let batch = ["run", "a.mp4", "b.mp4", "--json", "--lossless", "--pass-frames", "40"]
            let outcome = try await fixture.run(.coordinator, batch) { running in
                // Both jobs have a folder, and the first one is at work.
                let isAtWork = try await running.waits {
                    jobs.contains { names(in: $0 + "/segments").contains { $0.hasSuffix(".nut.json") } }
                }
                #expect(isAtWork)
                try running.send(.interrupt)
            }
            #expect(outcome.code == 130, "\(outcome.error)")
            struct Line: Decodable {
                let id: String
                let error: Failure
                struct Failure: Decodable { let code: String }
            }
            let lines = try outcome.output.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            #expect(lines.map(\.error.code) == ["run-stopped", "run-stopped"])
            #expect(Set(lines.map(\.id)).isSuperset(of: names(in: fixture.path(".reel/jobs"))))
            #expect(Set(lines.map(\.id)).count == 2)
            #expect(try await fixture.isQuiet())
        }

        @Test("an attempt that is repeated is said as it happens")
        func repeatedAttempt() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await fixture.run(.coordinator, command) { _ in
                let isKilled = try await eventually { whole.count >= 1 && fixture.kill("reel-engine") }
                #expect(isKilled)
            }
            #expect(outcome.code == 0, "\(outcome.error)")
            let said = outcome.errorLines.filter { $0.contains(" is tried again, since at ") }
            #expect(said.count == 1, "\(outcome.error)")
            #expect(said.first?.contains("engine died of signal 9 (SIGKILL") == true, "\(outcome.error)")
            try await fixture.expectExactlyReversed(fixture.path("long.mp4"), fixture.path("out.mov"))
        }

        /// The states of the engines.
        private var engines: [String] { fixture.states(of: "reel-engine") }

        @Test("what an interrupted run keeps goes after a week, and only then")
        func old() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            _ = try await interrupt(by: .interrupt)
            let left = job
            let other = ["run", film, "--to", "0.5"]
            for (days, isKept) in [(6, true), (8, false)] {
                let used = Date(timeIntervalSinceNow: -Double(days) * 86_400)
                try FileManager.default.setAttributes([.modificationDate: used], ofItemAtPath: left + "/lock")
                let outcome = try await fixture.run(.coordinator, other + ["--overwrite"])
                #expect(outcome.code == 0, "\(outcome.error)")
                #expect(FileManager.default.fileExists(atPath: left) == isKept, "\(days) days")
            }
            #expect(!fixture.names.contains(".reel"))
        }

        @Test func controlC() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await interrupt(by: .interrupt)
            #expect(outcome.code == 130)
            #expect(outcome.output.hasPrefix("{\"error\":{\"code\":\"run-stopped\",\"exit\":130,"), "\(outcome.output)")
            let kept = /kept [0-9.]+ MiB in .*\/\.reel for the same command/
            #expect(outcome.error.contains(kept), "\(outcome.error)")
            #expect(outcome.errorLines.last?.contains("the same command goes on") == true)
            #expect(fixture.processes == [])
            #expect(fixture.names == [".reel", "long.mp4"])
            #expect(segments.allSatisfy { $0.hasSuffix(".nut") || $0.hasSuffix(".nut.json") })
            #expect(segments.count == 2 * whole.count)
            try await expectResumed()
        }

        @Test("a batch that is stopped keeps what is written, and goes on with the rest")
        func batch() async throws {
            _ = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let command = [
                "run", "film.mp4", "long.mp4", "--lossless", "--container", "mov", "--slots", "1", "--pass-frames",
                "40",
            ]
            let output = "film.reversed.mov"
            let stopped = try await fixture.run(.coordinator, command) { running in
                #expect(
                    try await running.waits {
                        let record = (try? String(contentsOfFile: job + "/job.json", encoding: .utf8)) ?? ""
                        return record.contains("long.mp4") && whole.count >= 2
                    })
                try running.send(.interrupt)
            }
            #expect(stopped.code == 130)
            let advice = "with --skip-existing the same command leaves out the videos"
            #expect(stopped.error.contains(advice), "\(stopped.error)")
            #expect(stopped.errorLines.last?.contains("the same command goes on") == true)
            #expect(fixture.names == [".reel", "film.mp4", output, "long.mp4"])
            let resumed = try await fixture.run(.coordinator, command + ["--skip-existing"])
            #expect(resumed.code == 0, "\(resumed.error)")
            #expect(resumed.error.contains("goes on where an earlier run of the same job stopped"), "\(resumed.error)")
            try await fixture.expectExactlyReversed(fixture.path("long.mp4"), fixture.path("long.reversed.mov"))
            #expect(fixture.names == ["film.mp4", output, "long.mp4", "long.reversed.mov"])
            #expect(try await fixture.isQuiet())
        }

        @Test("a source that is missing for a moment costs no finished work")
        func theSourceIsAway() async throws {
            let source = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await fixture.run(.coordinator, command) { running async throws in
                #expect(try await running.waits { whole.count >= 2 })
                rename(source, source + ".away")
            }
            #expect(outcome.code == 3)
            #expect(outcome.errorLines.last?.contains("the same command goes on") == true, "\(outcome.error)")
            rename(source + ".away", source)
            try await expectResumed()
        }

        @Test func killed() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await interrupt(by: .kill)
            #expect(outcome.code == 128 + 9)
            #expect(try await fixture.isQuiet())
            #expect(fixture.names.filter { $0.hasPrefix("tmp/reel-") } == [])
            #expect(!FileManager.default.fileExists(atPath: fixture.path("out.mov")))
            try await expectResumed()
        }

        /// The guard ends worker and Redis; if the guard is killed, the coordinator ends them.
        @Test func theGuardIsKilled() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let outcome = try await fixture.run(.coordinator, command) { running in
                let isUnderWay = try await running.waits { whole.count >= 2 }
                #expect(isUnderWay)
                // Two of them: the guard and the one that reads for it.
                while fixture.kill("/guard ") {}
            }
            #expect(outcome.code == 4)
            #expect(outcome.errorLines.last?.contains("the same command goes on") == true)
            #expect(try await fixture.isQuiet())
            #expect(fixture.names == [".reel", "long.mp4"])
            try await expectResumed()
        }

        @Test("an assembly that copies packets is killed and starts again")
        func copyingIsKilled() async throws {
            let source = fixture.path("source.nut")
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=24000/1001", "-frames:v", "240"]
                    + ["-c:v", "rawvideo", "-pix_fmt", "yuv420p", source])
            try #require(made.code == 0, "\(made.error)")
            let command = ["run", source, "-o", "out.nut"]
            let outcome = try await fixture.run(.coordinator, command) { running in
                let isUnderWay = try await running.waits { !names(in: job + "/assemblies").isEmpty }
                #expect(isUnderWay)
                // The worker, and the guard, whose arguments name it.
                while fixture.kill("reel-worker --redis") {}
            }
            #expect(outcome.code == 4)
            #expect(try await fixture.isQuiet())
            #expect(!names(in: job + "/assemblies").isEmpty && !jobFiles.contains("output.nut"))
            #expect(fixture.names == [".reel", "source.nut"])

            let again = try await fixture.run(.coordinator, command)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.error.contains("goes on where an earlier run of the same job stopped"))
            try await fixture.expectExactlyReversed(source, fixture.path("out.nut"))
            #expect(fixture.names == ["out.nut", "source.nut"])
        }

        @Test func aSecondRunOfTheSameJobIsTurnedAway() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let first = try await fixture.run(.coordinator, command) { running in
                #expect(try await running.waits { whole.count >= 1 })
                // It goes on no further while the other is turned away.
                #expect(fixture.kill("reel-engine", by: SIGSTOP))
                let second = try await fixture.run(.coordinator, command)
                #expect(second.code == 4)
                #expect(second.errorLines.count == 1)
                #expect(second.error.contains("pid "), "\(second.error)")
                try running.send(.interrupt)
            }
            #expect(first.code == 130)
            #expect(!whole.isEmpty)
            #expect(try await fixture.isQuiet())
        }

        @Test("a second Ctrl-C ends it at once, even while a system call hangs")
        func twice() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let waiting = try await fleet.startCoordinator(["submit", source, "--wait"])
                #expect(try await eventually { !fleet.jobs.isEmpty })
                let id = try #require(fleet.jobs.first)
                #expect(try await eventually { (try? fleet.sight(id).state) == "running" })
                // A Redis that neither answers nor refuses: its clients wait in poll(2).
                await fleet.redis?.send(SIGSTOP)
                try await Task.sleep(for: .seconds(2))
                waiting.send(SIGINT)
                try await Task.sleep(for: .milliseconds(500))
                #expect(waiting.isRunning, "the first cannot end it")
                let told = ContinuousClock.now
                waiting.send(SIGINT)
                #expect(try await waiting.outcome.code == 130)
                // Redis is given up after ten.
                #expect(ContinuousClock.now - told < .seconds(5))
                await fleet.redis?.send(SIGCONT)
            }
        }

        @Test("an interruption while Redis and worker start leaves neither running")
        func interruptedWhileStarting() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            for milliseconds in stride(from: 0, to: 60, by: Thoroughness.isAll ? 2 : 4) {
                let outcome = try await fixture.run(.coordinator, command) { running in
                    try await Task.sleep(for: .milliseconds(milliseconds))
                    try running.send(.interrupt)
                }
                #expect(outcome.code == 130, "after \(milliseconds) ms: \(outcome.error)")
            }
            #expect(try await fixture.isQuiet())
            #expect(fixture.names.filter { $0.hasPrefix("tmp/reel-") } == [])
        }

        @Test func forceStartsAgain() async throws {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            #expect(try await interrupt(by: .interrupt).code == 130)
            let outcome = try await fixture.run(.coordinator, command + ["--force"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.framesDecoded >= 480)
            try await fixture.expectExactlyReversed(fixture.path("long.mp4"), fixture.path("out.mov"))
        }
    }
}

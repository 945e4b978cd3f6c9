import Foundation
import Glibc
import ReelCore
import ReelEngine
import Subprocess
import Testing

extension EndToEnd {
    /// Confinement of engines, as the programs choose and show it. `AttackTests` shows what it prevents.
    @Suite struct SandboxTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// How engines are confined on this machine.
        private func state() async throws -> SandboxState {
            let host = EngineHost(executable: Program.folder + "/reel-engine")
            return try await host.withEngine(memory: nil, scope: .nothing) { $0.identity.sandbox }
        }

        private func oldKernel() async throws -> [String: String] { ["LD_PRELOAD": try await Clips.shared.oldKernel()] }

        @Test("an engine reads no source but its own")
        func ownSource() async throws {
            guard try await state().landlock > 0 else { return }
            let own = try fixture.copy(try await Clips.shared.film(), as: "own.mp4")
            let other = try fixture.copy(own, as: "other.mp4")
            try FileManager.default.createDirectory(atPath: fixture.path("d"), withIntermediateDirectories: false)
            let scope = EngineScope(sources: [.file(own)], reads: [], folders: [.file(fixture.path("d"))])
            let host = EngineHost(executable: Program.folder + "/reel-engine")
            try await host.withEngine(memory: nil, scope: scope) { engine in
                let index = Locator.file(fixture.path("d/index"))
                let failure = await #expect(throws: ReelFailure.self) {
                    try await engine.perform(.recon(ReconRequest(source: .file(other), index: index)))
                }
                #expect(failure?.reason == .sourceUnreadable(path: other, errno: EACCES, passes: false))
                _ = try await engine.perform(.recon(ReconRequest(source: .file(own), index: index)))
            }
        }

        @Test("what is required and missing is refused", arguments: ["run", "plan"])
        func required(command: String) async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let refused = try await fixture.run(
                .coordinator, [command, source, "--sandbox", "require"], environment: try await oldKernel())
            #expect(refused.code == 4)
            #expect(refused.error.contains("Landlock"), "\(refused.error)")
            let tried = try await fixture.run(.coordinator, [command, source], environment: try await oldKernel())
            #expect(tried.code == 0, "\(tried.error)")
            guard try await state().missing.isEmpty else { return }
            let confined = try await fixture.run(
                .coordinator, ["plan", source], environment: ["REEL_SANDBOX": "require"])
            #expect(confined.code == 0, "\(confined.error)")
            let wrong = try await fixture.run(.coordinator, ["plan", source], environment: ["REEL_SANDBOX": "yes"])
            #expect(wrong.code == 2)
        }

        @Test("a worker that cannot confine its engines as required ends")
        func worker() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let environment = fleet.environment(as: "reel-worker").merging(try await oldKernel()) { $1 }
                let outcome = try await fixture.run(.worker, ["--sandbox", "require"], environment: environment)
                #expect(outcome.code == 4)
                #expect(outcome.error.contains("Landlock"), "\(outcome.error)")
            }
        }

        /// A process in a session of its own is not in the engine's group, and its parent has ended.
        @Test("what an engine leaves behind ends with it")
        func orphans() async throws {
            let programs = fixture.path("programs")
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
            for name in ["reel-coordinator", "reel-worker"] {
                try FileManager.default.copyItem(atPath: "\(Program.folder)/\(name)", toPath: "\(programs)/\(name)")
            }
            let script = """
                #!/bin/sh
                read -r confinement
                setsid sh -c 'sleep 1000 & echo $! > "$TMPDIR/../orphan"'
                kill -SEGV $$
                """
            try script.write(toFile: programs + "/reel-engine", atomically: false, encoding: .utf8)
            chmod(programs + "/reel-engine", 0o755)
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(.at(programs + "/reel-coordinator"), ["plan", source])
            #expect(outcome.code == 4)
            #expect(outcome.error.contains("SIGSEGV"), "\(outcome.error)")
            let text = try String(contentsOfFile: fixture.path("orphan"), encoding: .utf8)
            let orphan = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(kill(orphan, 0) == -1 && errno == ESRCH)
        }

        /// The kernel gives such a process's files in /proc to root.
        @Test("other processes of its user cannot read a worker's memory and environment", .enabled(if: getuid() == 0))
        func closedMemory() async throws {
            let nobody: uid_t = 65534
            for name in ["store", "tmp"] {
                try FileManager.default.createDirectory(atPath: fixture.path(name), withIntermediateDirectories: true)
                chmod(fixture.path(name), 0o777)
            }
            let made = try await fixture.run(.coordinator, ["init", "--store", fixture.path("store")])
            try #require(made.code == 0, "\(made.error)")
            let command = ["--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", Program.folder + "/reel-worker"]
            try await fixture.run(
                .at("/usr/bin/setpriv"), command + ["--redis", "redis://127.0.0.1:1", "--store", fixture.path("store")]
            ) { running in
                #expect(
                    try await running.waits {
                        var status = stat()
                        let name = try? String(contentsOfFile: "/proc/\(running.pid)/comm", encoding: .utf8)
                        return name == "reel-worker\n" && stat("/proc/\(running.pid)/environ", &status) == 0
                            && status.st_uid == 0
                    })
                try running.send(.kill)
            }
        }

        @Test("a job whose source lies outside a worker's roots says so, and others are done")
        func sourceRoots() async throws {
            let film = try await Clips.shared.crowd(frames: 60, size: "320x240")
            for name in ["films", "private"] {
                try FileManager.default.createDirectory(atPath: fixture.path(name), withIntermediateDirectories: false)
            }
            let outside = try fixture.copy(film, as: "private/outside.mov")
            let inside = try fixture.copy(film, as: "films/inside.mov")
            let link = fixture.path("films/link.mov")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: outside)
            try await Fleet.with(fixture, workers: 0) { fleet in
                // Different options make different jobs of the same bytes.
                let jobs = [
                    try await fleet.submit([outside, "--lossless", "--to", "1"]),
                    try await fleet.submit([link, "--lossless", "--to", "1.5"]),
                    try await fleet.submit([inside, "--lossless"]),
                    try await fleet.submit([outside, "--stage", "--lossless", "--from", "1"]),
                ]
                let root = fixture.path("films")
                for refused in [outside, link] {
                    let outcome = try await fleet.coordinator(["submit", refused, "--source-root", root])
                    #expect(outcome.code == 3)
                    #expect(outcome.error.contains("\(refused) lies outside the folders"), "\(outcome.error)")
                }
                try await fleet.startWorker(arguments: ["--source-root", root])
                for (job, state) in zip(jobs, ["failed", "failed", "done", "done"]) {
                    #expect(try await eventually { try fleet.sight(job).state == state })
                }
                let told = try await fleet.coordinator(["status", jobs[1]]).output
                #expect(told.contains("\(link) lies outside the folders from which sources are taken"), "\(told)")
                #expect(try await fleet.job(jobs[1]).failures.isEmpty)
                #expect(try await fleet.listedWorkers().first?.sourceRoots == [root])
                #expect(try await fleet.coordinator(["workers"]).output.contains("sources from \(root)"))
                let missing = try await fixture.run(
                    .worker, ["--source-root", fixture.path("none")], environment: fleet.environment(as: "reel-worker"))
                #expect(missing.code == 4)
                #expect(missing.error.contains("sources cannot be taken from"), "\(missing.error)")
            }
        }

        @Test(
            "a pass that takes more than a worker allows ends the job there, with the quota as its reason",
            arguments: [
                (["--max-frames", "59"], "the output has 60 frames, and at most 59 are allowed here"),
                (["--max-output", "128KiB"], "a file takes more than 128 KiB"),
                (["--max-pass-cpu", "1"], "a pass took more than 1 s of CPU time"),
                (["--max-pass-time", "4"], "a pass took longer than 4 s"),
                (["--max-job-cpu", "1"], "the job took more than 1 s of CPU time"),
                (["--max-job-time", "4"], "the job took longer than 4 s"),
            ])
        func quotas(options: [String], reason: String) async throws {
            // Limits of time need a pass that is slow on every machine, the others one that is not.
            let isTimed = options[0].hasSuffix("-cpu") || options[0].hasSuffix("-time")
            let frames = isTimed ? 480 : 60
            let film = try await Clips.shared.crowd(frames: frames, size: "1280x720")
            let source = try fixture.copy(film, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let large = try await fleet.submit([
                    source, "--video-codec", "hevc", "--preset", isTimed ? "veryslow" : "ultrafast",
                    "--pass-frames", "\(frames)",
                ])
                try await fleet.startWorker(arguments: options)
                #expect(try await eventually { try fleet.sight(large).state == "failed" })
                let told = try await fleet.coordinator(["status", large]).output
                #expect(told.contains(reason), "\(told)")
                #expect(try await fleet.job(large).failures.isEmpty)
                // The worker is well.
                let small = try await fleet.submit([source, "--to", "0.2", "--size", "64x36", "--audio", "none"])
                #expect(try await eventually { try fleet.sight(small).state == "done" })
            }
        }

        @Test("submit and plan refuse what asks for more than their quotas, and plan shows them")
        func refusedByQuota() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let shown = try await fixture.run(
                .coordinator, ["plan", source, "--max-frames", "100000", "--max-tracks", "8"])
            #expect(shown.code == 0)
            #expect(shown.output.contains(/quotas   frames \d+ of 100000, tracks \d of 8/), "\(shown.output)")
            for option in ["--max-pixels", "--max-duration", "--max-frames"] {
                let refused = try await fixture.run(.coordinator, ["plan", source, option, "1"])
                #expect(refused.code == 3)
                #expect(refused.error.contains(/at most 1 (s )?(is|are) allowed here/), "\(refused.error)")
                #expect(try await fixture.run(.coordinator, ["plan", source, option, "0"]).code == 2)
            }
            try await Fleet.with(fixture, workers: 0) { fleet in
                let refused = try await fleet.coordinator(["submit", source, "--max-frames", "1"])
                #expect(refused.code == 3)
                #expect(refused.error.contains("at most 1 are allowed here"), "\(refused.error)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.store + "/jobs").isEmpty)
            }
        }

        @Test("the address of Redis comes from a file that only its owner and its group may read")
        func addressFile() async throws {
            let file = fixture.path("redis")
            func said(mode: mode_t) async throws -> String {
                chmod(file, mode)
                let outcome = try await fixture.run(
                    .coordinator, ["workers"],
                    environment: ["REEL_REDIS_FILE": file, "REEL_REDIS": "redis://127.0.0.1:2"])
                #expect(outcome.code == 4)
                return outcome.error
            }
            #expect(try await said(mode: 0o600).contains("No such file"))
            try "redis://127.0.0.1:1\n".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(try await said(mode: 0o600).contains("redis://127.0.0.1:1:"))
            #expect(try await said(mode: 0o640).contains("redis://127.0.0.1:1:"))
            for mode: mode_t in [0o644, 0o660] { #expect(try await said(mode: mode).contains("must be secret")) }
        }

        @Test("workers, status and the log say how engines are confined")
        func shown() async throws {
            let state = try await state()
            let clip = try await Clips.shared.crowd(frames: 240, size: "640x360")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 1) { fleet in
                #expect(try await eventually { try await fleet.listedWorkers().first?.sandbox == state })
                let id = try await fleet.submit([source, "--video-codec", "hevc", "--preset", "veryslow"])
                #expect(
                    try await eventually {
                        let outcome = try await fleet.coordinator(["status", id])
                        return outcome.output.contains("engines   ") && outcome.output.contains("confined")
                    })
            }
        }
    }
}

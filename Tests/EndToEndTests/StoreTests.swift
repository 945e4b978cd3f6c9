import Foundation
import Glibc
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Board and store belong together, and a store is its group's.
    @Suite struct StoreTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("a worker with another store ends at once, naming both; one with nothing mounted does, too")
        func anotherStore() async throws {
            try await Fleet.with(fixture, workers: 1) { fleet in
                #expect(try await eventually { FileManager.default.fileExists(atPath: fleet.store + "/store.json") })
                let asWorker = ["--redis", fleet.address(as: "reel-worker")]
                let asCoordinator = ["--redis", fleet.address(as: "reel-coordinator")]
                #expect(try await eventually { try await fleet.coordinator(["workers"]).output.contains("slots") })
                for (name, says) in [("other", "belongs to store"), ("empty", "is empty")] {
                    let folder = fixture.path(name)
                    if name == "empty" {
                        mkdir(folder, 0o777)
                    } else {
                        let made = try await fixture.run(.coordinator, ["init", "--store", folder])
                        #expect(made.code == 0, "\(made.error)")
                        #expect(made.output.count == 17)
                    }
                    let refused = try await fixture.run(.worker, asWorker + ["--store", folder])
                    #expect(refused.code == 4)
                    #expect(refused.error.contains(says) && refused.error.contains(folder), "\(refused.error)")
                    let recovering = try await fixture.run(
                        .coordinator, ["recover", "--store", folder] + asCoordinator)
                    #expect(recovering.code == 4)
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "store.json" } == [])
                }
                // A board that has lost everything takes the store that it is recovered from.
                try RawRedis(socket: fleet.socket)("FLUSHALL")
                #expect(try await fleet.coordinator(["recover"]).code == 0)
                let other = try await fixture.run(.worker, asWorker + ["--store", fixture.path("other")])
                #expect(other.code == 4)
            }
        }

        @Test("an empty folder is no store, also for a board that belongs to none: its file system may not be mounted")
        func notMounted() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try RawRedis(socket: fleet.socket)("FLUSHALL")
                let empty = fixture.path("empty")
                mkdir(empty, 0o777)
                for (program, user, command) in [
                    (Program.worker, "reel-worker", []), (.coordinator, "reel-coordinator", ["recover"]),
                ] {
                    let refused = try await fixture.run(
                        program, command + ["--redis", fleet.address(as: user), "--store", empty])
                    #expect(refused.code == 4)
                    #expect(refused.error.contains("there is no store at \(empty)"), "\(refused.error)")
                    #expect(refused.error.contains("reel-coordinator init makes one"), "\(refused.error)")
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])
            }
        }

        @Test("a user that may not load the board's functions gets advice, and init prepares the board")
        func preparesABoard() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let admin = try RawRedis(socket: fleet.socket)
                try admin("FUNCTION", "FLUSH")
                let place = ["--store", fleet.store]
                #expect(try await fixture.run(.coordinator, ["init"] + place).code == 0)
                let asWorker = place + ["--redis", fleet.address(as: "reel-worker")]
                let recovering = ["recover"] + place + ["--redis", fleet.address(as: "reel-coordinator")]
                for (program, arguments) in [(Program.worker, asWorker), (.coordinator, recovering)] {
                    let refused = try await fixture.run(program, arguments)
                    #expect(refused.code == 4)
                    #expect(refused.error.contains("reel-coordinator init"), "\(refused.error)")
                }
                let prepared = try await fixture.run(
                    .coordinator, ["init", "--redis", fleet.address(as: "reel-admin")])
                #expect(prepared.code == 0 && prepared.output == "", "\(prepared.error)")
                #expect(try await fixture.run(.coordinator, recovering).code == 0)
                #expect(try await fixture.run(.coordinator, ["init"]).code == 2)
            }
        }

        @Test(
            "the group's workers can work for every submitter of the group, whatever the umask",
            .enabled(if: geteuid() == 0, "only root can start programs as two users"))
        func sharedByAGroup() async throws {
            let (submitter, worker, group) = (4242, 4243, 4250)
            let program = Program.folder
            func command(_ user: Int, _ mask: String, _ arguments: String) -> [String] {
                [
                    "--reuid", "\(user)", "--regid", "\(user)", "--groups", "\(user),\(group)", "/bin/sh", "-c",
                    "umask \(mask); exec \(program)/\(arguments)",
                ]
            }
            chmod(fixture.path("tmp"), 0o1777)
            let clip = try await Clips.shared.film()
            let source = try fixture.copy(clip, as: "film.mp4")
            chmod(source, 0o640)
            chown(source, uid_t(submitter), gid_t(submitter))
            try await Fleet.with(fixture, workers: 0) { fleet in
                chmod(fixture.path("redis"), 0o755)
                chmod(fleet.socket, 0o777)
                chown(fleet.store, uid_t(worker), gid_t(group))
                chmod(fleet.store, 0o2770)
                let store = "--store \(fleet.store)"
                let asWorker = "--redis \(fleet.address(as: "reel-worker")) \(store)"
                let asCoordinator = "--redis \(fleet.address(as: "reel-coordinator")) \(store)"
                let submitted = try await fixture.run(
                    .at("/usr/bin/setpriv"),
                    command(submitter, "077", "reel-coordinator submit \(source) --stage --to 1 \(asCoordinator)"))
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                #expect(try mode("\(fleet.folder(id))/source/film.mp4") == 0o640)
                let working = try await fixture.start(
                    .at("/usr/bin/setpriv"), command(worker, "077", "reel-worker --slots 1 \(asWorker)"))
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                for name in ["job.json", "output.mp4", "plan.1.json"] {
                    #expect(try mode("\(fleet.folder(id))/\(name)") & 0o060 == 0o060, "\(name)")
                }
                let output = fixture.path("tmp/out.mp4")
                let fetched = try await fixture.run(
                    .at("/usr/bin/setpriv"),
                    command(submitter, "027", "reel-coordinator fetch \(id) -o \(output) \(store)"))
                #expect(fetched.code == 0, "\(fetched.error)")
                #expect(try mode(output) == 0o640, "the user's own umask decides outside of the store")
                let removed = try await fixture.run(
                    .at("/usr/bin/setpriv"), command(submitter, "077", "reel-coordinator remove \(id) \(asCoordinator)")
                )
                #expect(removed.code == 0, "\(removed.error)")
                #expect(fleet.jobs == [])
                working.send(SIGTERM)
                _ = try await working.outcome
                try FileManager.default.removeItem(atPath: output)
            }
        }

        @Test(
            "a worker that may write in no job's folder ends at once, and says which",
            .enabled(if: geteuid() == 0, "only root can start programs as another user"))
        func foldersOfAnotherUser() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            chmod(fixture.path("tmp"), 0o1777)
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source])
                chmod(fixture.path("redis"), 0o755)
                chmod(fleet.socket, 0o777)
                chmod(fleet.store, 0o777)
                for folder in [fleet.store + "/jobs", fleet.folder(id)] { chmod(folder, 0o755) }
                for file in [fleet.store + "/store.json", fleet.folder(id) + "/job.json"] { chmod(file, 0o644) }
                let address = "--redis \(fleet.address(as: "reel-worker")) --store \(fleet.store)"
                let outcome = try await fixture.run(
                    .at("/usr/bin/setpriv"),
                    [
                        "--reuid", "4243", "--regid", "4243", "--clear-groups", "/bin/sh", "-c",
                        "exec \(Program.folder)/reel-worker --slots 1 \(address)",
                    ])
                #expect(outcome.code == 4)
                #expect(outcome.error.contains(fleet.folder(id)), "\(outcome.error)")
                #expect(outcome.error.contains("Permission denied"), "\(outcome.error)")
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "done" })
            }
        }

        @Test("a worker whose Redis user may not work ends at once, in one line")
        func anotherUsersPassword() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let outcome = try await fixture.run(
                    .worker, ["--redis", fleet.address(as: "reel-coordinator"), "--store", fleet.store])
                #expect(outcome.code == 4)
                #expect(outcome.errorLines.count == 1, "\(outcome.error)")
                #expect(outcome.error.contains("refuses") && outcome.error.contains("NOPERM"), "\(outcome.error)")
            }
        }

        private func mode(_ path: String) throws -> Int {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
        }
    }
}

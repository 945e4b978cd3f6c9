import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// A later delivery gives the verified file.
    @Suite struct ResultTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private struct Result: Decodable {
            var output: String
            var outputBytes: Int64
            var outputSha256: String
        }

        private func result(_ outcome: Outcome) throws -> Result {
            try #require(outcome.code == 0, "\(outcome.error)")
            let line = try #require(outcome.output.split(whereSeparator: \.isNewline).last)
            return try JSONDecoder().decode(Result.self, from: Data(line.utf8))
        }

        private func sum(_ path: String) async throws -> String {
            let outcome = try await fixture.run(.at("/usr/bin/sha256sum"), [path])
            return String(outcome.output.prefix(64))
        }

        @Test("size and hash of the output are kept, shown, and compared at every delivery")
        func hashes() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let ran = try result(try await fixture.run(.coordinator, ["run", source, "-o", "ran.mp4", "--json"]))
            #expect(ran.outputSha256 == (try await sum(fixture.path("ran.mp4"))))
            try await Fleet.with(fixture, workers: 1) { fleet in
                let options = [source, "--to", "2", "-o", fixture.path("out.mp4"), "--wait", "--json"]
                let submitted = try await fleet.coordinator(["submit"] + options)
                let made = try result(submitted)
                #expect(made.output == fixture.path("out.mp4"))
                #expect(made.outputSha256 == (try await sum(made.output)))
                let id = try #require(fleet.jobs.first)
                #expect(
                    try result(try await fleet.coordinator(["status", id, "--json"])).outputBytes == made.outputBytes)
                for arguments in [[id], [id, "--file", made.output]] {
                    let verified = try await fleet.coordinator(["verify"] + arguments)
                    #expect(verified.code == 0, "\(verified.error)")
                    #expect(verified.error.contains(made.outputSha256))
                }

                // A disk that gives other bytes than it was given.
                let stored = "\(fleet.folder(id))/output.mp4"
                let file = try #require(FileHandle(forUpdatingAtPath: stored))
                try file.seek(toOffset: UInt64(made.outputBytes / 2))
                try file.write(contentsOf: [0x55, 0xAA, 0x55])
                try file.close()
                for command in [["fetch", id, "-o", fixture.path("new.mp4")], ["verify", id]] {
                    let refused = try await fleet.coordinator(command)
                    #expect(refused.code == 1)
                    #expect(refused.error.contains("SHA-256") && refused.error.contains("--force"), "\(refused.error)")
                }
                #expect(try await fleet.coordinator(["verify", id, "--file", made.output]).code == 0)

                // Pipes and links are not read at all.
                for place in [{ mkfifo(stored, 0o666) }, { symlink("/dev/zero", stored) }] as [@Sendable () -> Int32] {
                    remove(stored)
                    #expect(place() == 0)
                    let fetching = try await fleet.startCoordinator(["fetch", id, "-o", fixture.path("new.mp4")])
                    #expect(try await eventually { !fetching.isRunning })
                    fetching.send(SIGKILL)
                    #expect(try await fetching.outcome.code == 4)
                }
                #expect(!fixture.names.contains("new.mp4"))
            }
        }
    }

    /// `run` in a folder in which others may write, too: as two real users, so it needs root.
    @Suite(.enabled(if: geteuid() == 0, "only root can start programs as two users"))
    struct SharedFolderTests {
        private let fixture: ProcessFixture

        init() throws {
            fixture = try ProcessFixture()
            chmod(fixture.path("tmp"), 0o1777)
            mkdir(fixture.path("pub"), 0o777)
        }

        private func run(as user: Int, _ arguments: [String]) async throws -> Outcome {
            let program = Program.folder + "/reel-coordinator"
            return try await fixture.run(
                .at("/usr/bin/setpriv"),
                ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", program] + arguments)
        }

        private func entry(_ path: String) -> stat {
            var status = stat()
            lstat(path, &status)
            return status
        }

        @Test("another user's .reel is neither used nor followed", arguments: [0o777, 0o1777])
        func foreign(mode: Int) async throws {
            chmod(fixture.path("pub"), mode_t(mode))
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            chmod(source, 0o644)
            // A folder as an attacker would prepare it.
            for folder in ["pub/.reel", "pub/.reel/jobs", "pub/.reel/sources"] {
                mkdir(fixture.path(folder), 0o777)
                chmod(fixture.path(folder), 0o777)
                chown(fixture.path(folder), 5555, 5555)
            }
            let outcome = try await run(as: 4242, ["run", source, "-o", fixture.path("pub/out.mp4"), "--to", "1"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let made = entry(fixture.path("pub/out.mp4"))
            #expect(made.st_mode & S_IFMT == S_IFREG && made.st_uid == 4242 && made.st_nlink == 1)
            let left = try FileManager.default.subpathsOfDirectory(atPath: fixture.path("pub")).sorted()
            #expect(left == [".reel", ".reel/jobs", ".reel/sources", "out.mp4"])
        }

        @Test("files of one user's interrupted run do not keep another user from running")
        func leftover() async throws {
            chmod(fixture.path("pub"), 0o1777)
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            chmod(source, 0o644)
            mkdir(fixture.path("pub/.reel"), 0o755)
            let outcome = try await run(as: 4242, ["run", source, "-o", fixture.path("pub/out.mp4"), "--to", "1"])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(entry(fixture.path("pub/.reel")).st_uid == 0)
        }
    }
}

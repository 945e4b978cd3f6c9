import Foundation
import ReelCore
import Testing

extension EndToEnd {
    /// What scripts/install puts where, and that it works there.
    @Suite(
        .enabled(if: isRelease, "scripts/install takes the programs of a release build"),
        .enabled(if: hasTools, "scripts/setup jq patchelf man installs what this needs"))
    struct InstallTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func install(_ arguments: String...) async throws {
            let outcome = try await fixture.run(
                .at(root + "/scripts/install"), arguments, environment: ["DESTDIR": fixture.path("root")])
            try #require(outcome.code == 0, "\(outcome.error)")
        }

        private func text(_ name: String) throws -> String {
            try String(contentsOfFile: fixture.path("root/" + name), encoding: .utf8)
        }

        @Test(
            "installed programs run, with the libraries beside them, and the settings of an earlier installation are kept"
        )
        func everything() async throws {
            try await install("--prefix", "/opt/reel")
            let programs = fixture.path("root/opt/reel/bin")
            for program in ["reel", "reel-coordinator", "reel-worker", "reel-engine", "reel-server"] {
                let outcome = try await fixture.run(.at("\(programs)/\(program)"), ["--version"])
                #expect(outcome.code == 0 && outcome.output == Release.version + "\n", "\(outcome.error)")
                let libraries = try await fixture.run(.at("/usr/bin/ldd"), ["\(programs)/\(program)"]).output
                    .split(separator: "\n").filter { $0.contains("swift") || $0.contains("Foundation") }
                #expect(libraries.count > 3)
                for library in libraries {
                    #expect(library.contains(" => \(programs)/../lib/reel/"), "\(library)")
                }
            }
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let run = try await fixture.run(.at(programs + "/reel"), ["run", source, "-o", "out.mov", "--lossless"])
            #expect(run.code == 0, "\(run.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))

            let unit = try text("opt/reel/lib/systemd/system/reel-worker.service").split(separator: "\n")
            #expect(unit.contains("ExecStart=/opt/reel/bin/reel-worker $REEL_WORKER_OPTIONS"))
            #expect(unit.contains("EnvironmentFile=/opt/reel/etc/reel/worker.env"))
            #expect(unit.contains("LoadCredential=redis:/opt/reel/etc/reel/redis"))
            #expect(try text("opt/reel/lib/sysusers.d/reel.conf").contains("\nu reel - "))
            #expect(try text("opt/reel/lib/tmpfiles.d/reel.conf").contains("\nd /srv/reel 2770 reel reel -"))
            // As deploy/README.md names them.
            for file in ["redis.conf", "redis-users.acl", "nginx/reel.conf", "prometheus/rules.yml"] {
                #expect(
                    try text("opt/reel/share/reel/deploy/\(file)")
                        == String(contentsOfFile: Fleet.deploy.path + "/\(file)", encoding: .utf8))
            }
            let completions = try text("opt/reel/share/bash-completion/completions/reel")
            #expect(completions.hasSuffix("\ncomplete -o filenames -F _reel-coordinator reel\n"))
            #expect(
                try text("opt/reel/share/zsh/site-functions/_reel-coordinator").hasPrefix(
                    "#compdef reel-coordinator reel\n"))

            let settings = fixture.path("root/opt/reel/etc/reel/worker.env")
            try "REEL_STORE=/mnt\n".write(toFile: settings, atomically: true, encoding: .utf8)
            try await install("--prefix", "/opt/reel")
            #expect(try text("opt/reel/etc/reel/worker.env") == "REEL_STORE=/mnt\n")
        }

        @Test("below /usr/local settings are in /etc, and every command has a manual page with what its help says")
        func manual() async throws {
            try await install()
            #expect(
                try text("usr/local/lib/systemd/system/reel-worker.service").contains(
                    "\nEnvironmentFile=/etc/reel/worker.env\n"))
            #expect(try text("etc/reel/worker.env").contains("\nREEL_STORE=/srv/reel\n"))
            let folder = fixture.path("root/usr/local/share/man/man1")
            let pages = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let commands = [
                "cancel", "drain", "fetch", "init", "pause", "plan", "queue", "recover", "remove", "resume", "retry",
                "run", "status", "submit", "ui", "undrain", "verify", "wait", "weigh", "workers",
            ]
            let programs = [
                "reel-coordinator", "reel-engine", "reel-worker", "reel", "reel-server", "reel-server-serve",
                "reel-server-token",
            ]
            #expect(pages == (programs + commands.map { "reel-coordinator-" + $0 }).map { $0 + ".1" }.sorted())
            for page in pages {
                let shown = try await fixture.run(
                    .at("/usr/bin/man"), ["--warnings", "--local-file", "\(folder)/\(page)"],
                    environment: ["MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-c", "MANPAGER": "cat"])
                #expect(shown.code == 0 && shown.error == "", "\(page): \(shown.error)")
                #expect(shown.output.contains("NAME\n") && shown.output.contains("OPTIONS\n"), "\(page)")
            }
            let run = try text("usr/local/share/man/man1/reel-coordinator-run.1")
            for section in ["EXAMPLES", "VIDEO ENCODERS", "AUDIO ENCODERS", "CONTAINERS", "ENVIRONMENT", "EXIT STATUS"]
            {
                #expect(run.contains("\n.SH \(section)\n.nf\n"), "\(section)")
            }
            #expect(run.contains("\n130  interrupted; the same command resumes\n"))
        }
    }
}

private let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path(percentEncoded: false)

private let hasTools = ["jq", "patchelf", "man"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
}

/// Whether the programs under test are those of .build/release.
private let isRelease =
    Program.folder
    == URL(filePath: root + "/.build/release").resolvingSymlinksInPath().path(percentEncoded: false)
    .replacing(/\/$/, with: "")

extension EndToEnd {
    /// All programs are of one release, the newest that CHANGELOG.md dates.
    @Suite struct VersionTests {
        @Test(arguments: ["reel-coordinator", "reel-worker", "reel-engine"])
        func everyProgramPrintsIt(program: String) async throws {
            let fixture = try ProcessFixture()
            let outcome = try await fixture.run(.at("\(Program.folder)/\(program)"), ["--version"])
            #expect(outcome.code == 0)
            #expect(outcome.output == Release.version + "\n")
            #expect(outcome.error.isEmpty)
        }

        @Test func theChangelogHasTheRelease() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let text = try String(contentsOf: root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
            let newest = try #require(text.firstMatch(of: /## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}/))
            #expect(newest.1 == Release.version)
        }
    }
}

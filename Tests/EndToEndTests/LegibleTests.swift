import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Text from a file reaches neither a terminal nor a log unescaped.
    @Suite struct LegibleTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Colours, a title of the window, another direction, lines of one's own.
        private static let evil = "x\u{1B}[31m\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}\u{2028}\u{2066}y"
        private static let forged = "2026-01-01T00:00:00+0000 critical reel-worker: forged"

        /// Lines that hold what must not be shown, or that a file wrote.
        private func found(in outcome: Outcome) -> [String] {
            (outcome.output + outcome.error).split(separator: "\n").map(String.init).filter { line in
                line.hasPrefix(Self.forged)
                    || line.unicodeScalars.contains { scalar in
                        switch scalar.properties.generalCategory {
                        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: true
                        default: false
                        }
                    }
            }
        }

        private func hostile() async throws -> String {
            let (text, attached) = (fixture.path("in.srt"), fixture.path("in.txt"))
            try "1\n00:00:00,000 --> 00:00:01,000\nhello\n".write(toFile: text, atomically: true, encoding: .utf8)
            try "attached".write(toFile: attached, atomically: true, encoding: .utf8)
            let path = fixture.path("film\(Self.evil)\n\(Self.forged)\n.mkv")
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-i", try await Clips.shared.film(), "-i", text, "-map", "0", "-map", "1"]
                    + ["-c:v", "copy", "-c:a", "copy", "-c:s", "subrip", "-attach", attached]
                    + ["-metadata:s:t", "mimetype=text/plain", "-metadata:s:t", "filename=\(Self.evil).txt"]
                    + ["-metadata:s:a", "title=\(Self.evil)", "-metadata:s:a", "language=\(Self.evil)"]
                    + ["-metadata:s:s", "title=\(Self.evil)", "-metadata:s:s", "language=\(Self.evil)"]
                    + ["-metadata", "title=\(Self.evil)", "file:" + path])
            try #require(made.code == 0, "\(made.error)")
            return path
        }

        @Test("commands and logs make text from files and file names legible")
        func everyCommand() async throws {
            let source = try await hostile()
            try await Fleet.with(fixture, workers: 1) { fleet in
                func expectLegible(_ arguments: [String], code: Int) async throws {
                    for flags in [[], ["--json"]] {
                        let outcome = try await fleet.coordinator(arguments + flags)
                        #expect(found(in: outcome) == [], "\(arguments + flags)")
                        guard outcome.code != 2 || code == 2 else { continue }
                        #expect(outcome.code == code, "\(arguments + flags): \(outcome.error)")
                    }
                }
                try await expectLegible(["plan", source], code: 0)
                try await expectLegible(["plan", source + "\u{1B}[2J"], code: 3)
                // Its name is printed when its turn comes: in the board's list and in the worker's log.
                let staged = ["submit", source, "--to", "1", "--video-codec", "libx264"]
                try await expectLegible(staged, code: 0)
                let id = try #require(fleet.jobs.first)
                try await expectLegible(
                    ["submit", source, "--to", "1", "--video-codec", "libx264", "--wait", "--overwrite"], code: 0)
                try await expectLegible(["status"], code: 0)
                try await expectLegible(["status", id], code: 0)
                try await expectLegible(["queue"], code: 0)
                try await expectLegible(["workers"], code: 0)
                try await expectLegible(["verify", id], code: 0)
                try await expectLegible(["verify", id, "--file", source], code: 1)
                try await expectLegible(["fetch", id, "-o", source], code: 5)

                // A job whose source goes away: failures, excluded hosts, warnings, and the worker's log name it.
                let worker = try #require(await fleet.workers.first)
                worker.send(SIGSTOP)
                let lost = try await fleet.submit([source, "--to", "2", "--video-codec", "libx264"])
                try FileManager.default.removeItem(atPath: source)
                worker.send(SIGCONT)
                #expect(
                    try await eventually { try await fleet.coordinator(["status", lost]).output.contains("failed") })
                try await expectLegible(["status", lost], code: 0)
                try await expectLegible(["status"], code: 0)
                try await expectLegible(["queue"], code: 0)
                for worker in try await fleet.endWorkers() {
                    #expect(found(in: worker) == [])
                    #expect(worker.error.contains("film"), "the log names the file")
                }
            }
        }
    }

    @Suite struct StandardOutputTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func shell(_ script: String) async throws -> Outcome {
            try await fixture.run(.at("/bin/sh"), ["-c", script, "sh", Program.folder + "/reel-coordinator"])
        }

        @Test("a full disk behind standard output is an error, a reader that has gone is not")
        func writing() async throws {
            let full = try await shell(#""$1" --help > /dev/full"#)
            #expect(full.code == 5)
            #expect(full.error.contains("No space left"), "\(full.error)")
            let gone = try await shell(#"("$1" --help; echo $? > code) | true; cat code"#)
            #expect(gone.error == "")
        }

        @Test("a name that is not UTF-8 is refused")
        func bytes() async throws {
            let outcome = try await shell(#"exec "$1" plan "$(printf 'bad\377\376.mp4')""#)
            #expect(outcome.code == 2)
            #expect(outcome.error.contains(#"bad\xFF\xFE.mp4 is not UTF-8"#), "\(outcome.error)")
        }
    }
}

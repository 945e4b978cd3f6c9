import Foundation
import Testing

extension EndToEnd {
    /// What people see on a real terminal, which script(1) makes, and what its keys do.
    @Suite struct TerminalTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// What a command writes on a terminal of that many columns and 20 rows.
        ///
        /// - Parameter keys: a shell's command whose output is typed. Its function `seen TEXT` waits until the text is written to
        ///   the terminal, after the one that it waited for before.
        private func screen(
            _ command: String, columns: Int, keys: String = "sleep 600", _ environment: [String: String] = [:]
        ) async throws -> Outcome {
            let (script, folder) = (fixture.path("command"), Program.folder)
            try "PATH=\(folder):$PATH\nstty columns \(columns) rows 20\n\(command)\n".write(
                toFile: script, atomically: true, encoding: .utf8)
            let seen =
                "from=0; seen() { for _ in {1..1800}; do tail -c +$((from + 1)) typescript 2>/dev/null | grep -aqF -- \"$1\" "
                + "&& break; sleep 0.1; done; from=$(stat -c %s typescript); }"
            // What types ends with the command, whose exit code script hands on.
            let typed =
                "\(seen); exec 3< <(\(keys)); script --flush --quiet --return --command 'bash \(script)' typescript <&3; code=$?; "
                + "kill $! 2>/dev/null; exit $code"
            return try await fixture.run(
                .at("/bin/bash"), ["-c", typed],
                environment: environment.merging(["TERM": "xterm", "LC_ALL": "C.UTF-8"]) { $1 })
        }

        /// The texts between two movements of the cursor, without styles.
        private func texts(_ output: String) -> [String] {
            output.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "\n").split(whereSeparator: \.isNewline)
                .map(String.init)
        }

        @Test(
            "the bar of run moves, fits the terminal, and is gone at the end",
            arguments: [120, 30])
        func bar(columns: Int) async throws {
            _ = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            let outcome = try await screen(
                "reel-coordinator run wide.mp4 -o out.mp4 --to 120f --pass-frames 120 --preset slow --slots 1 --threads 1",
                columns: columns)
            #expect(outcome.code == 0, "\(outcome.output)")
            let lines = texts(outcome.output)
            let bars = lines.filter { $0.contains("%") }
            #expect(bars.allSatisfy { $0.count <= columns })
            #expect(
                columns < 120
                    || bars.contains { $0.hasPrefix("[#") && $0.contains("/120 frames") && $0.contains("ETA") })
            #expect(Set(bars).count > 5, "\(bars)")
            #expect(lines.last?.hasPrefix("reel-coordinator: wrote ") == true || columns < 120, "\(lines.suffix(3))")
            #expect(
                outcome.output.replacing("\r\n", with: "").contains(
                    "wrote \(fixture.path("out.mp4")): 120 frames in "))
        }

        /// Chooses the first job of a list, shows it, goes back, and ends the command; each when the screen shows the step before.
        private func arrowEnterEscQ(list: String) -> String {
            #"seen "\#(list)"; printf "\e[B"; sleep 1; printf "\r"; seen "job       "; printf "\e"; seen "\#(list)"; printf q"#
        }

        @Test("in the queue an arrow key chooses a job, Enter shows it, Esc the list, and q ends the command")
        func keys() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--name", "the one"])
                let outcome = try await screen(
                    "reel-coordinator queue --watch", columns: 80, keys: arrowEnterEscQ(list: "1 job active"),
                    fleet.environment(as: "reel-coordinator"))
                #expect(outcome.code == 0, "\(outcome.output)")
                let lines = texts(outcome.output)
                let list = lines.firstIndex { $0.hasPrefix("1 job active") }
                let job = lines.firstIndex { $0.hasPrefix("job       ") }
                let again = lines.lastIndex { $0.hasPrefix("1 job active") }
                #expect(list != nil && job != nil && again != nil, "\(lines)")
                if let list, let job, let again { #expect(list < job && job < again) }
                #expect(
                    lines.contains { $0.contains("submitted ") && $0.hasSuffix("@\(ProcessInfo.processInfo.hostName)") }
                )
                // What stood on the terminal before is back, and so is its cursor.
                #expect(outcome.output.contains("\u{1B}[?1049h"))
                #expect(
                    outcome.output.hasSuffix("\u{1B}[?1049l") || outcome.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
                #expect(try await fleet.coordinator(["cancel", id]).code == 0)
            }
        }

        @Test("Esc leaves a job that has ended for the list, too")
        func keysOfAnEndedJob() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source])
                #expect(try await fleet.coordinator(["cancel", id]).code == 0)
                let outcome = try await screen(
                    "reel-coordinator status --watch", columns: 80, keys: arrowEnterEscQ(list: "JOB "),
                    fleet.environment(as: "reel-coordinator"))
                #expect(outcome.code == 0, "\(outcome.output)")
                let lines = texts(outcome.output)
                let job = lines.firstIndex { $0.hasPrefix("job       ") }
                let list = lines.lastIndex { $0.hasPrefix("JOB ") }
                #expect(job != nil && list != nil, "\(lines)")
                if let list, let job { #expect(job < list) }
            }
        }

        @Test(
            "screens of 30 columns show whole ids and states, and no line is longer",
            arguments: ["queue", "workers", "status"])
        func narrow(command: String) async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([source, "--to", "6f"])
                #expect(try await fleet.coordinator(["wait", id]).code == 0)
                let shown = command == "status" ? "status \(id)" : command
                let words = ["queue": "0 jobs active", "workers": "beat ", "status": id][command] ?? ""
                let outcome = try await screen(
                    "reel-coordinator \(shown) --watch", columns: 30, keys: "seen '\(words)'; printf q",
                    fleet.environment(as: "reel-coordinator"))
                #expect(outcome.code == 0, "\(outcome.output)")
                // What is left on the terminal at the end is for it to wrap.
                let watched =
                    outcome.output.split(separator: "\u{1B}[?1049l", maxSplits: 1).first.map(String.init) ?? ""
                let lines = texts(watched)
                #expect(lines.allSatisfy { $0.count <= 30 }, "\(lines)")
                #expect(lines.contains { $0.contains(words) }, "\(lines)")
            }
        }
    }
}

import Foundation
import Testing

extension EndToEnd {
    /// What shells offer at the press of TAB, with the scripts that the programs generate.
    @Suite struct CompletionTests {
        private let fixture: ProcessFixture

        init() throws {
            fixture = try ProcessFixture()
            for name in ["clip.mp4", "two words.mov", "cut.otio"] {
                try Data().write(to: URL(filePath: fixture.path(name)))
            }
            try FileManager.default.createDirectory(atPath: fixture.path("clips"), withIntermediateDirectories: false)
        }

        /// A command line whose last word is completed, and all that is offered for it.
        private struct Case {
            var line: String
            var offered: [String]
        }

        private let plain = [
            Case(line: "reel-coordinator run cl", offered: ["clip.mp4", "clips"]),
            Case(line: "reel-coordinator run two", offered: ["two words.mov"]),
            Case(line: "reel-coordinator run clip.mp4 -o cut", offered: ["cut.otio"]),
            Case(line: "reel-coordinator fetch 5d0c --store cl", offered: ["clips"]),
            Case(line: "reel-coordinator plan clip.mp4 --otio cu", offered: ["cut.otio"]),
            Case(line: "reel-coordinator run clip.mp4 --container w", offered: ["wav", "webm", "webp"]),
            Case(line: "reel-coordinator run clip.mp4 --video-codec libx26", offered: ["libx264", "libx265"]),
            Case(line: "reel-coordinator run clip.mp4 --audio-codec a", offered: ["aac", "alac"]),
            Case(line: "reel-coordinator run clip.mp4 --play p", offered: ["ping-pong"]),
            Case(line: "reel-worker --sandbox r", offered: ["require"]),
            Case(line: "reel-worker --scratch cl", offered: ["clips"]),
            Case(line: "reel-server serve --sandbox r", offered: ["require"]),
            Case(line: "reel-server serve --store cl", offered: ["clips"]),
        ]

        private func environment(_ more: [String: String] = [:]) -> [String: String] {
            more.merging(["PATH": "\(Program.folder):/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"]) { $1 }
        }

        @Test func bash() async throws {
            for item in plain {
                #expect(try await offersOfBash(item.line) == item.offered, "\(item.line)")
            }
            let registered = try await fixture.run(
                .at("/bin/bash"), ["-c", "source <(reel-coordinator --generate-completion-script bash); complete -p"],
                environment: environment())
            #expect(registered.output == "complete -o filenames -F _reel-coordinator reel-coordinator\n")
        }

        @Test(.enabled(if: shells.contains("zsh"), "there is no zsh"))
        func zsh() async throws {
            for item in plain {
                #expect(try await offersOfZsh(item.line) == item.offered, "\(item.line)")
            }
        }

        @Test(.enabled(if: shells.contains("fish"), "there is no fish"))
        func fish() async throws {
            for item in plain {
                #expect(try await offersOfFish(item.line) == item.offered, "\(item.line)")
            }
        }

        @Test("jobs and workers of the board are offered, and nothing if there is no Redis")
        func board() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([source, "--to", "0.5"])
                let worker = try #require(try await fleet.listedWorkers().first)
                var environment = environment(fleet.environment(as: "reel-coordinator"))
                for command in ["status", "wait", "fetch", "cancel"] {
                    let line = "reel-coordinator \(command) \(id.prefix(3))"
                    #expect(try await offersOfBash(line, environment) == [id], "\(command)")
                }
                let hosts = try await offersOfBash("reel-coordinator drain \(worker.host.prefix(2))", environment)
                #expect(hosts == [worker.host, worker.id])
                if shells.contains("zsh") {
                    #expect(try await offersOfZsh("reel-coordinator wait \(id.prefix(3))", environment) == [id])
                    let line = "reel-coordinator drain \(worker.host.prefix(2))"
                    #expect(try await offersOfZsh(line, environment) == [worker.host, worker.id])
                }
                environment["REEL_REDIS"] = "unix://\(fixture.path("nothing"))"
                let line = "reel-coordinator status \(id.prefix(3))"
                #expect(try await offersOfBash(line, environment) == [])
                let given = "reel-coordinator status --redis \(fleet.address(as: "reel-coordinator")) \(id.prefix(3))"
                #expect(try await offersOfBash(given, environment) == [id])
            }
        }

        // MARK: Shells

        /// Calls the function that the script registers as bash does.
        private func offersOfBash(_ line: String, _ environment: [String: String]? = nil) async throws -> [String] {
            let script = """
                read -ra COMP_WORDS <<<"$1"
                source <("${COMP_WORDS[0]}" --generate-completion-script bash)
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1}
                "_${COMP_WORDS[0]}" "${COMP_WORDS[0]}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            return try await offers(.at("/bin/bash"), ["-c", script, "bash", line], environment)
        }

        /// Presses TAB in a zsh on a pseudo-terminal whose completion lists what matches and inserts nothing.
        private func offersOfZsh(_ line: String, _ environment: [String: String]? = nil) async throws -> [String] {
            let script = #"""
                zmodload zsh/zpty
                command=${1%% *}
                mkdir -p functions
                $command --generate-completion-script zsh >functions/_$command
                cat >zshrc <<'END'
                PS1=
                fpath=($PWD/functions $fpath)
                autoload -U compinit
                compinit -u -D
                # Each match that is added, without what quotes it.
                compadd() {
                    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)* ]]; then
                        builtin compadd -O offered "$@"
                        print -rl -- ${(Q)offered} >>offers
                    fi
                    builtin compadd "$@"
                }
                offer() { zle complete-word; print -r -- END OF OFFERS; }
                zle -N offer
                bindkey '^X' offer
                print -r -- READY
                END
                : >offers
                zpty zsh "zsh -f -i"
                zpty -w zsh "source ./zshrc"
                zpty -r zsh output '*READY*'
                zpty -w -n zsh "$1"$'\030'
                zpty -r zsh output '*END OF OFFERS*'
                zpty -d zsh
                sort -u offers
                """#
            return try await offers(.at("/bin/zsh"), ["-f", "-c", script, "zsh", line], environment)
        }

        /// Without a terminal, fish 3 does not call programs for what to offer.
        private func offersOfFish(_ line: String) async throws -> [String] {
            let script = """
                set command (string split ' ' $argv[1])[1]
                $command --generate-completion-script fish | source
                complete --do-complete $argv[1] | string replace --regex '\\t.*' ''
                """
            return try await offers(.at("/usr/bin/fish"), ["--no-config", "-c", script, line], nil)
        }

        private func offers(
            _ shell: Program, _ arguments: [String], _ environment: [String: String]?
        ) async throws -> [String] {
            let outcome = try await fixture.run(shell, arguments, environment: environment ?? self.environment())
            #expect(outcome.error == "")
            return outcome.output.split(separator: "\n").map { String($0.hasSuffix("/") ? $0.dropLast() : $0) }.sorted()
        }
    }
}

private let shells = ["zsh", "fish"].filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

import ReelTerminal
import Testing

/// What people type who know other programs.
@Suite struct FamiliarOptionTests {
    private let help = "reel-coordinator run --help"

    /// What people type; what the parser says about it; the option that the answer names.
    @Test(
        arguments: [
            (["-c:v", "libx264"], "-c:v", "--video-codec"), (["--codec", "h264"], "--codec", "--video-codec"),
            (["--format=mp4"], "--format", "--container"), (["--quality", "20"], "--quality", "--crf"),
            (["-crf", "20"], "-c", "--crf"), (["-y"], "-y", "--overwrite"),
            (["--pingpong"], "--pingpong", "--play ping-pong"), (["--boomerang"], "--boomerang", "--play ping-pong"),
            (["--target-size", "10MB"], "--target-size", "--max-size"), (["-ss", "3"], "-s", "--from"),
            (["-t", "3"], "-t", "--duration"), (["-an"], "-a", "--audio none"), (["-i"], "-i", "without an option"),
            (["--reverse"], "--reverse", "without an option"), (["-b:a", "96k"], "-b:a", "--audio-bitrate"),
            (["-vf", "reverse"], "-v", "no filters"),
        ])
    func meant(typed: [String], parsers: String, wanted: String) throws {
        let arguments = ["reel-coordinator", "run", "a.mp4"] + typed
        let line = "Unknown option '\(parsers)'. Did you mean '--force'?"
        let answer = try #require(FamiliarOption.line(insteadOf: line, arguments, of: help))
        let name = try #require(typed[0].split(separator: "=").first)
        #expect(answer.hasPrefix("Unknown option '\(name)': ") && answer.contains(wanted), "\(answer)")
    }

    @Test("what no program has, other mistakes and other commands get the parser's own words")
    func others() {
        let cases = [
            ("Unknown option '--frobnicate'", ["--frobnicate"], help),
            ("Missing value for '--crf <crf>'", ["--crf"], help),
            ("Unknown option '--format'", ["--format"], "reel-coordinator status --help"),
            ("Unknown option '-y'", ["-y"], "reel-worker --help"),
        ]
        for (line, arguments, help) in cases {
            #expect(FamiliarOption.line(insteadOf: line, arguments, of: help) == nil, "\(line)")
        }
    }

    @Test("no option has two answers")
    func table() throws {
        let typed = FamiliarOption.typed
        #expect(Set(typed).count == typed.count)
        #expect(typed.allSatisfy { $0.hasPrefix("-") })
    }
}

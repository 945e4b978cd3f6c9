internal import Foundation

/// Edits beside what ffmpeg makes of the same: forth and back, one after the other, and as a picture that moves.
struct EditsSection {
    let runner: SuiteRunner
    /// A video with sound and a key frame every two seconds or less.
    let source: String
    /// Its length in seconds.
    let seconds: Double

    private static let ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]

    func run() async throws -> Section {
        var section = Section("Edits")
        try await runner.warm(source)
        let pieces = try await pieces()
        section.say(
            "Forth and back, ffmpeg holds all frames in its reverse filter. Stitched are ten videos of "
                + "\(figure(seconds / 10, "%.0f")) s, in ffmpeg by its `concat` and `acrossfade` filters, with crossfades of "
                + "the same length. GIFs are three seconds forth and back, 640 wide; ffmpeg makes one in two commands, "
                + "`palettegen` and `paletteuse`.")
        var rows: [[String]] = []
        rows += try await compare(
            "forth and back", ".mp4", reel(source, ["--play", "ping-pong"] + Peer.reelCoding), pingPong)
        rows += try await compare(
            "ten stitched", ".mp4", reel(pieces, ["--stitch", "--trim", "none"] + Peer.reelCoding),
            { stitch(pieces, $0) })
        rows += try await compare(
            "GIF", ".gif", reel(source, ["--play", "ping-pong", "--from", "0", "--to", "3"]), twoPass)
        section.table(
            [
                "", "wall", "CPU", "largest process", "all processes", "output", "reel's wall ÷ this",
                "reel's CPU ÷ this",
            ],
            rows)
        let (wall, filter, count) = try await loops()
        section.say(
            "\(count) videos of three seconds, forth and back, from `submit` to the last output: \(duration(wall)) by a worker "
                + "with two slots, \(duration(filter)) by ffmpeg's filter, two at a time: \(figure(wall / filter)) of it."
        )
        return section
    }

    /// Runs both alternately. Each command gets the path of its output.
    private func compare(
        _ name: String, _ ending: String, _ reel: @escaping (String) -> [String],
        _ other: @escaping (String) -> [String]
    ) async throws -> [[String]] {
        var rounds = Rounds()
        var sizes: [String: Int] = [:]
        let output = runner.output + ending
        for _ in 1...runner.rounds {
            for (title, command) in [("reel", reel), ("ffmpeg", other)] {
                runner.remove(output)
                rounds.add(title, try await runner.measure("\(name), \(title)", command(output)))
                sizes[title] = try runner.size(output)
            }
        }
        return rounds.names.map { title in
            [
                "\(name), \(title)", duration(rounds.median(title, \.wall)), duration(rounds.median(title, \.cpu)),
                megabytes(rounds.median(title) { Double($0.peakRSS) }),
                megabytes(rounds.median(title) { Double($0.peakSum) }), "\(sizes[title] ?? 0)",
                figure(rounds.ratio("reel", to: title, \.wall)), figure(rounds.ratio("reel", to: title, \.cpu)),
            ]
        }
    }

    // MARK: Commands

    private func reel(_ source: String, _ options: [String]) -> (String) -> [String] { reel([source], options) }

    private func reel(_ sources: [String], _ options: [String]) -> (String) -> [String] {
        { [runner.coordinator, "run"] + sources + ["-o", $0, "--overwrite"] + options }
    }

    /// Forth and back with both ends twice.
    private static let mirror =
        "[0:v]split[a][b];[b]reverse[r];[a][r]concat=n=2:v=1:a=0[v];"
        + "[0:a]asplit[c][d];[d]areverse[e];[c][e]concat=n=2:v=0:a=1[s]"

    private func pingPong(_ output: String) -> [String] { pingPong(source, output) }

    private func pingPong(_ source: String, _ output: String) -> [String] {
        Self.ffmpeg + ["-i", source, "-filter_complex", Self.mirror, "-map", "[v]", "-map", "[s]"] + Peer.video
            + Peer.audio + [output]
    }

    private func stitch(_ pieces: [String], _ output: String) -> [String] {
        let video = pieces.indices.map { "[\($0):v]" }.joined() + "concat=n=\(pieces.count):v=1:a=0[v]"
        var sound = ""
        for piece in pieces.indices.dropFirst() {
            sound +=
                ";[\(piece == 1 ? "0:a" : "s\(piece - 1)")][\(piece):a]acrossfade=d=0.0167:c1=tri:c2=tri[s\(piece)]"
        }
        return Self.ffmpeg + pieces.flatMap { ["-i", $0] }
            + ["-filter_complex", video + sound, "-map", "[v]", "-map", "[s\(pieces.count - 1)]"] + Peer.video
            + Peer.audio + [output]
    }

    private func twoPass(_ output: String) -> [String] {
        let shown =
            "scale=640:-2:flags=lanczos+accurate_rnd+full_chroma_int,split[a][b];[b]reverse[r];[a][r]concat=n=2:v=1:a=0"
        let palette = SuiteRunner.quoted(runner.work("palette.png"))
        let begin = "ffmpeg -v error -nostdin -y -t 3 -i \(SuiteRunner.quoted(source))"
        return [
            "bash", "-c",
            "\(begin) -vf '\(shown),palettegen' \(palette) && \(begin) -i \(palette) "
                + "-lavfi '[0:v]\(shown)[x];[x][1:v]paletteuse' -loop 0 \(SuiteRunner.quoted(output))",
        ]
    }

    // MARK: Sources

    /// The source in ten files, cut at key frames.
    private func pieces() async throws -> [String] {
        let ends = (1..<10).map { String(format: "%.3f", seconds / 10 * Double($0)) }.joined(separator: ",")
        _ = try await runner.text(
            Self.ffmpeg + ["-i", source, "-map", "0", "-c", "copy", "-f", "segment"]
                + ["-segment_times", ends, "-reset_timestamps", "1", runner.work("piece-%d.mp4")])
        return (0..<10).map { runner.work("piece-\($0).mp4") }
    }

    /// Seconds of many short loops by a worker, and by the filter, two at a time.
    private func loops() async throws -> (reel: Double, filter: Double, count: Int) {
        let count = runner.isQuick ? 4 : 40
        var clips: [String] = []
        for number in 0..<count {
            let clip = runner.work("loop-\(number).mp4")
            // Each from another place, so that each is another file.
            let start = String(format: "%.3f", Double(number) * (seconds - 4) / Double(count))
            _ = try await runner.text(
                Self.ffmpeg + ["-ss", start, "-i", source, "-t", "3", "-c:v", "libx264", "-preset", "ultrafast"]
                    + ["-crf", "15", "-g", "60"] + Peer.audio + [clip])
            clips.append(clip)
        }
        let reel = try await PrivateBoard.with(runner) { board in
            try await board.withWorker(slots: 2) {
                try await runner.measure(
                    "\(count) loops, reel",
                    [runner.coordinator, "submit"] + clips + ["--wait", "--overwrite", "--play", "ping-pong"]
                        + Peer.reelCoding + board.place)
            }
        }
        let commands = clips.map { clip in
            pingPong(clip, clip.replacing(".mp4", with: ".filter.mp4")).map(SuiteRunner.quoted).joined(separator: " ")
        }
        let list = runner.work("loops.txt")
        try commands.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        let filter = try await runner.measure(
            "\(count) loops, ffmpeg", ["bash", "-c", "tr '\\n' '\\0' <\(list) | xargs -0 -P 2 -n 1 sh -c"])
        return (reel.wall, filter.wall, count)
    }
}

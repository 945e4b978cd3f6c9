/// Options of `run`, `submit` and `plan` that people type who know other programs: ffmpeg's, and names that come to mind
/// first.
package enum FamiliarOption {
    /// What reel has instead; nil for an option that other programs do not have.
    package static func answer(to option: String) -> String? {
        rows.first { $0.typed.contains(option) }?.answer
    }

    /// The line to show instead of the parser's about an unknown option: it proposes what is spelled alike, and this what is
    /// meant. Nil if the line is about something else, or nothing is known.
    ///
    /// - Parameters:
    ///   - line: "Unknown option '-c:v'. Did you mean '--crf'?"
    ///   - arguments: of the process; the parser takes -ss for two options.
    ///   - help: the command that explains the ones of the subcommand.
    package static func line(insteadOf line: String, _ arguments: [String], of help: String) -> String? {
        guard ["run", "submit", "plan"].contains(where: { help.contains(" \($0) ") }),
            let match = line.prefixMatch(of: /Unknown option '([^']+)'/)
        else { return nil }
        let unknown = String(match.1)
        let typed = arguments.first { argument in
            guard let name = argument.split(separator: "=").first.map(String.init) else { return false }
            // A letter of several that stand together.
            return (name == unknown || !unknown.hasPrefix("--") && name.hasPrefix("-") && !name.hasPrefix("--"))
                && answer(to: name) != nil
        }
        guard let name = (typed ?? unknown).split(separator: "=").first.map(String.init), let answer = answer(to: name)
        else { return nil }
        return "Unknown option '\(name)': \(answer)"
    }

    private static let rows: [(typed: Set<String>, answer: String)] = [
        (["-c:v", "-codec:v", "-vcodec", "--vcodec", "-c", "--codec", "--encoder"], "here it is --video-codec"),
        (["-c:a", "-codec:a", "-acodec", "--acodec", "--sound-codec"], "here it is --audio-codec"),
        (["-b:v", "-b", "--vb", "--video-bitrate", "--rate-limit"], "here it is --bitrate"),
        (["-b:a", "--ab"], "here it is --audio-bitrate"),
        (["-crf", "-q", "-q:v", "-qp", "--cq", "--qp", "--quality"], "here it is --crf, and less is better"),
        (["-preset"], "here it is --preset"),
        (["-profile", "-profile:v"], "here it is --profile"),
        (["-pix_fmt", "--pix-fmt", "--pix_fmt"], "here it is --pixel-format"),
        (["-ar"], "here it is --sample-rate"),
        (["-ac", "--channels"], "here it is --channel-layout, as stereo"),
        (["-f", "--format", "--ext", "--extension", "--type"], "the end of -o's name chooses it, or --container"),
        (["-y", "--yes", "--overwrite-output", "--replace"], "here it is --overwrite"),
        (["-n", "--no-clobber", "--no-overwrite"], "nothing is replaced without --overwrite"),
        (["-i", "--input", "--in"], "sources are named without an option"),
        (["--out", "--outfile", "--output-file", "--dest", "--destination"], "here it is -o"),
        (["-ss", "--start", "--begin", "--seek", "--in-point", "--trim-start"], "here it is --from"),
        (["-to", "--end", "--stop", "--out-point", "--trim-end"], "here it is --to"),
        (["-t", "--length"], "here it is --duration"),
        (["--cut", "--clip", "--range"], "--from and --to choose the range"),
        (["-an", "--no-audio", "--no-sound", "--mute", "--silent"], "here it is --audio none"),
        (["--keep-audio", "--keep-sound"], "here it is --audio keep"),
        (
            ["--pingpong", "--ping-pong", "--boomerang", "--bounce", "--yoyo", "--palindrome"],
            "here it is --play ping-pong"
        ),
        (["--reverse", "--backward", "--backwards", "--rewind-all"], "that is what reel does without an option"),
        (["--forward", "--forwards", "--no-reverse"], "here it is --play forward"),
        (["--repeat", "--loops", "--count", "-stream_loop"], "here it is --times; --loop is for moving pictures"),
        (["--slow", "--slowmo", "--slow-motion", "--fast", "--speedup", "--tempo"], "here it is --speed, as 0.5 or 2"),
        (["-r", "--rate", "--framerate", "--frame-rate"], "here it is --fps"),
        (["-s", "--resolution", "--scale", "--resize", "--width", "--height"], "here it is --size, as 640x360"),
        (["-vf", "-af", "-filter:v", "-filter:a", "-filter_complex", "--filter"], "reel takes no filters of FFmpeg"),
        (["-map", "--streams", "--track"], "here it is --tracks"),
        (
            ["-threads", "-j", "--jobs", "--parallel", "--workers"],
            "--slots passes are done at once, with --threads each"
        ),
        (["--concat", "--join", "--merge", "--append"], "here it is --stitch"),
        (["--music", "--song", "--bgm", "--audio-file", "--add-audio"], "here it is --soundtrack"),
        (["--gif", "--webp"], "the end of -o's name chooses it, as -o clip.gif"),
        (
            ["--target-size", "--file-size", "--filesize", "-fs"],
            "here it is --max-size, as 10MB"
        ),
        (["--folder", "--dir", "--output-folder", "--outdir"], "here it is --output-dir"),
        (["--no-progress", "--quiet", "-hide_banner", "-loglevel"], "the bar appears on terminals alone"),
    ]

    /// Every option that has an answer.
    package static var typed: [String] { rows.flatMap(\.typed) }
}

/// Programs that reverse a video, and programs that only transcode it, which is the least that reversing costs.
enum Peer: String, CaseIterable, Sendable {
    case reel = "reel"
    case filter = "`ffmpeg -vf reverse -af areverse`"
    case forward = "`ffmpeg` forwards"
    case forwardOneThread = "`ffmpeg` forwards, one thread"
    case script = "segment script"

    /// The same encoding for all peers.
    static let preset = "veryfast"
    static let crf = "20"
    static let video = ["-c:v", "libx264", "-preset", preset, "-crf", crf]
    /// The bit rate that reel gives to sound of two channels.
    static let audio = ["-c:a", "aac", "-b:a", "192k"]

    func command(_ source: String, output: String, in runner: SuiteRunner) -> [String] {
        let ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
        let coding = Peer.video + Peer.audio
        switch self {
        case .reel:
            return [runner.coordinator, "run", source, "-o", output, "--overwrite", "--json"] + Peer.reelCoding
        case .filter: return ffmpeg + ["-i", source, "-vf", "reverse", "-af", "areverse"] + coding + [output]
        case .forward: return ffmpeg + ["-i", source] + coding + [output]
        case .forwardOneThread:
            return ffmpeg + ["-threads", "1", "-filter_threads", "1", "-i", source] + coding + [
                "-threads", "1", output,
            ]
        case .script: return [runner.segmentScript, source, output, Peer.preset, Peer.crf]
        }
    }

    static let reelCoding = ["--video-codec", "libx264", "--preset", preset, "--crf", crf]
}

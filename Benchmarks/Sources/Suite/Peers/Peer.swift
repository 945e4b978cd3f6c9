/// Who reverses a video, and those who only transcode it, which is what reversing costs at the least.
enum Peer: String, CaseIterable, Sendable {
    case reel = "reel"
    case filter = "`ffmpeg -vf reverse -af areverse`"
    case forward = "`ffmpeg` forwards"
    case forwardOneThread = "`ffmpeg` forwards, one thread"
    case script = "segment script"

    /// The same coding for all.
    static let preset = "veryfast"
    static let crf = "20"
    static let video = ["-c:v", "libx264", "-preset", preset, "-crf", crf]
    /// reel gives the sound of two channels that many bits.
    static let audio = ["-c:a", "aac", "-b:a", "192k"]

    func command(_ source: String, output: String, in workshop: Workshop) -> [String] {
        let ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
        let coding = Peer.video + Peer.audio
        switch self {
        case .reel:
            return [workshop.coordinator, "run", source, "-o", output, "--overwrite", "--json"] + Peer.reelCoding
        case .filter: return ffmpeg + ["-i", source, "-vf", "reverse", "-af", "areverse"] + coding + [output]
        case .forward: return ffmpeg + ["-i", source] + coding + [output]
        case .forwardOneThread:
            return ffmpeg + ["-threads", "1", "-filter_threads", "1", "-i", source] + coding + [
                "-threads", "1", output,
            ]
        case .script: return [workshop.segmentScript, source, output, Peer.preset, Peer.crf]
        }
    }

    static let reelCoding = ["--video-codec", "libx264", "--preset", preset, "--crf", crf]
}

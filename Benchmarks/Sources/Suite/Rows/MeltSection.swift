internal import Foundation

/// MLT plays a film backwards by seeking for every frame.
struct MeltSection {
    let runner: SuiteRunner
    let source: String
    let reelCPUPerFrame: Double

    private static let frames = 200

    func run() async throws -> Section {
        var section = Section("MLT")
        guard (try? await runner.text(["melt", "--version"])) != nil else {
            section.say("`melt` is not installed: `apt-get install melt`.")
            return section
        }
        let output = runner.output + ".mp4"
        let taken = try await runner.measure(
            "melt timewarp:-1",
            [
                "melt", "timewarp:-1:\(source)", "out=\(MeltSection.frames - 1)", "-consumer", "avformat:\(output)",
                "vcodec=libx264",
                "preset=\(Peer.preset)", "crf=\(Peer.crf)", "acodec=aac", "ab=192k",
            ])
        let each = taken.cpu / Double(MeltSection.frames)
        section.say(
            "`melt timewarp:-1:SOURCE out=\(MeltSection.frames - 1)`, \(MeltSection.frames) frames of the 720p source with the same coding, "
                + "once: \(duration(taken.wall)), \(duration(taken.cpu)) of CPU, \(megabytes(Double(taken.peakRSS))). "
                + "\(figure(1000 * each, "%.0f")) ms of CPU a frame, \(figure(each / reelCPUPerFrame, "%.1f")) times reel's."
        )
        return section
    }
}

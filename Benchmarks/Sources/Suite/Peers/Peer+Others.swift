internal import Foundation

extension Peer {
    /// Forwards in two halves at once, a thread each: what two slots could do at best if reversing cost nothing.
    static func halves(_ source: String, seconds: Double, in runner: SuiteRunner) -> [String] {
        let middle = String(format: "%.3f", seconds / 2)
        let parts = ["-to \(middle)", "-ss \(middle) -to \(seconds)"].enumerated().map { place, part in
            "ffmpeg -v error -nostdin -y -threads 1 -filter_threads 1 \(part) -i '\(source)' "
                + "\((Peer.video + Peer.audio).joined(separator: " ")) -threads 1 '\(runner.output)-\(place).mp4'"
        }
        return ["sh", "-c", parts[0] + " & " + parts[1] + "; wait"]
    }
}

internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue

/// A job as a person reads it.
enum JobText {
    static func line(_ view: JobView) -> String {
        "\(view.id)  \(view.state.rawValue)  \(view.framesEncoded)/\(view.frames) frames  \(view.source)"
    }

    static func lines(_ view: JobView) -> [String] {
        var lines = [
            "job      \(view.id), \(view.state.rawValue)",
            "source   \(view.source)",
            "frames   \(view.framesEncoded) of \(view.frames)" + left(view),
            "passes   \(view.passesDone) of \(view.passes) done, \(view.passesLive) in flight",
            "memory   \(ByteSize(bytes: view.need)) a pass"
                + (view.peakRSS > 0 ? ", \(ByteSize(bytes: view.peakRSS)) at most so far" : ""),
        ]
        if let output = view.output { lines.append("output   \(output)") }
        if let failure = view.failure { lines.append("failed   \(failure)") }
        lines += view.warnings.map { "warning  \($0)" }
        lines += view.failures.map { failure in
            let attempts = failure.attempts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
            return "pass \(failure.index)  \(attempts.joined(separator: ", ")): \(failure.lastMessage)"
        }
        return lines
    }

    /// What is left at the speed so far.
    private static func left(_ view: JobView) -> String {
        let seconds = Date().timeIntervalSince1970 - view.created
        guard !view.state.isTerminal, view.framesEncoded > 0, seconds > 0 else { return "" }
        let left = Double(view.frames - view.framesEncoded) * seconds / Double(view.framesEncoded)
        return ", ETA " + ClockTime.text(seconds: max(left, 0))
    }
}

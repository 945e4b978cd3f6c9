internal import Foundation

/// The processors that this process can use.
package enum HostProcessors {
    /// The processors that it may run on, as `taskset` sets them, or as many as its control group's processor time is worth
    /// if that is less; at least 1.
    package static var count: Int {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let allowed = status.flatMap(allowed) ?? ProcessInfo.processInfo.activeProcessorCount
        let quotas = ControlGroups.contents(of: "cpu.max").compactMap(quota)
        return max(1, min(allowed, quotas.min() ?? allowed))
    }

    /// How many processors a file /proc/PID/status allows: "Cpus_allowed: ff,00000003" is 10. Nil if it does not say.
    package static func allowed(_ status: String) -> Int? {
        let name = "Cpus_allowed:"
        guard let line = status.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix(name) }) else {
            return nil
        }
        let count = line.dropFirst(name.count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
        return count > 0 ? count : nil
    }

    /// Processors, rounded up, that a file cpu.max allows: "150000 100000" is 2. Nil for "max".
    package static func quota(_ text: String) -> Int? {
        let numbers = text.split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard numbers.count == 2, let time = numbers[0], let period = numbers[1], time > 0, period > 0 else {
            return nil
        }
        return Int(min((time - 1) / period + 1, 1 << 20))
    }
}

internal import Foundation
internal import Glibc

/// The processors that this process can use.
public enum HostProcessors {
    /// Those that it may run on, as `taskset` sets them, or as many as the processor time of its control group is worth
    /// if that is less; at least 1.
    public static var count: Int {
        let quotas = ControlGroups.contents(of: "cpu.max").compactMap(quota)
        return max(1, min(allowed, quotas.min() ?? allowed))
    }

    private static var allowed: Int {
        var set = cpu_set_t()
        // A machine with more than 1024 processors needs a larger set.
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else {
            return ProcessInfo.processInfo.activeProcessorCount
        }
        return withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
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

internal import Glibc
internal import ReelCore

/// Runs `body` and adds the seconds it took.
func measured<R>(_ seconds: inout Double, _ body: () throws(ReelFailure) -> R) throws(ReelFailure) -> R {
    let start = ContinuousClock.now
    defer { seconds += (ContinuousClock.now - start) / .seconds(1) }
    return try body()
}

/// The most memory that this process ever had resident, in bytes.
public func peakResidentBytes() -> Int64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int64(usage.ru_maxrss) * 1024
}

/// Three digits after the point, for messages.
func decimal(_ value: Double) -> String {
    guard let thousandths = Int64(exactly: (value * 1000).rounded()) else { return "\(value)" }
    let fraction = String(thousandths.magnitude % 1000)
    let sign = thousandths < 0 ? "-" : ""
    return "\(sign)\(thousandths.magnitude / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
}

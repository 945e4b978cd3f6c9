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

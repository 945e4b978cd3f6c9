internal import Glibc
internal import ReelCore

/// Runs `body` and adds the seconds that it took to `seconds`.
func measured<R>(_ seconds: inout Double, _ body: () throws(ReelFailure) -> R) throws(ReelFailure) -> R {
    let start = ContinuousClock.now
    defer { seconds += (ContinuousClock.now - start) / .seconds(1) }
    return try body()
}

/// The peak of this process's resident memory so far, in bytes.
package func peakResidentBytes() -> Int64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int64(usage.ru_maxrss) * 1024
}

/// How long calls took.
struct Latencies: Sendable {
    /// Microseconds.
    private(set) var samples: [Int] = []

    mutating func add(_ duration: Duration) {
        samples.append(Int(duration / .microseconds(1)))
    }

    static func + (a: Latencies, b: Latencies) -> Latencies {
        var sum = a
        sum.samples += b.samples
        return sum
    }

    /// The time in milliseconds that this share of the calls did not exceed; 0 if there were none.
    func quantile(_ share: Double) -> Double {
        let sorted = samples.sorted()
        guard let last = sorted.indices.last else { return 0 }
        return Double(sorted[min(last, Int(Double(sorted.count) * share))]) / 1000
    }
}

/// What workers measured.
struct CallLog: Sendable {
    var claim = Latencies()
    var beat = Latencies()
    var complete = Latencies()
    var reap = Latencies()
    /// Passes that were recorded.
    var completed = 0

    var calls: Int { claim.samples.count + beat.samples.count + complete.samples.count + reap.samples.count }

    static func + (a: CallLog, b: CallLog) -> CallLog {
        CallLog(
            claim: a.claim + b.claim, beat: a.beat + b.beat, complete: a.complete + b.complete, reap: a.reap + b.reap,
            completed: a.completed + b.completed)
    }
}

/// What shall go wrong, and when: the same seed disturbs in the same order, with the same pauses.
struct ChaosPlan {
    enum Fault {
        /// The worker is gone, and another starts this much later.
        case killWorker(replacedAfter: Duration)
        case killEngine
        /// The worker stands still for longer than its lease, its engine too or not.
        case stopWorker(Duration, withEngine: Bool)
        /// The log loses this many bytes at its end.
        case killRedis(down: Duration, cut: Int)
    }

    enum AssemblyFault {
        case none
        case kill(after: Duration)
        case stop(Duration, withEngine: Bool)
    }

    /// Streams of their own: how many faults fit into a job must not change how the next one is published.
    private var faults: SplitMix64
    private var publications: SplitMix64
    private var assemblies: SplitMix64
    /// Whether there is time for faults that outlast a lease.
    private let isLong: Bool

    init(seed: UInt64, isLong: Bool) {
        faults = SplitMix64(seed: seed &* 3)
        publications = SplitMix64(seed: seed &* 3 &+ 1)
        assemblies = SplitMix64(seed: seed &* 3 &+ 2)
        self.isLong = isLong
    }

    /// The next fault, how long to wait before it, and a number that chooses its victim.
    mutating func next() -> (pause: Duration, fault: Fault, choice: Int) {
        let pause = Duration.milliseconds(Int.random(in: isLong ? 1000...6000 : 200...1200, using: &faults))
        let kind = Int.random(in: isLong ? 0..<9 : 0..<5, using: &faults)
        let fault: Fault =
            switch kind {
            case 0: .killRedis(down: brief(&faults), cut: 0)
            case 1: .killRedis(down: brief(&faults), cut: Int.random(in: 1...2000, using: &faults))
            case 2..<4: .killEngine
            case 4..<7: .killWorker(replacedAfter: brief(&faults))
            default: .stopWorker(longerThanLease(&faults), withEngine: Bool.random(using: &faults))
            }
        return (pause, fault, Int.random(in: 0..<1 << 16, using: &faults))
    }

    /// When to kill those who submit a job, each counted from the moment at which its folder appears.
    mutating func publication() -> [Duration] {
        (0..<Int.random(in: 1...4, using: &publications)).map { _ in
            // It takes about 30 ms from there to the end; some come too late.
            .microseconds(Int.random(in: 0...20_000, using: &publications))
        }
    }

    /// What happens to the worker that first takes a job's assembly.
    mutating func assembly() -> AssemblyFault {
        let kind = Int.random(in: 0..<5, using: &assemblies)
        let after = Duration.milliseconds(Int.random(in: 0...800, using: &assemblies))
        let stop = longerThanLease(&assemblies)
        let withEngine = Bool.random(using: &assemblies)
        guard isLong else { return .none }
        switch kind {
        case 0..<3: return .kill(after: after)
        default: return .stop(stop, withEngine: withEngine)
        }
    }

    private func brief(_ random: inout SplitMix64) -> Duration {
        .milliseconds(Int.random(in: 0...(isLong ? 3000 : 1000), using: &random))
    }

    private func longerThanLease(_ random: inout SplitMix64) -> Duration {
        .milliseconds(Int.random(in: 21_000...28_000, using: &random))
    }
}

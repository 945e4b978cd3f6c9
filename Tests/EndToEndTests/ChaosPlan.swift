import Glibc
import ReelRandom

/// Faults and their times: the same seed disturbs in the same order, with the same pauses.
struct ChaosPlan {
    enum Fault {
        /// The worker is gone, and another starts this much later.
        case killWorker(replacedAfter: Duration)
        case killEngine
        /// The worker stands still for longer than its lease, its engine too or not.
        case stopWorker(Duration, withEngine: Bool)
        /// The log loses this many bytes at its end.
        case killRedis(down: Duration, cut: Int)
        /// Redis is made the replica of a master that does not answer: it takes no writes.
        case demoteRedis(Duration)
        /// Bytes of a finished pass's segment change.
        case spoilSegment
        /// A finished pass's segment vanishes, and its record with it or not.
        case loseSegment(withRecord: Bool)
        /// All that the store has of the job vanishes.
        case loseFolder
        /// One worker cannot write in the store for so long, for this reason.
        case closeStore(Duration, error: Int32)
        /// The wall clock of a worker, or of Redis, is this many seconds ahead from now on.
        case setClock(ofRedis: Bool, ahead: Int64)
        /// A person gives the job another weight, which its record keeps, whatever else is written into that just then.
        case weigh(Int)
        /// A person submits the job again with another name, which its record keeps, too.
        case rename(Int)
        /// A person submits another job, and cancels it so long after that, when it may have ended.
        case cancelAnother(after: Duration)
        /// No file of the store can be opened by one worker for so long: the calls do not return.
        case hangStore(Duration)
    }

    /// What happens while a job is submitted, so long after its folder appears.
    enum PublicationFault {
        case killCoordinator(after: Duration)
        /// As `Fault.killRedis`.
        case killRedis(after: Duration, down: Duration, cut: Int)
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
        let pause = Duration.milliseconds(Int.random(in: isLong ? 600...4000 : 200...1200, using: &faults))
        let kind = Int.random(in: isLong ? 0..<25 : 0..<12, using: &faults)
        let fault: Fault =
            switch kind {
            case 0: .killRedis(down: brief(&faults), cut: 0)
            case 1: .killRedis(down: brief(&faults), cut: Int.random(in: 1...2000, using: &faults))
            case 2: .killEngine
            case 3..<6: .killWorker(replacedAfter: brief(&faults))
            case 6: .spoilSegment
            case 7: .loseSegment(withRecord: Bool.random(using: &faults))
            case 8: .weigh(Int.random(in: 1...20, using: &faults))
            case 9: .rename(Int.random(in: 1...1000, using: &faults))
            case 10..<12: .cancelAnother(after: .milliseconds(Int.random(in: 0...4000, using: &faults)))
            case 12: .demoteRedis(brief(&faults))
            case 13: .loseFolder
            case 14..<16:
                .closeStore(.milliseconds(Int.random(in: 2000...9000, using: &faults)), error: refusal(&faults))
            case 16..<18: .setClock(ofRedis: kind == 17, ahead: wrongTime(&faults))
            case 18: .killEngine
            case 19: .spoilSegment
            case 20: .weigh(Int.random(in: 1...20, using: &faults))
            case 21..<23: .hangStore(.seconds(30))
            default: .stopWorker(longerThanLease(&faults), withEngine: Bool.random(using: &faults))
            }
        return (pause, fault, Int.random(in: 0..<1 << 16, using: &faults))
    }

    /// What happens to one submission of a job after the other.
    mutating func publication() -> [PublicationFault] {
        (0..<Int.random(in: 1...4, using: &publications)).map { _ in
            // It takes some tenths of a second from there to the end, and 30 ms if recon has been done; some come too late.
            let isLate = Bool.random(using: &publications)
            let delay = Duration.microseconds(Int.random(in: 0...(isLate ? 300_000 : 20_000), using: &publications))
            guard Int.random(in: 0..<3, using: &publications) == 0 else { return .killCoordinator(after: delay) }
            let down = brief(&publications)
            // A job that Redis has lost comes back after one to two minutes.
            let cut = isLong && Bool.random(using: &publications) ? Int.random(in: 1...4000, using: &publications) : 0
            return .killRedis(after: delay, down: down, cut: cut)
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

    private func refusal(_ random: inout SplitMix64) -> Int32 {
        [EROFS, ENOSPC, EDQUOT, EIO, ESTALE][Int.random(in: 0..<5, using: &random)]
    }

    /// A minute to ten days, ahead or behind.
    private func wrongTime(_ random: inout SplitMix64) -> Int64 {
        let seconds = Int64.random(in: 60...(Bool.random(using: &random) ? 3600 : 864_000), using: &random)
        return Bool.random(using: &random) ? seconds : -seconds
    }

    private func brief(_ random: inout SplitMix64) -> Duration {
        .milliseconds(Int.random(in: 0...(isLong ? 3000 : 1000), using: &random))
    }

    private func longerThanLease(_ random: inout SplitMix64) -> Duration {
        .milliseconds(Int.random(in: 21_000...28_000, using: &random))
    }
}

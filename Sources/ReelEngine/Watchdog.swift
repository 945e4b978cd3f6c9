internal import Glibc
internal import ReelCore

/// Decides whether an engine that owes an event is hung.
struct Watchdog {
    private let limits: EngineLimits
    private var usedCPU: UInt64?
    private var lastUse: SuspendingClock.Instant?

    init(_ limits: EngineLimits) { self.limits = limits }

    /// How often to look: often enough for the shorter limit, at most once a second.
    var interval: Duration { max(.milliseconds(10), min(.seconds(1), min(limits.stall, limits.silence) / 8)) }

    /// Why to kill the engine if it is hung, else nil.
    ///
    /// - Parameters:
    ///   - lastEvent: when it last reported something, or got a request.
    ///   - cpu: clock ticks that it has used so far; nil if unknown, which counts as no progress.
    mutating func judge(now: SuspendingClock.Instant, lastEvent: SuspendingClock.Instant, cpu: UInt64?) -> KillReason? {
        if cpu != usedCPU {
            usedCPU = cpu
            lastUse = now
        }
        if lastEvent.duration(to: now) >= limits.silence { return .hung(.silent, limits.silence) }
        let lastSign = max(lastEvent, lastUse ?? lastEvent)
        if lastSign.duration(to: now) >= limits.stall { return .hung(.idle, limits.stall) }
        return nil
    }

    /// What a process has used of its machine.
    struct Use {
        /// User and system time of all its threads, in clock ticks.
        let cpu: UInt64
        let threads: Int
    }

    /// Nil if /proc cannot be read.
    static func use(by process: pid_t) -> Use? {
        guard let file = fopen("/proc/\(process)/stat", "re") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 1024)
        let count = fread(&line, 1, line.count, file)
        // The name of the program, in parentheses, may contain any character; utime, stime and num_threads are fields
        // 14, 15 and 20 of proc(5).
        let fields =
            String(decoding: line[..<count], as: UTF8.self)
            .split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 17, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
            let threads = Int(fields[17])
        else { return nil }
        return Use(cpu: user + system, threads: threads)
    }
}

internal import ReelCore

/// How long an engine with a request may be silent. Time in which the machine sleeps does not count.
package struct EngineLimits: Sendable {
    /// Without an event and without using any CPU.
    package var stall: Duration
    /// Without an event, even if it uses CPU.
    package var silence: Duration
    /// The most threads. Codecs start some for each processor; engines share the number that their user, or the
    /// service, may have.
    package var threads: Int

    /// Limits of a working engine; the defaults are those of a slow disk and a hard codec on a machine with many
    /// processors.
    package init(stall: Duration = .seconds(120), silence: Duration = .seconds(600), threads: Int = 2000) {
        self.stall = stall
        self.silence = silence
        self.threads = threads
    }
}

/// Decides whether an engine that owes an event is hung.
struct Watchdog {
    private let limits: EngineLimits
    private var usedCPU: UInt64?
    private var lastUse: SuspendingClock.Instant?

    init(_ limits: EngineLimits) { self.limits = limits }

    /// How often to look: often enough for the shorter limit, at most once a second.
    var interval: Duration { max(.milliseconds(10), min(.seconds(1), min(limits.stall, limits.silence) / 8)) }

    /// The reason to kill the engine if it is hung; nil if it is not.
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
}

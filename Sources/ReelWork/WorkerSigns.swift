package import ReelQueue
internal import Synchronization

/// What a worker notes of itself for monitoring alone: that its loop runs, whether Redis and the store are there, and how its
/// attempts ended.
package final class WorkerSigns: Sendable {
    /// Of a store that is at its place.
    package struct Room: Sendable {
        /// Nil if it has no limit or is unknown.
        package var freeBytes: Int64?
    }

    private struct State {
        var sign: Duration?
        var hasBegun = false
        var isRedisUp = false
        var store: (room: Room, seen: Duration)?
        var attempts: [BoardFigures.Attempt: Int] = [:]
    }

    /// The loop, or the store, hangs if there is no sign of it for so long. A service manager waits as long for the loop
    /// (`WatchdogSec=`).
    private static let patience = Duration.seconds(60)

    private let state = Mutex(State())
    private let clock: WorkerClock

    package init(clock: WorkerClock) { self.clock = clock }

    /// The loop runs.
    package func giveSign() { state.withLock { $0.sign = clock.now } }

    /// Redis and the store were reached, so that the worker claims from now on.
    package func begin() { state.withLock { $0.hasBegun = true } }

    /// Notes whether Redis answered the last beat.
    package func setRedis(isUp: Bool) { state.withLock { $0.isRedisUp = isUp } }

    /// Notes what a look at the store has found; nil if it is away.
    package func setStore(_ room: Room?) { state.withLock { $0.store = room.map { ($0, clock.now) } } }

    /// Counts an attempt that has ended.
    package func count(_ attempt: BoardFigures.Attempt) { state.withLock { $0.attempts[attempt, default: 0] += 1 } }

    /// Whether the loop has given a sign lately. One that has given none yet may still be starting.
    package var isAlive: Bool {
        state.withLock { state in state.sign.map { clock.now - $0 < WorkerSigns.patience } ?? true }
    }

    package var hasBegun: Bool { state.withLock(\.hasBegun) }
    package var isRedisUp: Bool { state.withLock(\.isRedisUp) }
    package var attempts: [BoardFigures.Attempt: Int] { state.withLock(\.attempts) }

    /// Nil if the store was away, or has not been seen lately.
    package var store: Room? {
        state.withLock { state in
            state.store.flatMap { clock.now - $0.seen < WorkerSigns.patience ? $0.room : nil }
        }
    }
}

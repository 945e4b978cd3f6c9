package import ReelQueue

/// How a worker is, for programs that watch it.
package struct WorkerHealth: Hashable, Sendable {
    /// Why a worker takes no work.
    package enum Obstacle: String, CaseIterable, Sendable {
        /// It has not reached Redis and the store yet.
        case starting
        /// It was told to end.
        case ending
        /// A user has drained it or its host.
        case drained
        /// Redis did not answer its last beat.
        case redisUnreachable = "redis-unreachable"
        /// The store is not at its place, or could not be written.
        case storeUnusable = "store-unusable"
        /// The disk of the store or of the scratch folder was full, and has no more room yet.
        case diskFull = "disk-full"
        /// All of its slots are out, since their engines crashed in one job after another.
        case slotsOut = "slots-out"
    }

    /// Whether its loop runs: it beats, or looks for Redis and the store.
    package var isAlive: Bool
    /// Everything that keeps it from taking work; empty if it takes some.
    package var obstacles: [Obstacle]
    /// Its slots by state.
    package var slots: BoardFigures.Slots
    /// Bytes that all passes together may take.
    package var memoryTotal: Int64
    /// Whether Redis answered its last beat.
    package var isRedisUp: Bool
    /// Whether the store was at its place at the last look, and could be written when the worker last had doubts.
    package var isStoreUp: Bool
    /// Room in the store; nil if it has no limit or is unknown.
    package var storeFreeBytes: Int64?
    /// Counter: attempts at passes, assemblies and planning since the worker started, by outcome. All outcomes are there. An
    /// attempt whose job was cancelled, or of whose end Redis could not be told, is in none.
    package var attempts: [BoardFigures.Attempt: Int]
}

extension WorkerEnvironment {
    /// How the worker is now.
    package func health(slots: Int, memoryTotal: Int64) -> WorkerHealth {
        let room = signs.store
        let isStoreUp = room != nil && !notes.hasStoreFailure
        let slotsOut = min(notes.slotsOut, slots)
        let holding: [(WorkerHealth.Obstacle, Bool)] = [
            (.starting, !signs.hasBegun), (.ending, drain.isOn), (.drained, drain.byUser != nil),
            (.redisUnreachable, !signs.isRedisUp), (.storeUnusable, !isStoreUp), (.diskFull, notes.isFull),
            (.slotsOut, slotsOut == slots),
        ]
        let busy = min(passes.count, slots - slotsOut)
        let idle = slots - slotsOut - busy
        let isDrained = drain.isOn || drain.byUser != nil
        return WorkerHealth(
            isAlive: signs.isAlive, obstacles: holding.filter(\.1).map(\.0),
            slots: BoardFigures.Slots(
                busy: busy, free: isDrained ? 0 : idle, out: slotsOut, drained: isDrained ? idle : 0),
            memoryTotal: memoryTotal, isRedisUp: signs.isRedisUp, isStoreUp: isStoreUp, storeFreeBytes: room?.freeBytes,
            attempts: Dictionary(uniqueKeysWithValues: BoardFigures.Attempt.allCases.map { ($0, 0) })
                .merging(signs.attempts) { $1 })
    }
}

public import ReelCore
internal import ReelEngine
public import ReelQueue

/// What the machines have that will do a job's work, as far as it is known when the job is planned.
public struct Capacity: Sendable {
    private let slots: Int
    /// Bytes that a pass should take at most.
    private let share: Int64
    /// Bytes that no pass may exceed, since a person said so; nil where nobody did.
    private let limit: Int64?

    /// How many slots a worker may have.
    public static let slotLimit = 1...1024

    /// Workers elsewhere: what they have is known only when they claim.
    public init(slots: Int) {
        self.slots = slots
        share = Capacity.usualShare
        limit = nil
    }

    /// This machine, whose slots share a total.
    ///
    /// - Parameter isLimit: a person chose the total, so that it binds; else a pass that needs more takes it.
    public init(slots: Int, memoryTotal: Int64, isLimit: Bool) {
        self.slots = slots
        share = min(Capacity.usualShare, memoryTotal / Int64(max(slots, 1)))
        limit = isLimit ? memoryTotal : nil
    }

    private static let usualShare: Int64 = 2 << 30

    /// Of all workers that are there; where there is none yet, of a few.
    public static func ofWorkers(on board: any Board) async throws(ReelFailure) -> Capacity {
        let slots = try await board.workers().reduce(0) { $0 + $1.report.slots }
        return Capacity(slots: slots > 0 ? slots : 8)
    }

    /// Bytes that no pass of a job may exceed; nil where nothing limits it.
    func ceiling(_ spec: JobSpec) -> Int64? { [spec.memory, limit].compactMap(\.self).min() }

    var planner: Planner { Planner(slots: slots, memory: MemoryRequest(budget: share, limit: limit)) }
}

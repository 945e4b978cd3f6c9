package import ReelCore
internal import ReelEngine
package import ReelQueue

/// What the machines have that will do a job's work, as far as it is known when the job is planned.
package struct Capacity: Sendable {
    private let slots: Int
    /// Bytes that a pass should take at most.
    private let share: Int64
    /// Bytes that no pass may exceed, because a user chose that limit; nil if none did.
    private let limit: Int64?

    /// How many slots a worker may have.
    package static let slotLimit = 1...1024

    /// Slots to plan for if no worker has registered.
    static let usualSlots = 8

    /// Workers on other machines: their memory is known only when they claim.
    package init(slots: Int) {
        self.slots = slots
        share = Capacity.usualShare
        limit = nil
    }

    /// This machine, whose slots share a total.
    ///
    /// - Parameters:
    ///   - memoryTotal: bytes.
    ///   - isLimit: whether a user chose the total. If not, a pass that needs more takes it.
    package init(slots: Int, memoryTotal: Int64, isLimit: Bool) {
        self.slots = slots
        share = min(Capacity.usualShare, memoryTotal / Int64(max(slots, 1)))
        limit = isLimit ? memoryTotal : nil
    }

    private static let usualShare: Int64 = 2 << 30

    /// All registered workers together.
    package static func ofWorkers(on board: any Board) async throws(ReelFailure) -> Capacity {
        let slots = try await board.workers().reduce(0) { $0 + $1.report.slots }
        return Capacity(slots: slots > 0 ? slots : usualSlots)
    }

    /// Bytes that no pass of a job may exceed; nil if nothing limits it.
    func ceiling(_ spec: JobSpec) -> Int64? { [spec.memory, limit].compactMap(\.self).min() }

    var planner: Planner { Planner(slots: slots, memory: MemoryRequest(budget: share, limit: limit)) }
}

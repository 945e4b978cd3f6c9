internal import ReelCore
internal import ReelEngine

/// What the machines have that will do a job's work, as far as it is known when the job is planned.
public struct Capacity: Sendable {
    /// Passes that can run at once.
    public var slots: Int
    /// Bytes that all passes together may take; nil where the workers are elsewhere.
    public var memoryTotal: Int64?

    public init(slots: Int, memoryTotal: Int64?) {
        self.slots = slots
        self.memoryTotal = memoryTotal
    }

    /// Bytes that no pass may exceed; nil where nothing limits it.
    func ceiling(_ spec: JobSpec) -> Int64? {
        switch (spec.memory, memoryTotal) {
        case (let asked?, let total?): min(asked, total)
        case (let asked, let total): asked ?? total
        }
    }

    func plan(_ source: SourceIndex, recon: ReconResult, spec: JobSpec) throws(ReelFailure) -> Plan {
        try Planner.plan(
            index: source, spec: spec, video: recon.video, audio: recon.audio, warnings: recon.warnings,
            limits: Planner.Limits(slots: slots, memory: spec.memory, memoryTotal: memoryTotal))
    }
}

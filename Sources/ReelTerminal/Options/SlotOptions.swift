public import ArgumentParser
internal import Foundation
internal import ReelJobs
public import ReelWords

/// How many passes a machine does at once, and in how much memory.
public struct SlotOptions: ParsableArguments {
    @Option(help: "Passes at once, at most. Default: the number of cores.")
    private var slots: Int?

    /// Nil where nobody chose it.
    @Option(
        help: ArgumentHelp(
            "Memory that all passes may take together. Default: 0.6 of what there is.", valueName: "size"))
    public var memoryTotal: ByteSize?

    public init() {}

    public var count: Int { slots ?? ProcessInfo.processInfo.activeProcessorCount }

    /// Bytes.
    public var memory: Int64 { memoryTotal?.bytes ?? HostMemory.budget }

    public func validate() throws {
        let limit = Capacity.slotLimit
        guard limit.contains(slots ?? 1) else {
            throw ValidationError("--slots must be \(limit.lowerBound) to \(limit.upperBound)")
        }
    }
}

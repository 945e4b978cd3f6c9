package import ArgumentParser
internal import ReelHost
internal import ReelJobs
package import ReelWords

/// The options `--slots` and `--memory-total`: how many passes a machine does at once, and in how much memory.
package struct SlotOptions: ParsableArguments {
    @Option(help: "The most passes to do at once. Default: the number of processors that this process may use.")
    private var slots: Int?

    /// Memory for all passes together; nil if the user did not choose it.
    @Option(
        help: ArgumentHelp(
            "Memory that all passes may take together. Default: 0.6 of the machine's.", valueName: "size"),
        transform: ByteSize.read)
    package var memoryTotal: ByteSize?

    /// For ArgumentParser.
    package init() {}

    private static let leastMemory: Int64 = 64 << 20

    /// What a user is told who chose more memory than the machine has; nil if it has as much.
    package var warning: String? {
        let machine = HostMemory.machine
        guard memory > machine else { return nil }
        return "--memory-total is \(ByteSize(bytes: memory)), and this machine has \(ByteSize(bytes: machine))"
    }

    /// How many slots a worker has.
    package var count: Int { slots ?? HostProcessors.count }

    /// Memory for all passes together, in bytes.
    package var memory: Int64 { memoryTotal?.bytes ?? HostMemory.budget }

    /// Throws `ValidationError` if the number of slots is out of range.
    package mutating func validate() throws {
        slots = try slots ?? Settings.value(.slots)
        memoryTotal = try memoryTotal ?? Settings.explained(.memoryTotal)
        // An engine without a picture takes more.
        guard memory >= SlotOptions.leastMemory else {
            throw ValidationError("--memory-total must be at least \(ByteSize(bytes: SlotOptions.leastMemory))")
        }
        let limit = Capacity.slotLimit
        guard limit.contains(slots ?? 1) else {
            throw ValidationError("--slots must be \(limit.lowerBound) to \(limit.upperBound)")
        }
    }
}

package import ArgumentParser
internal import Foundation
package import ReelCore
internal import ReelHost
internal import ReelJobs
package import ReelWords

package struct SandboxOption: ParsableArguments {
    @Option(
        name: .customLong("sandbox"),
        help: ArgumentHelp(
            """
            Confine engines to their job's files and harmless system calls: require, try (the default) or off; \
            REEL_SANDBOX sets the default.
            """, valueName: "mode"))
    private var chosen: SandboxMode?

    package init() {}

    package var mode: SandboxMode { chosen ?? .try }

    /// Takes the mode of the environment, or else of the configuration file, if the option is missing. Throws
    /// `ValidationError` if they name an unknown mode.
    package mutating func validate() throws {
        guard chosen == nil else { return }
        guard let text = ProcessInfo.processInfo.environment["REEL_SANDBOX"] else {
            chosen = try Settings.value(.sandbox)
            return
        }
        chosen = SandboxMode(rawValue: text)
        guard chosen != nil else { throw ValidationError("REEL_SANDBOX must be require, try or off") }
    }
}

extension SandboxMode: ExpressibleByArgument {}

package struct SourceRootOption: ParsableArguments {
    @Option(
        name: .customLong("source-root"),
        help: ArgumentHelp(
            """
            Take sources from this folder only; links may not lead out of it. May be repeated. REEL_SOURCE_ROOTS sets the \
            default, with a colon between folders. Without either, any file that can be read is taken.
            """, valueName: "dir"), completion: .directory)
    private var folders: [String] = []

    package init() {}

    /// The folders that option, environment or configuration file name; nil if they do not name any. Throws
    /// `.sourceRootUnusable` if one is not a folder.
    package func roots() throws(ReelFailure) -> SourceRoots? {
        try SourceRootOption.roots(of: folders.isEmpty ? SourceRootOption.unasked : folders)
    }

    package static func roots(of named: [String]) throws(ReelFailure) -> SourceRoots? {
        guard !named.isEmpty else { return nil }
        var paths: [String] = []
        for name in named {
            let path = URL(fileURLWithPath: name).standardizedFileURL.path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw ReelFailure(.sourceRootUnusable(path: path, errno: ENOENT))
            }
            guard isFolder.boolValue else { throw ReelFailure(.sourceRootUnusable(path: path, errno: ENOTDIR)) }
            paths.append(path)
        }
        return SourceRoots(paths)
    }

    private static var unasked: [String] {
        guard let text = ProcessInfo.processInfo.environment["REEL_SOURCE_ROOTS"] else {
            return Settings.list(.sourceRoots) ?? []
        }
        return text.split(separator: ":").map(String.init)
    }
}

/// The options `--slots` and `--memory-total`: how many passes a machine runs at once, and in how much memory.
package struct SlotOptions: ParsableArguments {
    @Option(help: "The most passes to do at once. Default: the number of processors that this process may use.")
    private var slots: Int?

    /// Nil if the user did not choose it.
    @Option(
        help: ArgumentHelp(
            "Memory that all passes may take together. Default: 0.6 of the machine's.", valueName: "size"),
        transform: ByteSize.read)
    package var memoryTotal: ByteSize?

    package init() {}

    private static let leastMemory: Int64 = 64 << 20

    /// The warning to a user who chose more memory than the machine has; nil if the machine has enough.
    package var warning: String? {
        let machine = HostMemory.machine
        guard memory > machine else { return nil }
        return "--memory-total is \(ByteSize(bytes: memory)), and this machine has \(ByteSize(bytes: machine))"
    }

    package var count: Int { slots ?? HostProcessors.count }

    package var memory: Int64 { memoryTotal?.bytes ?? HostMemory.budget }

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

/// The options `--max-…`: the most that a job may ask for. What they refuse ends with exit code 3.
package struct QuotaOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The most pixels of a picture, of a source or of the output.", valueName: "count"))
    private var maxPixels: Int64?

    @Option(help: ArgumentHelp("The longest output, in seconds.", valueName: "seconds")) private var maxDuration: Int64?
    @Option(help: ArgumentHelp("The most frames of the output.", valueName: "count")) private var maxFrames: Int64?

    @Option(help: ArgumentHelp("The most tracks of the output, of video and sound together.", valueName: "count"))
    private var maxTracks: Int64?

    package init() {}

    package var quotas: Quotas {
        var quotas = Quotas()
        quotas[.pixels] = maxPixels
        quotas[.duration] = maxDuration
        quotas[.frames] = maxFrames
        quotas[.tracks] = maxTracks
        return quotas
    }

    package mutating func validate() throws {
        maxPixels = try maxPixels ?? Settings.value(.maxPixels)
        maxDuration = try maxDuration ?? Settings.value(.maxDuration)
        maxFrames = try maxFrames ?? Settings.value(.maxFrames)
        maxTracks = try maxTracks ?? Settings.value(.maxTracks)
        try check(["pixels": maxPixels, "duration": maxDuration, "frames": maxFrames, "tracks": maxTracks])
    }
}

private func check(_ limits: KeyValuePairs<String, Int64?>) throws {
    for (name, limit) in limits where limit ?? 1 < 1 { throw ValidationError("--max-\(name) must be 1 or more") }
}

/// The options `--max-output`, `--max-pass-…` and `--max-job-…`: the most that a pass or all passes of a job may take.
package struct PassQuotaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The largest file that an engine may write, temporary ones too.", valueName: "size"),
        transform: ByteSize.read)
    private var maxOutput: ByteSize?

    @Option(help: ArgumentHelp("The longest time for a pass, in seconds.", valueName: "seconds"))
    private var maxPassTime: Int64?

    @Option(help: ArgumentHelp("The most CPU time for a pass, in seconds.", valueName: "seconds"))
    private var maxPassCpu: Int64?

    @Option(help: ArgumentHelp("The longest time from a job's first pass on, in seconds.", valueName: "seconds"))
    private var maxJobTime: Int64?

    @Option(help: ArgumentHelp("The most CPU time for all passes of a job, in seconds.", valueName: "seconds"))
    private var maxJobCpu: Int64?

    package init() {}

    package func set(_ quotas: inout Quotas) {
        quotas[.output] = maxOutput?.bytes
        quotas[.passTime] = maxPassTime
        quotas[.passCPU] = maxPassCpu
        quotas[.jobTime] = maxJobTime
        quotas[.jobCPU] = maxJobCpu
    }

    package mutating func validate() throws {
        maxOutput = try maxOutput ?? Settings.explained(.maxOutput)
        maxPassTime = try maxPassTime ?? Settings.value(.maxPassTime)
        maxPassCpu = try maxPassCpu ?? Settings.value(.maxPassCpu)
        maxJobTime = try maxJobTime ?? Settings.value(.maxJobTime)
        maxJobCpu = try maxJobCpu ?? Settings.value(.maxJobCpu)
        try check(["pass-time": maxPassTime, "pass-cpu": maxPassCpu, "job-time": maxJobTime, "job-cpu": maxJobCpu])
    }
}

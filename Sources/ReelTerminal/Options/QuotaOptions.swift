internal import ArgumentParser
package import ReelCore
internal import ReelWords

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

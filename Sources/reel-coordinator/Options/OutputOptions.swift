internal import ArgumentParser
internal import ReelCore
internal import ReelJobs

/// The path of a result.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT (ping-pong, cut) beside the source.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    func choice(for source: String, _ spec: SpecOptions) throws(ReelFailure) -> OutputChoice {
        try OutputChoice(output, for: source, deed: spec.deed, lossless: spec.lossless)
    }
}

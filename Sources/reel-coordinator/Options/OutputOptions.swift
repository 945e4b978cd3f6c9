internal import ArgumentParser
internal import ReelCore
internal import ReelJobs

/// The path of a result.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT beside the source.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    func choice(for source: String, lossless: Bool) throws(ReelFailure) -> OutputChoice {
        try OutputChoice(output, for: source, lossless: lossless)
    }
}

internal import ArgumentParser
internal import ReelCore
internal import ReelJobs

/// The path of a result.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT (ping-pong, cut, stitched) beside the source.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    func choice(for order: Order, _ spec: SpecOptions) throws(ReelFailure) -> OutputChoice {
        try OutputChoice(
            output, for: order.named, like: order.sources[0], deed: order.deed, lossless: spec.lossless)
    }
}

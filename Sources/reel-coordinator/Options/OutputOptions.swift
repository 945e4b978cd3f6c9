internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// The path of a result.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT (ping-pong, cut, stitched) beside the source.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The container if the output has its default name: \(Container.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name"))
    var container: Container?

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    func validate() throws {
        guard output == nil || container == nil else {
            throw ValidationError("the extension of -o says the container; leave out --container")
        }
    }

    func choice(for order: Order, _ spec: SpecOptions) throws(ReelFailure) -> OutputChoice {
        try OutputChoice(
            output, container, for: order.named, like: order.sources[0], deed: order.deed, lossless: spec.lossless)
    }
}

internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT (ping-pong, cut, stitched) beside the source.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: .of(.container)) var container: Container?

    @Option(
        help: ArgumentHelp(
            "The folder of outputs that have their default names; it is made if it is missing. Default: the source's.",
            valueName: "folder"),
        completion: .directory)
    var outputDir: String?

    @Option(
        help: ArgumentHelp(
            "What default names have after the source's, for example .rev. Default: .reversed (.ping-pong, .cut, .stitched).",
            valueName: "text"))
    var suffix: String?

    @Flag(help: "Replace the output if it exists.") var overwrite = false
    @Flag(help: "Leave out videos whose output exists.") var skipExisting = false

    func validate() throws {
        guard output == nil || container == nil else {
            throw ValidationError("the extension of -o says the container; leave out --container")
        }
        guard output == nil || outputDir == nil && suffix == nil else {
            throw ValidationError("-o names the output; leave out \(outputDir == nil ? "--suffix" : "--output-dir")")
        }
        guard suffix?.contains("/") != true else { throw ValidationError("--suffix is part of a name, without /") }
        guard !overwrite || !skipExisting else {
            throw ValidationError("--overwrite and --skip-existing exclude each other")
        }
    }

    func choice(for draft: JobDraft) throws(ReelFailure) -> OutputChoice {
        try draft.output(output, container: container, in: outputDir, suffix: suffix)
    }

    /// Makes the folder of the outputs, and the folders above it. If that fails, writing an output will say why.
    func makeFolder() {
        guard let outputDir else { return }
        try? FileManager.default.createDirectory(atPath: outputDir, withIntermediateDirectories: true)
    }
}

/// The options of commands that make outputs and print jobs as lines of JSON.
struct JSONLines: ParsableArguments {
    @Flag(help: "Print each job as it ended, or the reason why it was refused, as a line of JSON.") var json = false
    @Flag(help: "With --json, print jobs also while they are worked on, twice a second.") var progress = false

    func validate() throws {
        guard json || !progress else { throw ValidationError("--progress needs --json") }
    }

    /// Prints a job that is worked on.
    func going(_ view: JobView) { if progress, !view.state.isTerminal { console.json(view) } }

    func skipped(_ view: SkippedView) { if json { console.json(view) } }

    func ended(_ view: JobView) { if json { console.json(view) } }
}

internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

/// One machine: a Redis and workers of its own, for one job.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Reverse a video on this machine, with nothing else running.",
        discussion: "Ctrl-C stops it; the same command goes on where it stopped.")

    @Argument(help: "The video to reverse.")
    var source: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions

    @OptionGroup var slots: SlotOptions

    @Flag(help: "Start anew where an interrupted run of the same job could be resumed.")
    var force = false

    @Flag(help: "Print what became of it as a line of JSON.")
    var json = false

    func run() async throws {
        let choice = try output.choice(for: source, lossless: spec.lossless)
        let job = try JobRecord(submitting: source, spec: spec.spec(choice.container))
        let deliver = Deliver(to: choice.path, overwrite: output.overwrite)
        try deliver.check(source: source)
        let local = LocalRun(
            job: job, deliver: deliver, programs: try Programs(),
            slots: slots.count, memoryTotal: slots.memory, memoryIsLimited: slots.memoryTotal != nil, anew: force)
        let view = try await Interruption.cancelling { try await local.run() }
        if json { console.json(view) }
    }
}

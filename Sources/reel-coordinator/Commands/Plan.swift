internal import ArgumentParser
internal import ReelCore
internal import ReelEngine
internal import ReelPipeline
internal import ReelStore

/// What `submit` would do, without doing it.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what submitting a video would cause: passes, memory, what is decoded.")

    @Argument(help: "The video to look at.")
    var source: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file that would be written; its extension chooses the container.", valueName: "file"))
    var output: String?

    @OptionGroup var spec: SpecOptions

    @Flag(help: "Print a line of JSON.")
    var json = false

    func run() async throws {
        let choice = try OutputChoice(output, for: source, lossless: spec.lossless)
        _ = try Fingerprint.of(source)
        let engine = EngineHost(executable: try Programs().path("reel-engine"))
        let (source, spec) = (source, spec.spec(choice.container))
        let view = try await Interruption.cancelling {
            let folder = try PrivateFolder()
            let submit = Submit(
                store: try Store(root: folder.path), engine: engine, capacity: Capacity(slots: 8))
            return PlanView(try await submit.prepare(source: source, spec: spec))
        }
        if json { try Console.json(view) } else { show(view) }
    }

    private func show(_ view: PlanView) {
        let video = view.passes.filter { $0.kind == "video" }
        let runs = video.reduce(0) { $0 + $1.runs }
        Console.result("job      \(view.id)")
        Console.result("source   \(view.source)")
        Console.result(
            "output   \(view.container), \(view.videoEncoder) \(view.width)x\(view.height) \(view.pixelFormat)"
                + view.audioEncoders.map { ", \($0)" }.joined())
        Console.result("frames   \(view.frames), \(ClockTime.text(seconds: view.seconds))")
        Console.result("passes   \(video.count) of video in \(runs) runs, \(view.passes.count - video.count) of audio")
        Console.result("memory   \(ByteSize(bytes: view.need)) a pass")
        Console.result("decodes  \(view.framesToDecode) frames")
        for warning in view.warnings { Console.say("warning: \(warning)") }
    }
}

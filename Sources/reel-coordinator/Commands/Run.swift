internal import ArgumentParser
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract:
            "Reverse a video, play it forth and back, or stitch several, on this machine, with nothing else running.",
        discussion: HelpText.text(
            "Ctrl-C stops it; the same command goes on where it stopped.",
            HelpText.examples(
                "reel-coordinator run clip.mp4",
                "reel-coordinator run film.mkv -o film.mp4 --video-codec libx265 --crf 22",
                "reel-coordinator run tape.avi -o tape.mkv --lossless",
                "reel-coordinator run clip.mp4 --play ping-pong --times 3",
                "reel-coordinator run a.mov b.mov c.mov --stitch -o day.mp4",
                "reel-coordinator run cut.json -o cut.mp4",
                "reel-coordinator run cut.otio -o cut.mp4"),
            HelpText.encoders, HelpText.containers, HelpText.environment([.sandbox, .temporary]), HelpText.exitCodes))

    @Argument(
        help: "The video to reverse; with --stitch several; or the file of an edit (.json) or timeline (.otio).",
        completion: .file())
    var sources: [String]

    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions
    @OptionGroup var sandbox: SandboxOption

    @OptionGroup var slots: SlotOptions

    @Flag(help: "Start over, even if an interrupted run could be resumed.")
    var force = false

    @Flag(help: "Print the job as it ended, as a line of JSON.")
    var json = false

    func run() async throws {
        // Not in `validate`: of an unknown option with a value, the parser takes the value for another video.
        guard sources.count == 1 || spec.stitch else {
            throw ValidationError("run takes one video; --stitch makes one output of several")
        }
        let order = try spec.orders(sources)[0]
        order.diagnostics.forEach(console.warn)
        let choice = try output.choice(for: order, spec)
        let job = try JobRecord(submitting: order.sources, spec: spec.spec(order, choice.container))
        let destination = Destination(choice.path, overwrite: output.overwrite)
        try order.check(destination)
        let local = LocalRun(
            job, to: destination, programs: try Programs(), slots: slots.count, memoryTotal: slots.memory,
            memoryIsLimited: slots.memoryTotal != nil, sandbox: sandbox.mode, anew: force)
        let (begun, display) = (ContinuousClock.now, RunDisplay())
        let view = try await Interruption.cancelling {
            defer { display.clear() }
            return try await local.run(display.show)
        }
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        let frames = job.spec.countedFrames(view.frames)
        console.say("wrote \(destination.path): \(frames) in \(ClockTime.text(seconds: seconds))")
        if json { console.json(view) }
    }
}

/// Shows on standard error how a run goes.
private final class RunDisplay: Sendable {
    private let reading = ReadingDisplay(on: console)
    /// Nil until the source has been read.
    private let progress = Mutex<ProgressDisplay?>(nil)

    func show(_ step: LocalRun.Step) {
        switch step {
        case .reading(let share): reading.heard(share)
        case .continued:
            clear()
            console.say("goes on where an earlier run of the same job stopped")
        case .progress(let view):
            reading.clear()
            progress.withLock { display in
                var shown = display ?? ProgressDisplay(on: console)
                shown.show(view)
                display = shown
            }
        case .notRemoved(let failure):
            clear()
            console.say(failure.words)
        }
    }

    /// Takes bars away, so that other lines can be printed.
    func clear() {
        reading.clear()
        progress.withLock { $0?.clear() }
    }
}

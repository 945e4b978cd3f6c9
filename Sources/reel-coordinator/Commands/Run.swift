internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelHost
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract:
            "Reverse videos, play them forth and back, or stitch several, on this machine, with nothing else running.",
        discussion: HelpText.text(
            """
            Ctrl-C stops it; the same command goes on where it stopped. If one of several videos fails, the others are still \
            reversed, and the first failure decides the exit code. Folders within a folder are not searched.
            """,
            HelpText.examples(
                "reel-coordinator run clip.mp4",
                "reel-coordinator run film.mkv -o film.mp4 --video-codec libx265 --crf 22",
                "reel-coordinator run tape.avi -o tape.mkv --lossless",
                "reel-coordinator run a.mov b.mov shots/ --output-dir out --skip-existing",
                "reel-coordinator run clip.mp4 --play ping-pong --times 3",
                "reel-coordinator run a.mov b.mov c.mov --stitch -o day.mp4",
                "reel-coordinator run cut.json -o cut.mp4",
                "reel-coordinator run cut.otio -o cut.mp4"),
            HelpText.encoders, HelpText.containers,
            HelpText.environment([.sandbox, .configuration, .temporary] + HelpText.Variable.ofNetwork),
            HelpText.exitCodes),
        aliases: ["reverse"])

    @Argument(
        help: "The videos to reverse, folders of videos, or files of edits (.json) and timelines (.otio).",
        completion: .file())
    var sources: [String]

    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions
    @OptionGroup(title: HelpText.Section.work.rawValue) var sandbox: SandboxOption
    @OptionGroup(title: HelpText.Section.work.rawValue) var slots: SlotOptions
    @OptionGroup(title: HelpText.Section.work.rawValue) var endCommand: EndCommandOption
    @Flag(help: "Start over, even if an interrupted run could be resumed.") var force = false
    @OptionGroup var lines: JSONLines

    func run() async throws {
        // Not in `validate`: the parser takes the value of an unknown option for another video.
        let (started, items) = try await output.batch(of: sources, spec, checks: true, lines) {
            (draft, choice) async throws(ReelFailure) in
            try JobRecord(
                submitting: draft.sources, spec: draft.spec(in: choice.container),
                web: await RemoteAccess.any()?.fingerprints(of: draft.sources) ?? [:])
        }
        var batch = started
        if let warning = slots.warning { console.say("warning: \(warning)") }
        // Each folder of outputs has a store of its own.
        var folders: [String] = []
        for item in items where !folders.contains(item.destination.folder) {
            folders.append(item.destination.folder)
        }
        var written = 0
        for folder in folders {
            let (failures, made) = try await run(items.filter { $0.destination.folder == folder })
            written += made
            for failure in failures { batch.note(failure) }
        }
        if batch.sources > 1 {
            let skipped = batch.skipped > 0 ? ", \(batch.skipped) skipped" : ""
            console.say("wrote \(written) of \(batch.sources) videos\(skipped)")
        }
        try batch.end()
    }

    /// Makes outputs of one folder. Reports each failure, and returns the failures and how many outputs were written.
    /// Throws if the command is interrupted.
    private func run(_ items: [BatchItem]) async throws -> (failures: [ReelFailure], written: Int) {
        let local = LocalRun(
            items.map { ($0.job, $0.destination) }, programs: try Programs(), slots: slots.count,
            memoryTotal: slots.memory, memoryIsLimited: slots.memoryTotal != nil, sandbox: sandbox.mode,
            remote: RemoteAccess.any(), anew: force)
        let displays = items.map { RunDisplay(of: $0, lines) }
        // One line of the terminal shows how far one of them is.
        let shown = Mutex(0)
        let (ends, endCommand) = (AsyncStream.makeStream(of: JobEnd.self), endCommand)
        do throws(ReelFailure) {
            try await Interruption.cancelling {
                defer { for display in displays { display.clear() } }
                async let told: Void = { for await end in ends.stream { await endCommand.tell(end) } }()
                defer { ends.continuation.finish() }
                try await local.run { place, step in
                    shown.withLock { shown in
                        if shown != place { displays[shown].clear() }
                        shown = place
                        displays[place].show(step)
                    }
                    if let end = displays[place].told(of: step) { ends.continuation.yield(end) }
                }
                ends.continuation.finish()
                await told
            }
        } catch {
            if error.kind == .interrupted, displays.contains(where: \.isWritten), !output.overwrite {
                console.say("with --skip-existing the same command leaves out the videos that are written")
            }
            if let kept = LocalRun.kept(in: items[0].destination.folder) {
                console.say(
                    "kept \(Wording.mebibytes(kept.bytes)) in \(kept.folder) for the same command; delete it if that is not wanted"
                )
            }
            let unfinished = displays.filter { $0.end == nil }.map(\.job)
            console.report(error, ofEach: unfinished)
            // Only an output that is alone has no place among others.
            guard error.kind != .interrupted, items.contains(where: { $0.subject != nil }) else {
                throw ReportedFailure(error)
            }
            return (displays.compactMap(\.failure) + unfinished.map { _ in error }, displays.count(where: \.isWritten))
        }
        return (displays.compactMap(\.failure), displays.count(where: \.isWritten))
    }
}

private final class RunDisplay: Sendable {
    private let item: BatchItem
    private let lines: JSONLines
    private let reading = ReadingDisplay(on: console)
    private let state = Mutex(State())

    private struct State {
        /// Nil until the source has been read.
        var progress: ProgressDisplay?
        var begun = ContinuousClock.now
        var end: Result<Void, ReelFailure>?
    }

    init(of item: BatchItem, _ lines: JSONLines) { (self.item, self.lines) = (item, lines) }

    var job: JobID { item.job.id }

    var failure: ReelFailure? { if case .failure(let failure) = end { failure } else { nil } }

    var isWritten: Bool { if case .success = end { true } else { false } }

    /// Nil until the video is written or has failed.
    var end: Result<Void, ReelFailure>? { state.withLock(\.end) }

    func show(_ step: LocalRun.Step) {
        switch step {
        case .begun: state.withLock { $0.begun = .now }
        case .reading(let share): reading.heard(share)
        case .continued:
            clear()
            console.say("goes on where an earlier run of the same job stopped")
        case .progress(let view):
            reading.clear()
            state.withLock { state in
                var shown = state.progress ?? ProgressDisplay(on: console, of: item.subject)
                shown.show(view)
                state.progress = shown
            }
            lines.going(view)
        case .delivered(let view):
            clear()
            let begun = state.withLock { state in
                state.end = .success(())
                return state.begun
            }
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            let time = ClockTime.text(seconds: max(seconds.rounded(), 1))
            console.say(view.wrote(item.destination.path, item.job, in: time))
            lines.ended(view)
        case .failed(let failure):
            clear()
            state.withLock { $0.end = .failure(failure) }
            console.report(failure, of: item.job.id, item.subject)
        case .notRemoved(let failure):
            clear()
            console.say(failure.words)
        }
    }

    /// What the command of `--on-done` is told of the step; nil if it is not the video's end.
    func told(of step: LocalRun.Step) -> JobEnd? {
        let (job, source, output) = (item.job.id, item.job.source.path, item.destination.path)
        return switch step {
        case .delivered: JobEnd(done: job, source: source, output: output)
        case .failed(let failure): JobEnd(failure, of: job, source: source, output: output)
        default: nil
        }
    }

    func clear() {
        reading.clear()
        state.withLock { $0.progress?.clear() }
    }
}

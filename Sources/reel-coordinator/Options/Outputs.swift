internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal
internal import Subprocess
internal import SystemPackage

struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file or object (s3://bucket/key) to write; its extension chooses the container. Default: NAME.reversed.EXT (ping-pong, cut, stitched) beside the source.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: .of(.container)) var container: Container?

    @Option(
        help: ArgumentHelp(
            "The folder, or s3://bucket/prefix, of outputs that have their default names; a folder is made if it is missing. Default: the source's.",
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
        guard let outputDir, !WebAddress.isWritten(outputDir) else { return }
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

/// The videos of a command. If one fails, the others are still worked on.
struct VideoBatch {
    /// How many outputs the command was asked for, also the ones that were refused or left out.
    let sources: Int
    private(set) var skipped = 0
    private var failures: [ReelFailure]

    /// Reports the failures of arguments that do not make a draft.
    init(sources: Int, refused: [ReelFailure]) {
        (self.sources, failures) = (sources, refused)
        for failure in refused { console.report(failure) }
    }

    /// Does a part of the work on a video. Reports its failure, but throws one that ends the command.
    mutating func attempt(_ item: BatchItem, _ work: () async throws(ReelFailure) -> Void) async throws {
        do throws(ReelFailure) { try await work() } catch { try note(error, of: item.job.id, item.subject) }
    }

    /// Does the work that comes before there is a job. Reports a failure likewise.
    mutating func prepare(_ subject: BatchPlace?, _ work: () async throws(ReelFailure) -> Void) async throws {
        do throws(ReelFailure) { try await work() } catch { try note(error, of: nil, subject) }
    }

    /// Leaves a video out, and says why.
    mutating func skip(_ view: SkippedView, _ why: String, _ lines: JSONLines) {
        skipped += 1
        console.say("\(view.source): skipped, \(why)")
        lines.skipped(view)
    }

    mutating func note(_ failure: ReelFailure) { failures.append(failure) }

    private mutating func note(_ failure: ReelFailure, of job: JobID?, _ subject: BatchPlace?) throws {
        guard failure.kind != .interrupted else {
            guard let job else { throw failure }
            let goesOn = ReelFailure(.jobGoesOn(job: job))
            console.report(goesOn, of: job)
            throw ReportedFailure(goesOn)
        }
        console.report(failure, of: job, subject)
        note(failure)
    }

    /// Sums up if there are several videos. Throws the first failure, which decides the exit code.
    func end() throws {
        guard let first = failures.first else { return }
        if sources > 1 { console.say("\(failures.count) of \(sources) videos failed") }
        throw ReportedFailure(first)
    }
}

struct BatchItem {
    let job: JobRecord
    let destination: Destination
    /// Nil for the only one.
    let subject: BatchPlace?
}

extension OutputOptions {
    /// The outputs that a command's arguments ask for, whose names are checked before any work. Makes the folder of the
    /// outputs. Outputs that cannot be made are reported in the batch. Outputs that need not be made are left out: a
    /// video whose output exists, if that is asked for, and a video that is itself the output of another, as in a
    /// folder that was reversed before.
    ///
    /// Throws a usage error for options that do not go with the arguments.
    ///
    /// - Parameters:
    ///   - checks: whether the destinations must be free now.
    ///   - lines: print the outputs that are left out, too.
    ///   - make: the job of a draft.
    func batch(
        of arguments: [String], _ spec: SpecOptions, checks: Bool, _ lines: JSONLines,
        _ make: (JobDraft, OutputChoice) async throws(ReelFailure) -> JobRecord
    ) async throws -> (VideoBatch, [BatchItem]) {
        try checkLast(of: arguments)
        var refused: [ReelFailure] = []
        let drafts = try spec.drafts(of: arguments) { refused.append($0) }
        let count = drafts.count + refused.count
        guard output == nil || count == 1 else {
            throw ValidationError(
                "-o takes one video only; --output-dir takes several, --stitch makes one output of them")
        }
        makeFolder()
        var batch = VideoBatch(sources: count, refused: refused)
        let items = try await items(for: drafts, in: &batch, checks: checks, lines, make)
        return (batch, items)
    }

    /// Throws if the last of several videos does not exist and looks like an output, which other programs take without an
    /// option.
    private func checkLast(of arguments: [String]) throws(ValidationError) {
        guard arguments.count > 1, output == nil, let last = arguments.last, !WebAddress.isWritten(last),
            Container(rawValue: URL(filePath: last).pathExtension.lowercased()) != nil,
            !FileManager.default.fileExists(atPath: last)
        else { return }
        throw ValidationError("there is no \(last); if it is to be the output, name it with -o: -o \(last)")
    }

    private func items(
        for drafts: [JobDraft], in batch: inout VideoBatch, checks: Bool, _ lines: JSONLines,
        _ make: (JobDraft, OutputChoice) async throws(ReelFailure) -> JobRecord
    ) async throws -> [BatchItem] {
        let standardized = { (path: String) in URL(fileURLWithPath: path).standardizedFileURL.path }
        var makers: [String: Int] = [:]
        for (place, draft) in drafts.enumerated() {
            guard let choice = try? choice(for: draft) else { continue }
            let path = standardized(choice.path)
            if makers[path] == nil { makers[path] = place }
        }
        var items: [BatchItem] = []
        /// The place among the items of each output.
        var outputs: [String: Int] = [:]
        for (place, draft) in drafts.enumerated() {
            if let maker = makers[standardized(draft.named)], maker != place {
                batch.skip(
                    SkippedView(source: draft.shown, reason: .isOutput), "it is the output of \(drafts[maker].shown)",
                    lines)
                continue
            }
            let subject = BatchPlace(place, of: drafts.count, path: draft.shown)
            var skipped: (view: SkippedView, why: String)?
            try await batch.prepare(subject) { () async throws(ReelFailure) in
                for diagnostic in draft.diagnostics { console.warn(diagnostic, of: subject) }
                let choice = try choice(for: draft)
                let destination = Destination(choice.path, overwrite: overwrite, remote: RemoteAccess.outputs())
                if skipExisting, try await destination.exists() {
                    let view = SkippedView(source: draft.shown, reason: .exists, output: choice.path)
                    skipped = (view, "\(choice.path) exists")
                    return
                }
                let job = try await make(draft, choice)
                if checks { try await draft.check(destination) }
                if let other = outputs[choice.path].map({ items[$0] }) {
                    guard other.job.sources.map(\.path) != job.sources.map(\.path) else {
                        skipped = (SkippedView(source: draft.shown, reason: .namedTwice), "it is named twice")
                        return
                    }
                    throw ReelFailure(.outputTwice(path: choice.path, source: other.job.source.path))
                }
                outputs[choice.path] = items.count
                items.append(BatchItem(job: job, destination: destination, subject: subject))
            }
            if let skipped { batch.skip(skipped.view, skipped.why, lines) }
        }
        return items
    }
}

struct Failures {
    private var first: ReelFailure?

    /// Reports the failure of one of them.
    ///
    /// - Parameter job: the job that it is about, if there is one.
    mutating func note(_ failure: ReelFailure, of job: JobID? = nil) {
        console.report(failure, of: job)
        first = first ?? failure
    }

    /// Throws the first failure, which decides the exit code.
    func end() throws { if let first { throw ReportedFailure(first) } }
}

struct SkippedView: Encodable {
    var source: String
    var outcome = "skipped"
    var reason: Reason
    var output: String?

    enum Reason: String, Encodable {
        case exists
        case isOutput = "is-output"
        case namedTwice = "named-twice"
    }
}

/// The option `--on-done`: a user's command that runs at the end of each job.
struct EndCommandOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Run this with /bin/sh when a job has ended: REEL_STATE is done, failed or cancelled; REEL_JOB, REEL_SOURCE, \
            REEL_OUTPUT and, if it is not done, REEL_CODE and REEL_MESSAGE say more. What it prints goes to standard error. \
            It is not run for a video that never becomes a job, such as a missing file. If it fails, a message says so, and \
            the exit code stays the same.
            """, valueName: "command"))
    var onDone: String?

    /// Runs the command, if there is one, and waits for its end. If it fails, a message says so, and nothing else
    /// changes.
    func tell(_ end: JobEnd) async {
        guard let onDone else { return }
        let variables: [Environment.Key: String?] = [
            "REEL_STATE": end.state, "REEL_JOB": end.job.text, "REEL_SOURCE": end.source, "REEL_OUTPUT": end.output,
            "REEL_CODE": end.code, "REEL_MESSAGE": end.message,
        ]
        do {
            let outcome = try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", onDone], environment: .inherit.updating(variables),
                output: .currentStandardError, error: .currentStandardError)
            switch outcome.terminationStatus {
            case .exited(0): break
            case .exited(let code): console.say("the command of --on-done failed with exit code \(code): \(onDone)")
            case .signaled(let signal): console.say("the command of --on-done died of signal \(signal): \(onDone)")
            }
        } catch {
            guard !(error is CancellationError) else { return }
            console.say("the command of --on-done cannot be run: \(error)")
        }
    }
}

/// The end of a job, as the command is told of it.
struct JobEnd: Sendable {
    let job: JobID
    let state: String
    let source: String?
    /// The path to which `run` or `submit` delivered the result, or would have. `wait` delivers nothing: there it is
    /// the result's path in the store.
    let output: String?
    /// Nil for a job that is done.
    private(set) var code: String?
    private(set) var message: String?

    init(done job: JobID, source: String, output: String?) {
        (self.job, state, self.source, self.output) = (job, "done", source, output)
    }

    init(_ failure: ReelFailure, of job: JobID, source: String, output: String?) {
        let isCancelled = if case .jobCancelled = failure.reason { true } else { false }
        (self.job, state, self.source, self.output) = (job, isCancelled ? "cancelled" : "failed", source, output)
        (code, message) = (failure.reason.code, console.words(failure))
    }
}

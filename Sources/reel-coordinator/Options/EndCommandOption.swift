internal import ArgumentParser
internal import ReelCore
internal import ReelTerminal
internal import Subprocess
internal import SystemPackage

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

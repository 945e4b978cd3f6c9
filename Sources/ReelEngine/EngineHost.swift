internal import Glibc
internal import ReelCore
internal import Subprocess
internal import SystemPackage

/// How long an engine with a request may be silent. Time in which the machine sleeps does not count.
public struct EngineLimits: Sendable {
    /// Without an event and without using any CPU.
    public var stall: Duration
    /// Without an event, even if it uses CPU.
    public var silence: Duration

    /// Limits of a working engine; the defaults are those of a slow disk and a hard codec.
    public init(stall: Duration = .seconds(120), silence: Duration = .seconds(600)) {
        self.stall = stall
        self.silence = silence
    }
}

/// Starts, watches and ends engines of one executable.
public struct EngineHost: EngineRunner {
    /// Path of the executable, or its name if it is to be looked up in PATH.
    public let executable: String
    /// When an engine counts as hung.
    public let limits: EngineLimits

    /// A host of engines of one executable.
    ///
    /// - Note: From now on the process ignores SIGPIPE: an engine may die while a request is written to it.
    public init(executable: String, limits: EngineLimits = EngineLimits()) {
        self.executable = executable
        self.limits = limits
        signal(SIGPIPE, SIG_IGN)
    }

    /// Starts the engine in a process group of its own. When this returns, on any path, the engine and all processes that
    /// it started are dead and reaped. The engine enforces the limit of its memory itself.
    public nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = EngineProcess.killingGroup
        let outcome: ExecutionResult<Result<R, any Error>, SequenceOutput, SequenceOutput>
        do {
            outcome = try await run(
                executable.contains("/") ? .path(FilePath(executable)) : .name(executable),
                arguments: Arguments(memory.map { ["--memory", String($0)] } ?? []),
                // The engine reads hostile files, so it must not know how to reach the board. Its crashes are expected:
                // Swift's backtracer would take seconds for each, and its output would replace the codec's last words.
                environment: .inherit.updating(["REEL_REDIS": nil, "SWIFT_BACKTRACE": "enable=no"]),
                platformOptions: options, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                let process = EngineProcess(execution, limits: limits)
                return await process.live { () async throws -> R in
                    try await body(EngineSession(process, identity: process.start()))
                }
            }
        } catch let error as SubprocessError {
            throw ReelFailure(.engineUnstartable(executable: executable, said: "\(error)"))
        }
        return try outcome.closureResult.get()
    }
}

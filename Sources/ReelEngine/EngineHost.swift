internal import FoundationEssentials
internal import Glibc
package import ReelCore
internal import ReelSandbox
internal import Subprocess
internal import SystemPackage

/// How long an engine with a request may be silent. Time in which the machine sleeps does not count.
package struct EngineLimits: Sendable {
    /// Without an event and without using any CPU.
    package var stall: Duration
    /// Without an event, even if it uses CPU.
    package var silence: Duration

    /// The most threads. Codecs start some for each processor; engines share the number that their user, or the service,
    /// may have.
    package var threads: Int

    /// Limits of a working engine; the defaults are those of a slow disk and a hard codec on a machine with many processors.
    package init(stall: Duration = .seconds(120), silence: Duration = .seconds(600), threads: Int = 2000) {
        self.stall = stall
        self.silence = silence
        self.threads = threads
    }
}

/// Starts, watches and ends engines of one executable.
package struct EngineHost: EngineRunner {
    /// Path of the executable, or its name if it is to be looked up in PATH.
    package let executable: String
    /// When an engine counts as hung.
    package let limits: EngineLimits
    /// Whether engines must be confined.
    package let sandbox: SandboxMode
    /// The folders from which engines read sources; nil for any.
    package let sourceRoots: SourceRoots?

    /// A host of engines of one executable.
    ///
    /// - Note: From now on the process ignores SIGPIPE: an engine may die while a request is written to it.
    package init(
        executable: String, limits: EngineLimits = EngineLimits(), sandbox: SandboxMode = .try,
        sourceRoots: SourceRoots? = nil
    ) {
        self.executable = executable
        self.limits = limits
        self.sandbox = sandbox
        self.sourceRoots = sourceRoots
        signal(SIGPIPE, SIG_IGN)
    }

    /// Starts the engine in a session of its own, in the folder `/`, with no more of this process's environment than it
    /// needs. When this returns, on any path, the engine and all processes that it started are dead and reaped. The engine
    /// confines itself, and enforces the limit of its memory.
    package nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = EngineProcess.killingGroup
        let start = Children.own.start()
        defer { start.end() }
        let outcome: ExecutionResult<Result<R, any Error>, SequenceOutput, SequenceOutput>
        do {
            outcome = try await run(
                executable.contains("/") ? .path(FilePath(executable)) : .name(executable),
                arguments: Arguments(memory.map { ["--memory", String($0)] } ?? []),
                environment: .custom(EngineHost.environment), workingDirectory: "/", platformOptions: options,
                input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                start.isRunning(as: execution.processIdentifier.value)
                let process = EngineProcess(execution, limits: limits)
                return await process.live { () async throws -> R in
                    let confinement = Confinement(scope: scope, mode: sandbox, sourceRoots: sourceRoots)
                    let identity = try await process.start(confinement)
                    return try await body(EngineSession(process, identity: identity))
                }
            }
        } catch let error as SubprocessError {
            throw ReelFailure(.engineUnstartable(executable: executable, said: "\(error)"))
        }
        return try outcome.closureResult.get()
    }

    /// The engine reads hostile files, so it learns nothing but the language, where temporary files go, and how programs are
    /// loaded and take memory. Its crashes are expected: Swift's backtracer would take seconds for each, and its output
    /// would replace the codec's last words.
    private static var environment: [Environment.Key: String] {
        var kept = ["SWIFT_BACKTRACE": "enable=no"]
        for (name, value) in ProcessInfo.processInfo.environment {
            let isKept =
                ["LANG", "PATH", "TMPDIR"].contains(name) || ["LC_", "LD_", "MALLOC_"].contains(where: name.hasPrefix)
            if isKept { kept[name] = value }
        }
        return Dictionary(uniqueKeysWithValues: kept.map { (Environment.Key(stringLiteral: $0), $1) })
    }
}

internal import FoundationEssentials
internal import Glibc
package import ReelCore
internal import ReelHost
internal import Subprocess
internal import SystemPackage

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
    /// needs. When this returns, on any path, the engine and all processes that it started are dead and reaped. The
    /// engine confines itself, and enforces the limit of its memory.
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

    /// The engine reads hostile files, so it learns nothing but the language, where temporary files go, and how
    /// programs are loaded and take memory. Its crashes are expected: Swift's backtracer would take seconds for each,
    /// and its output would replace the codec's last words.
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

/// An engine in a process of its own, inside `EngineHost.withEngine`.
package final class EngineSession: Engine {
    package let identity: EngineIdentity
    private let process: EngineProcess

    init(_ process: EngineProcess, identity: EngineIdentity) {
        self.process = process
        self.identity = identity
    }

    package func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(request, progress: progress)
    }

    package func assemble(
        _ request: AssembleRequest, progress: @escaping @Sendable (EngineProgress) -> Void,
        next: @escaping @Sendable () async throws(ReelFailure) -> [StoredSegment]?
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(.assemble(request), progress: progress, next: next)
    }

    package var standardErrorTail: String { process.standardError.text }

    package var cpuSeconds: Double { process.cpuSeconds }

    /// Whether the engine has ended, or is about to because it was killed.
    package var isDead: Bool { process.isDead }
}

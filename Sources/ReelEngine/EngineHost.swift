internal import FoundationEssentials
internal import Glibc
package import ReelCore
internal import ReelHost
internal import Subprocess
internal import SystemPackage

/// A running engine. It takes one request at a time.
///
/// ``EngineSession`` is an engine in a process of its own. Tests of the worker have engines that answer in their
/// process.
package protocol Engine: Sendable {
    /// The engine's report about itself when it was ready.
    var identity: EngineIdentity { get }

    /// The end of the engine's standard error, 64 KiB at most.
    var standardErrorTail: String { get }

    /// Seconds of CPU time that the engine has taken, by the kernel's count; 0 once it has ended.
    var cpuSeconds: Double { get }

    /// Sends a request and waits for its result. Cancelling the task kills the engine.
    ///
    /// - Parameters:
    ///   - progress: called with each progress event, in order, at most four times a second.
    ///   - next: gives the segments of an assembly as they become known, nil when all are named. If it throws, the
    ///     engine is killed. Other requests have none.
    /// - Throws: the engine's own failure as it is, after which it takes the next request; cause crash if it died, hung
    ///   or broke the protocol, naming the signal and the frames being processed; kind interrupted if the task was
    ///   cancelled; and what `next` throws. After the last three the engine is dead.
    func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void, next: NextSegments?
    ) async throws(ReelFailure) -> EngineResult
}

package typealias NextSegments = @Sendable () async throws(ReelFailure) -> [StoredSegment]?

extension Engine {
    /// Sends a request that is whole, and waits for its result.
    package func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void = { _ in }
    ) async throws(ReelFailure) -> EngineResult {
        try await perform(request, progress: progress, next: nil)
    }
}

package protocol EngineRunner: Sendable {
    /// Starts an engine, waits until it is ready, runs `body` with it and ends it.
    ///
    /// When this returns, on any path, nothing of the engine is left. Cancelling the task kills it at once. An engine
    /// dies with its first crash: start another for the next pass.
    ///
    /// - Parameters:
    ///   - memory: bytes that the engine's passes may take; nil for an engine that does none.
    ///   - scope: the files that the engine may reach, for all of its requests.
    /// - Throws: what `body` throws; `ReelFailure` with cause incompatible if the engine cannot be started or speaks
    ///   another protocol version, crash if it dies before it is ready, kind interrupted if the task was cancelled
    ///   before that.
    nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R
}

/// Starts, watches and ends engines of one executable.
package struct EngineHost: EngineRunner {
    /// Path of the executable, or its name if it is to be looked up in PATH.
    package let executable: String
    package let limits: EngineLimits
    package let sandbox: SandboxMode
    /// The folders from which engines read sources; nil for any.
    package let sourceRoots: SourceRoots?
    /// How sources on web servers are read; nil if they are not.
    package let remote: (any RemoteSources)?

    /// - Note: From now on the process ignores SIGPIPE: an engine may die while a request is written to it.
    package init(
        executable: String, limits: EngineLimits = EngineLimits(), sandbox: SandboxMode = .try,
        sourceRoots: SourceRoots? = nil, remote: (any RemoteSources)? = nil
    ) {
        self.executable = executable
        self.limits = limits
        self.sandbox = sandbox
        self.sourceRoots = sourceRoots
        self.remote = remote
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
        let sources = try await EngineSources(of: scope, remote)
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
                let process = EngineProcess(execution, limits: limits, sources: sources.sources)
                return await process.live { () async throws -> R in
                    let confinement = Confinement(
                        scope: sources.inside(scope), mode: sandbox, sourceRoots: sourceRoots)
                    let identity = try await process.start(confinement)
                    return try await body(EngineSession(process: process, sources: sources, identity: identity))
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
package struct EngineSession: Engine {
    fileprivate let process: EngineProcess
    fileprivate let sources: EngineSources
    package let identity: EngineIdentity

    package func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void, next: NextSegments?
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(sources.inside(request), progress: progress, next: next)
    }

    package var standardErrorTail: String { process.standardError.text }

    package var cpuSeconds: Double { process.cpuSeconds }

    /// Whether the engine has ended, or is about to because it was killed.
    package var isDead: Bool { process.isDead }
}

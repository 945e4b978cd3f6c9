package import ReelCore
internal import ReelSandbox

/// What an engine may reach: the files of its one job, and nothing else.
package struct EngineScope: Codable, Hashable, Sendable {
    /// Sources, which it may read if they lie in the roots of its caller, if those are restricted.
    package var sources: [Locator]
    /// Other files that it may read, and folders whose files it may.
    package var reads: [Locator]
    /// Folders in which it may make, write, rename, read and remove files.
    package var folders: [Locator]
    /// Seconds of CPU time, of all threads, after which it is killed; nil for no limit.
    package var cpuSeconds: Int?
    /// The most bytes that a file that it writes can have; nil for no limit.
    package var fileBytes: Int64?

    /// The scope of an engine that reads and writes nothing.
    package static let nothing = EngineScope(sources: [], reads: [], folders: [])

    package init(
        sources: [Locator], reads: [Locator], folders: [Locator], cpuSeconds: Int? = nil, fileBytes: Int64? = nil
    ) {
        self.sources = sources
        self.reads = reads
        self.folders = folders
        self.cpuSeconds = cpuSeconds
        self.fileBytes = fileBytes
    }
}

/// The first line on an engine's standard input: the engine confines itself before it is ready.
package struct Confinement: Codable, Hashable, Sendable {
    /// The files that the engine may reach.
    package var scope: EngineScope
    package var mode: SandboxMode
    /// The folders in which the scope's sources must lie; nil for any.
    package var sourceRoots: SourceRoots?

    package init(scope: EngineScope, mode: SandboxMode, sourceRoots: SourceRoots?) {
        self.scope = scope
        self.mode = mode
        self.sourceRoots = sourceRoots
    }

    /// Confines this process, which must have one thread. It cannot be undone. Returns the confinement in force.
    ///
    /// Throws `.sandboxIncomplete` if the mode requires a part that the kernel lacks, `.sourceOutside` if a source lies
    /// outside the roots.
    package func enter() throws(ReelFailure) -> SandboxState {
        try Sandbox.enter(
            mode, sources: scope.sources.map(\.name), within: sourceRoots, reads: scope.reads.map(\.name),
            writes: scope.folders.map(\.name), cpuSeconds: scope.cpuSeconds, fileBytes: scope.fileBytes)
    }
}

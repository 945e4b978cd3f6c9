package import ReelCore
internal import ReelSandbox

extension Confinement {
    /// Confines this process, which must have one thread. It cannot be undone. Returns what is in force.
    ///
    /// Throws `.sandboxIncomplete` if the mode requires a part that the kernel lacks, `.sourceOutside` if a source lies
    /// outside the roots.
    package func enter() throws(ReelFailure) -> SandboxState {
        try Sandbox(
            sources: scope.sources.map(\.name), sourceRoots: sourceRoots, reads: scope.reads.map(\.name),
            folders: scope.folders.map(\.name), cpuSeconds: scope.cpuSeconds,
            fileBytes: scope.fileBytes
        ).enter(mode)
    }
}

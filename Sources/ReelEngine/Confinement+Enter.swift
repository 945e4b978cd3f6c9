public import ReelCore
internal import ReelSandbox

extension Confinement {
    /// Confines this process, which must have one thread. It cannot be undone. Returns what is in force.
    ///
    /// Throws `.sandboxIncomplete` if the mode requires a part that the kernel lacks.
    public func enter() throws(ReelFailure) -> SandboxState {
        try Sandbox(
            reads: scope.reads.map(\.name), folders: scope.folders.map(\.name), cpuSeconds: scope.cpuSeconds,
            fileBytes: scope.fileBytes
        ).enter(mode)
    }
}

public import ReelCore
public import ReelStore

/// Brings a finished job's result to where a person wants it.
public struct Deliver: Sendable {
    public let output: String
    private let overwrite: Bool

    public init(to output: String, overwrite: Bool) {
        self.output = output
        self.overwrite = overwrite
    }

    /// Whether it may be written there, asked before any work. Throws `.output`.
    public func check(source: String?) throws(ReelFailure) {
        try Delivery.check(output, source: source, overwrite: overwrite)
    }

    /// Moves the result out of a store that is not needed any more, and removes the job and its source's index.
    public func move(_ folder: JobFolder, outOf workspace: Workspace) throws(ReelFailure) {
        try Delivery.move(folder.storedResult(), outOf: workspace, to: output, overwrite: overwrite)
        try folder.remove()
        folder.store.removeUnusedSources()
    }

    /// Copies the result of a job that stays in its store.
    ///
    /// Throws `.resultDiffers` where what was copied is not what was verified; nothing is delivered then.
    public func copy(_ folder: JobFolder) throws(ReelFailure) {
        let result = try folder.storedResult()
        let container = try folder.read().spec.container
        let choice = try OutputChoice(named: output, lossless: false)
        guard choice.container == container else {
            throw ReelFailure(.outputContainerDiffers(job: folder.id, container: container, output: output))
        }
        try Delivery.copy(result, to: output, overwrite: overwrite)
    }
}

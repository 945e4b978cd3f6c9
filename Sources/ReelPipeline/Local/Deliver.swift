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

    /// Moves the result out of a store that is not needed any more, and removes the job and what is empty above it.
    public func move(outOf store: Store, _ folder: JobFolder) throws(ReelFailure) {
        try Delivery.move(result(of: folder), to: output, overwrite: overwrite)
        try folder.remove()
        store.removeUnusedSources()
        store.removeIfEmpty()
    }

    /// Copies the result of a job that stays in its store.
    public func copy(_ folder: JobFolder) throws(ReelFailure) {
        let result = try result(of: folder)
        let container = try folder.read().spec.container
        let choice = try OutputChoice(named: output, lossless: false)
        guard choice.container == container else {
            throw ReelFailure(.outputContainerDiffers(job: folder.id, container: container, output: output))
        }
        try Delivery.copy(result, to: output, overwrite: overwrite)
    }

    private func result(of folder: JobFolder) throws(ReelFailure) -> String {
        guard let result = folder.result else {
            throw ReelFailure(.noResult(job: folder.id, state: try folder.read().state))
        }
        return result
    }
}

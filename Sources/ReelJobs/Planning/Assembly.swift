package import ReelCore
package import ReelEngine
package import ReelStore

/// The last step of a job: an engine joins the segments into the output and verifies it, and the store adopts the file.
package struct Assembly: Sendable {
    private let plan: Plan
    private let files: JobFiles
    private let entry: any JobEntry
    private let token: String

    /// - Parameters:
    ///   - files: where the engine reads the plan and what it was made from.
    ///   - entry: the job's place in the store.
    ///   - token: names the output until it is adopted.
    package init(of plan: Plan, _ files: JobFiles, in entry: any JobEntry, token: String) {
        self.plan = plan
        self.files = files
        self.entry = entry
        self.token = token
    }

    /// Returns the result for the board, and the output, which the job's record does not name yet.
    ///
    /// Throws what the engine and `next` throw, and `.engineMisanswered` if the file is not what the engine says.
    ///
    /// - Parameters:
    ///   - progress: as in `Engine.perform`.
    ///   - next: gives the segments as they become known.
    package func perform(
        in engine: any Engine, progress: @escaping @Sendable (EngineProgress) -> Void = { _ in },
        next: @escaping NextSegments
    ) async throws(ReelFailure) -> (result: PassResult, output: JobResult) {
        let container = plan.container
        let request = EngineRequest.assemble(
            AssembleRequest(job: files, output: entry.assembling(container, token: token)))
        guard case .assembly(let made) = try await engine.perform(request, progress: progress, next: next) else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        var output = try await entry.adoptOutput(
            assembledBy: token, as: container, bytes: made.bytes, sha256: made.checksum)
        // A loop may show fewer pictures than planned.
        output.frames = plan.loop == nil ? plan.frameCount : made.packets
        // Passes have made the frames, unless the source's packets are copied.
        let frames = plan.video.isPassthrough ? plan.frameCount : 0
        let statistics = PassStatistics(framesEncoded: frames, peakRSS: made.peakRSS, outputBytes: made.bytes)
        return (PassResult(segments: [], statistics: statistics, diagnostics: made.diagnostics), output)
    }
}

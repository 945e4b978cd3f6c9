package import ReelCore
package import ReelEngine
package import ReelStore

/// Pictures of jobs for people: frames of source and output, and filmstrips. An engine makes each once, and the job's
/// folder keeps it. Few are made at a time, and what takes too long is given up.
package struct JobPictures: Sendable {
    package enum Wanted: Hashable, Sendable {
        /// A frame, counted from 0 in presentation order.
        case frame(Int)
        /// Twelve frames at equal distances, side by side.
        case filmstrip
        /// Small frames side by side, of a source alone.
        case sheet(FrameSample)

        var frame: Int? { if case .frame(let frame) = self { frame } else { nil } }

        /// The size into which each frame is fitted.
        var size: PictureSize {
            switch self {
            case .frame: PictureSize(width: 1280, height: 720)
            case .filmstrip: PictureSize(width: 160, height: 160)
            case .sheet(let sample):
                sample.count == 1 ? PictureSize(width: 960, height: 960) : PictureSize(width: 320, height: 320)
            }
        }
    }

    package enum Side: String, Hashable, Sendable {
        case source, output
    }

    static let filmstripFrames = 12

    private let store: any JobStore
    private let engine: any EngineRunner
    private let queue: PictureQueue
    private let mostKept: Int

    /// - Parameter mostKept: pictures that the store keeps of a job.
    package init(store: any JobStore, engine: any EngineRunner, queue: PictureQueue, mostKept: Int = 500) {
        (self.store, self.engine, self.queue, self.mostKept) = (store, engine, queue, mostKept)
    }

    /// Opens a picture, after an engine has made it. If the task is cancelled, the picture is made all the same.
    ///
    /// Throws `.jobUnknown` if the store has no such job, what an engine throws that reads the file, and
    /// `PictureAbsence` if there is no such picture, or not yet.
    package func picture(_ wanted: Wanted, of side: Side, _ id: JobID) async throws -> OpenFile {
        var recipe = try await recipe(wanted, of: side, id)
        if let picture = await recipe.entry.picture(recipe.name) { return picture }
        do {
            try await make(recipe)
        } catch let failure as ReelFailure {
            // Segments and staged sources go when a job ends: what they showed is then shown by other files.
            let files = recipe.files
            recipe = try await self.recipe(wanted, of: side, id)
            guard recipe.files != files else { throw failure }
            try await make(recipe)
        }
        guard let picture = await recipe.entry.picture(recipe.name) else {
            throw ReelFailure(.engineMisanswered(task: .pictures))
        }
        return picture
    }

    private func recipe(_ wanted: Wanted, of side: Side, _ id: JobID) async throws -> PictureRecipe {
        let job = try await PicturedJob(id, in: store)
        return try await side == .source ? job.source(wanted).get() : job.output(wanted).get()
    }

    private func make(_ recipe: PictureRecipe) async throws {
        let key = PictureQueue.Key(job: recipe.entry.id, name: recipe.name.text, files: recipe.files)
        try await queue.make(key) {
            let result = await engineMakes(recipe)
            await recipe.entry.giveBack(recipe.segments)
            try result.get()
        }
    }

    private func engineMakes(_ recipe: PictureRecipe) async -> Result<Void, ReelFailure> {
        do {
            var scope = recipe.scope
            scope.folders = [
                try await withTaskExecutorPreference(StoreExecutor.shared) {
                    try await recipe.entry.bring(recipe.segments)
                    return try await recipe.entry.roomForPicture(of: mostKept)
                }
            ]
            (scope.cpuSeconds, scope.fileBytes) = (Int(PictureQueue.limit.components.seconds) * 2, 16 << 20)
            try await PictureQueue.limiting { [engine, scope] in
                try await engine.withEngine(memory: recipe.memory, scope: scope) { session in
                    guard case .pictures = try await session.perform(.pictures(recipe.request)) else {
                        throw ReelFailure(.engineMisanswered(task: .pictures))
                    }
                }
            }
            return .success(())
        } catch {
            return .failure(.of(error))
        }
    }
}

package enum PictureAbsence: Error, Hashable, Sendable {
    /// What it would show has not been read or made yet.
    case notYet
    /// The number of other pictures that are waited for.
    case busy
    /// There are no more frames than that.
    case beyond(frames: Int)
    /// There will be none: the job ended before it made what the picture would show.
    case none
}

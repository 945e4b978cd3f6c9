package import ReelCore
package import ReelEngine
package import ReelStore

/// Pictures of jobs for people: frames of source and output, and filmstrips. An engine makes each once, and the job's
/// folder keeps it. Few are made at a time, and what takes too long is given up.
package actor JobPictures {
    package enum Wanted: Hashable, Sendable {
        /// A frame, counted from 0 in presentation order.
        case frame(Int)
        /// Twelve frames at equal distances, side by side.
        case filmstrip

        var frame: Int? { if case .frame(let frame) = self { frame } else { nil } }

        /// The size into which each frame is fitted.
        var size: PictureSize {
            switch self {
            case .frame: PictureSize(width: 1280, height: 720)
            case .filmstrip: PictureSize(width: 160, height: 160)
            }
        }
    }

    package enum Side: String, Hashable, Sendable {
        case source, output
    }

    static let filmstripFrames = 12
    /// Pictures that the store keeps of a job.
    private static let mostKept = 500
    /// Engines at a time, and pictures that wait for one.
    private static let (mostEngines, mostWaiting) = (2, 24)
    /// After which a picture is given up, and for how long it is not tried again.
    private static let (limit, rest) = (Duration.seconds(120), Duration.seconds(60))

    private let store: any JobStore
    private let engine: any EngineRunner
    private var making: [Key: [AsyncStream<Result<Void, ReelFailure>>.Continuation]] = [:]
    private var queue: [PictureRecipe] = []
    private var engines = 0
    private var failed: [Key: (failure: ReelFailure, until: ContinuousClock.Instant)] = [:]

    private struct Key: Hashable {
        let job: JobID
        let name: PictureName
        /// What fails from a segment may not from the output.
        let files: Set<Locator>

        init(_ recipe: PictureRecipe) { (job, name, files) = (recipe.entry.id, recipe.name, recipe.files) }
    }

    package init(store: any JobStore, engine: any EngineRunner) {
        self.store = store
        self.engine = engine
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
        let key = Key(recipe)
        if let known = failed[key], known.until > .now { throw known.failure }
        let (ends, waiter) = AsyncStream<Result<Void, ReelFailure>>.makeStream()
        if making[key] == nil {
            guard queue.count < JobPictures.mostWaiting else { throw PictureAbsence.busy }
            queue.append(recipe)
        }
        making[key, default: []].append(waiter)
        startNext()
        for await end in ends { return try end.get() }
        throw CancellationError()
    }

    private func startNext() {
        guard engines < JobPictures.mostEngines, !queue.isEmpty else { return }
        engines += 1
        let recipe = queue.removeFirst()
        Task {
            ended(recipe, await run(recipe))
            engines -= 1
            startNext()
        }
    }

    private func ended(_ recipe: PictureRecipe, _ end: Result<Void, ReelFailure>) {
        let key = Key(recipe)
        failed = failed.filter { $0.value.until > .now }
        if case .failure(let failure) = end { failed[key] = (failure, .now + JobPictures.rest) }
        for waiter in making.removeValue(forKey: key) ?? [] {
            waiter.yield(end)
            waiter.finish()
        }
    }

    private nonisolated func run(_ recipe: PictureRecipe) async -> Result<Void, ReelFailure> {
        let result = await engineMakes(recipe)
        await recipe.entry.giveBack(recipe.segments)
        return result
    }

    private nonisolated func engineMakes(_ recipe: PictureRecipe) async -> Result<Void, ReelFailure> {
        do {
            var scope = recipe.scope
            scope.folders = [
                try await withTaskExecutorPreference(StoreExecutor.shared) {
                    try await recipe.entry.bring(recipe.segments)
                    return try await recipe.entry.roomForPicture(of: JobPictures.mostKept)
                }
            ]
            (scope.cpuSeconds, scope.fileBytes) = (Int(JobPictures.limit.components.seconds) * 2, 16 << 20)
            let late = ReelFailure(
                .engineHung(
                    place: .pictures, hang: .silent, seconds: Rational(JobPictures.limit.components.seconds),
                    lastWords: nil))
            try await ReelFailure.limiting(until: .now + JobPictures.limit, orThrow: late) { [engine, scope] in
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

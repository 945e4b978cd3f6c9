internal import ReelCore
internal import ReelEngine
internal import ReelStore

/// How an engine makes a picture of a job.
struct PictureRecipe: Sendable {
    let entry: any JobEntry
    let name: PictureName
    /// The segments that the engine reads.
    var segments: [SegmentRecord] = []
    let request: PicturesRequest
    /// What the engine reaches to do so, without the folder in which it writes.
    let scope: EngineScope
    /// Bytes of memory that it may take.
    let memory: Int64

    var files: Set<Locator> { Set(scope.sources + scope.reads) }
}

/// What is known of a job that pictures are wanted of.
struct PicturedJob: Sendable {
    private let store: any JobStore
    private let entry: any JobEntry
    private let record: JobRecord

    /// Throws `.jobUnknown` if the store has no such job.
    init(_ id: JobID, in store: any JobStore) async throws(ReelFailure) {
        self.store = store
        entry = store.job(id)
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
        record = try await entry.read()
    }

    /// Why something is not there that the job makes.
    private var absence: PictureAbsence { record.state?.isTerminal == true ? .none : .notYet }

    /// The recipe of frames of the source, or the reason why they cannot be shown.
    func source(_ wanted: JobPictures.Wanted) async throws(ReelFailure) -> Result<PictureRecipe, PictureAbsence> {
        let plan = try await entry.latestPlan()
        let number = plan?.mainSource ?? 0
        let source = record.sources[number]
        guard let (hash, index) = try await index(of: source, plan?.sources[number].indexHash) else {
            return .failure(absence)
        }
        let decoded = try await store.readIndex(index)
        guard !decoded.video.isNone else { return .failure(.none) }
        let frames = decoded.video.frames.count
        let sample: FrameSample
        switch wanted {
        case .frame(let frame):
            guard (0..<frames).contains(frame) else { return .failure(.beyond(frames: frames)) }
            sample = FrameSample(frame)
        case .filmstrip:
            guard frames > 0 else { return .failure(.none) }
            sample = FrameSample(JobPictures.filmstripFrames, of: frames)
        case .sheet(let wanted):
            guard let last = wanted.frames.last, last < frames else { return .failure(.beyond(frames: frames)) }
            sample = wanted
        }
        let name: PictureName
        if case .sheet = wanted {
            name = PictureName(sourceOf: hash, sheet: sample)
        } else {
            name = PictureName(sourceOf: hash, frame: wanted.frame)
        }
        let locator = await entry.presentLocator(of: source)
        let isOutside = locator == source.original || locator.web != nil
        return .success(
            PictureRecipe(
                entry: entry, name: name,
                request: PicturesRequest(
                    subject: .source(files: SourceFiles(source: locator, index: index), sample: sample),
                    within: wanted.size, file: entry.place(of: name)),
                scope: EngineScope(
                    sources: isOutside ? [locator] : [], reads: [index] + (isOutside ? [] : [locator]), folders: []),
                memory: MemoryBudget.pictures(of: decoded, as: decoded.video.stream)))
    }

    /// The place of a source's index: the one that the plan was made from, or the one that a plan will be.
    private func index(of source: JobSource, _ planned: String?) async throws(ReelFailure) -> (String, Locator)? {
        let entry = try store.source(source.fingerprint)
        if let planned { return try await entry.locator(of: planned).map { (planned, $0) } }
        if let found = try await entry.index(.decoded) { return (found.hash, found.locator) }
        guard try await !entry.isDisproved(), let found = try await entry.index(.index) else { return nil }
        return (found.hash, found.locator)
    }

    /// The recipe of frames of the output, or the reason why they cannot be shown. They come from the output's file
    /// if it is finished, otherwise from the segments that are.
    func output(_ wanted: JobPictures.Wanted) async throws(ReelFailure) -> Result<PictureRecipe, PictureAbsence> {
        guard let plan = try await entry.latestPlan() else { return .failure(absence) }
        guard !plan.video.isNone else { return .failure(.none) }
        let order = FrameOrder(plan)
        let places: [Int]
        switch wanted {
        case .frame(let frame):
            guard (0..<order.count).contains(frame) else { return .failure(.beyond(frames: order.count)) }
            places = [frame]
        case .filmstrip:
            guard order.count > 0 else { return .failure(.none) }
            places = FrameSample(JobPictures.filmstripFrames, of: order.count).frames
        case .sheet: return .failure(.none)
        }
        let indexes = try await store.readIndexes(of: plan, record)
        let pictures: [FilePicture?]
        var brought: [SegmentRecord] = []
        if let result = await entry.result {
            // libavformat reads no WebP file with several pictures.
            guard plan.container != .webp else { return .failure(.none) }
            pictures = FilePicture.places(places, order, plan, indexes, of: try await entry.local(result).locator)
        } else {
            (pictures, brought) = await segments(places, order, plan, indexes)
        }
        guard pictures.contains(where: { $0 != nil }) else { return .failure(absence) }
        let name =
            switch wanted {
            case .frame(let frame): PictureName(outputOf: plan.number, frame: frame)
            case .filmstrip, .sheet: PictureName(outputOf: plan.number, filmstrip: pictures.map { $0 != nil })
            }
        let main = indexes[plan.mainSource]
        return .success(
            PictureRecipe(
                entry: entry, name: name, segments: brought,
                request: PicturesRequest(
                    subject: .output(
                        format: plan.video.format, like: main.video.stream.shown(in: plan.video), pictures: pictures),
                    within: wanted.size, file: entry.place(of: name)),
                scope: EngineScope(sources: [], reads: Array(Set(pictures.compactMap { $0?.file })), folders: []),
                memory: MemoryBudget.pictures(of: main, as: main.video.stream)))
    }

    /// The pictures at these places of the output, as far as their segments are there.
    private func segments(
        _ places: [Int], _ order: FrameOrder, _ plan: Plan, _ indexes: [SourceIndex]
    ) async -> ([FilePicture?], of: [SegmentRecord]) {
        let (planned, makers) = (PlannedSegments(plan: plan, indexes: indexes), plan.makers)
        let wanted = places.map { place in
            let (maker, frame) = (makers[order.clip(at: place)], order.frame(at: place).frame)
            return plan.chunk(showing: frame, of: maker).map { chunk in
                (
                    content: planned.content(ofChunk: chunk, of: maker),
                    span: plan.span(at: order.placeInClip(at: place), inChunk: chunk, of: maker, indexes)
                )
            }
        }
        let found = await entry.recordedSegments(wanted.compactMap { $0?.content })
        var records = found[...]
        let pictures = wanted.map { wanted -> FilePicture? in
            guard let wanted, let record = records.popFirst() ?? nil else { return nil }
            return FilePicture(
                file: entry.place(of: record.name).data, start: wanted.span.start, lasts: wanted.span.lasts)
        }
        return (pictures, Array(Set(found.compactMap(\.self))))
    }
}

extension FilePicture {
    fileprivate static func places(
        _ places: [Int], _ order: FrameOrder, _ plan: Plan, _ indexes: [SourceIndex], of file: Locator
    ) -> [FilePicture?] {
        let clock = plan.video.format.timeBase
        let tracks = indexes.map(\.video)
        func interval(_ place: Int) -> Interval { order.interval(at: place, in: tracks) }
        let begin = interval(0).start
        return places.map { place in
            let interval = interval(place)
            return FilePicture(
                file: file, start: clock.seconds(interval.start - begin), lasts: clock.seconds(interval.duration))
        }
    }
}

extension Plan {
    /// The chunk of a clip whose segment shows a frame; nil if no pass makes one.
    fileprivate func chunk(showing frame: Int, of clip: Int) -> Range<Int>? {
        for case .video(let pass) in passes where pass.clips.contains(clip) && pass.frames.contains(frame) {
            return chunks(of: pass, in: clip).first { $0.contains(frame) }
        }
        return nil
    }

    /// When the segment of a chunk shows the frame at a place of its clip, and for how long, in seconds.
    fileprivate func span(
        at place: Int, inChunk chunk: Range<Int>, of clip: Int, _ indexes: [SourceIndex]
    ) -> (start: Rational, lasts: Rational) {
        let (shown, clock) = (clips[clip], video.format.timeBase)
        let track = indexes[shown.source].video
        return (
            clock.seconds(shown.start(at: place, inChunk: chunk, of: track)),
            clock.seconds(shown.interval(at: place, in: track).duration)
        )
    }
}

import ReelCore
import ReelEngine
import ReelMedia

/// Performs requests one after the other; keeps the current job open between its passes.
struct RequestHandler {
    private let events: EventWriter
    private let segments: SegmentFeed
    private var open: (files: JobFiles, job: OpenJob)?

    /// - Parameter segments: brings the segments of the assembly that is performed.
    init(events: EventWriter, segments: SegmentFeed) { (self.events, self.segments) = (events, segments) }

    mutating func perform(_ request: EngineRequest) {
        do throws(ReelFailure) { events.send(.result(try result(of: request))) } catch {
            open = nil
            events.send(.failure(error))
        }
    }

    private mutating func result(of request: EngineRequest) throws(ReelFailure) -> EngineResult {
        switch request {
        case .recon(let request): .recon(try recon(request))
        case .choose(let request): .targets(try choose(request))
        case .reverse(let request): .pass(try reverse(request))
        case .reverseAudio(let request): .pass(try reverseAudio(request))
        case .assemble(let request): .assembly(try assemble(request))
        case .pictures(let request): try pictures(request)
        }
    }

    private func recon(_ request: ReconRequest) throws(ReelFailure) -> ReconResult {
        // Even looking at the clock takes longer than a packet whose payload is left where it is.
        let report = { [events] (packets: Int, thousandths: Int) in
            if packets % 64 == 0 { events.progress(.recon(packets: packets, thousandths: thousandths)) }
        }
        let index =
            request.isSoundOnly
            ? try SoundRecon(request.source).run(progress: report)
            : try Recon.index(of: request.source, decoding: request.decoding, progress: report)
        return ReconResult(indexHash: try Media.write(index, to: request.index))
    }

    private func choose(_ request: ChooseRequest) throws(ReelFailure) -> TargetsResult {
        var indexes: [SourceIndex] = []
        for index in request.indexes { indexes.append(try Media.index(index)) }
        let targets = try TargetChoice(indexes: indexes, spec: request.spec, threads: request.threads).targets()
        let known = indexes.flatMap(\.diagnostics)
        return TargetsResult(
            video: targets.value.video, audio: targets.value.audio,
            diagnostics: targets.diagnostics.filter { !known.contains($0) })
    }

    private mutating func job(_ files: JobFiles) throws(ReelFailure) -> OpenJob {
        if let open, open.files == files { return open.job }
        let job = try OpenJob(files)
        open = (files, job)
        return job
    }

    private mutating func reverse(_ request: PassRequest) throws(ReelFailure) -> PassResult {
        let job = try job(request.job)
        guard job.plan.passes.indices.contains(request.pass), case .video(let pass) = job.plan.passes[request.pass]
        else { throw ReelFailure(.planLacks(part: .videoPass, number: request.pass)) }
        return try job.reverser().reverse(pass, at: request.segments) { decoded, encoded in
            events.progress(.video(decoded: decoded, encoded: encoded, frames: pass.frames))
        }
    }

    private mutating func reverseAudio(_ request: PassRequest) throws(ReelFailure) -> PassResult {
        let job = try job(request.job)
        guard job.plan.passes.indices.contains(request.pass),
            case .audio(let number, let samples) = job.plan.passes[request.pass]
        else { throw ReelFailure(.planLacks(part: .audioPass, number: request.pass)) }
        // A track that is whole already is not asked for.
        guard let place = request.segments.first.flatMap(\.self) else {
            throw ReelFailure(.planLacks(part: .audioPass, number: request.pass))
        }
        let renderer = try SoundRenderer(sources: job.sources, plan: job.plan, number: number, samples: samples)
        return try renderer.render(at: place, scratch: request.scratch) { events.progress(.sound) }
    }

    private mutating func assemble(_ request: AssembleRequest) throws(ReelFailure) -> AssemblyResult {
        let job = try job(request.job)
        var done = AssemblyProgress()
        let report = { [events] in
            events.progress(
                .assembly(packets: done.packets, frames: done.frames, thousandths: Int(1000 * done.share)))
        }
        let assembler = Assembler(sources: job.sources, plan: job.plan, segments: SegmentList(segments) { report() })
        let made = try assembler.assemble(to: request.output) {
            done = $0
            report()
        }
        return AssemblyResult(
            bytes: made.bytes, checksum: made.checksum, packets: made.packets, peakRSS: peakResidentBytes(),
            diagnostics: made.diagnostics)
    }

    private func pictures(_ request: PicturesRequest) throws(ReelFailure) -> EngineResult {
        let sheet: PictureSheet
        switch request.subject {
        case .source(let files, let sample):
            let source = IndexedSource(files.source, index: try Media.index(files.index))
            sheet = try PictureSheet(sample.count, of: source.index.video.stream, within: request.within)
            try sheet.show(sample, of: source)
        case .output(let format, let stream, let pictures):
            sheet = try PictureSheet(pictures.count, of: format, like: stream, within: request.within)
            for (place, picture) in pictures.enumerated() {
                if let picture { try sheet.show(picture, at: place) }
            }
        }
        try sheet.write(to: request.file)
        return .pictures
    }
}

/// A job's files in memory, and its sources open.
final class OpenJob {
    let sources: [IndexedSource]
    let plan: Plan
    private var opened: PassReverser?

    init(_ files: JobFiles) throws(ReelFailure) {
        plan = try Media.plan(files.plan)
        var sources: [IndexedSource] = []
        for (files, planned) in zip(files.sources, plan.sources) {
            sources.append(IndexedSource(files.source, index: try Media.index(files.index, hash: planned.indexHash)))
        }
        guard plan.fits(sources.map(\.index)) else {
            throw ReelFailure(.jobFileUnreadable(path: files.plan.name, said: "it names what its indexes do not have"))
        }
        self.sources = sources
    }

    /// The reverser of video passes, made with the first of them.
    func reverser() throws(ReelFailure) -> PassReverser {
        if let opened { return opened }
        let made = try PassReverser(sources: sources, plan: plan)
        opened = made
        return made
    }
}

internal import CFFmpeg
public import ReelCore

/// Reverses the passes of one job. Each is decoded once; `FrameWindowReader` hands out its frames in the order of the
/// output, and `ChunkSequence` encodes them.
public final class PassReverser {
    private let sources: [IndexedSource]
    private let plan: Plan
    private let planned: PlannedSegments
    /// The tools for clips whose passes were requested so far.
    private var open: [Int: (converter: PictureConverter, reader: FrameWindowReader)] = [:]

    /// - Parameter sources: those of the plan, in their order. They stay open from pass to pass.
    public init(sources: [IndexedSource], plan: Plan) throws(ReelFailure) {
        self.sources = sources
        self.plan = plan
        planned = PlannedSegments(plan: plan, indexes: sources.map(\.index))
        if plan.onDamage == .fail {
            for clip in plan.clips { try refuseDamage(clip) }
        }
    }

    /// Throws if recon found frames that do not decode correctly.
    private func refuseDamage(_ clip: Clip) throws(ReelFailure) {
        let source = sources[clip.source]
        for case .packetsUndecoded(_, let first, _) in source.index.diagnostics {
            throw ReelFailure(.videoDamaged(path: source.locator.name, damage: .missing, time: first ?? Rational(0)))
        }
        let track = source.index.video
        guard let frame = clip.frames.first(where: { track.picture(of: $0)?.isDamaged == true }) else { return }
        let time = track.stream.timeBase.seconds(track.frames[frame].interval.start) - source.index.startTime
        throw ReelFailure(.videoDamaged(path: source.locator.name, damage: .concealed, time: time))
    }

    /// Makes a segment of every chunk of the pass that has a place: `places` has one for each chunk, in their order, and
    /// nil for those that are whole already. Calls `progress` with the numbers of frames decoded and encoded.
    public func reverse(
        _ pass: VideoPass, at places: [SegmentPlace?], progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        guard var encoding = plan.video.encoding else {
            throw ReelFailure(.planLacks(part: .videoPass, number: plan.passes.count))
        }
        let clip = plan.clips[pass.clip]
        let index = sources[clip.source].index
        let (converter, reader) = try opened(pass.clip, threads: encoding.threads)
        encoding.threads = pass.threads
        reader.reset()
        let chunks = zip(pass.chunks, places).compactMap { frames, place in place.map { (frames: frames, place: $0) } }
        let sequence = ChunkSequence(
            chunks, of: pass.clip, plan: plan, track: index.video, encoding: encoding, planned: planned,
            converter: converter
        ) { frames in
            self.concealed(reader.tally.concealed.filter(frames.contains), in: index) + self.resizing(reader)
        }
        func decoded(_ frames: Int) { progress(frames, sequence.framesEncoded) }
        func encode(_ frame: Int, _ picture: borrowing Frame) throws(ReelFailure) {
            if try sequence.encode(frame, picture) { progress(reader.tally.framesDecoded, sequence.framesEncoded) }
        }
        if let windows = reader.windows(of: pass) {
            for window in windows where chunks.contains(where: { $0.frames.overlaps(window) }) {
                try reader.read([window], progress: decoded, take: encode)
            }
        } else {
            try reader.read(chunks.map(\.frames), progress: decoded, take: encode)
        }
        let losses = converter.losses.filter { !plan.diagnostics.contains($0) }
        return PassResult(
            segments: sequence.segments.sorted { $0.name.subject < $1.name.subject },
            statistics: PassStatistics(reader.tally, sequence),
            diagnostics: concealed(reader.tally.concealed, in: index) + losses + resizing(reader))
    }

    /// The most decoded frames that waited for the encoder at a time, in all passes so far.
    package var mostFramesHeld: Int { open.values.map(\.reader.mostFramesHeld).max() ?? 0 }

    private func opened(_ number: Int, threads: Int) throws(ReelFailure) -> (PictureConverter, FrameWindowReader) {
        if let known = open[number] { return known }
        let clip = plan.clips[number]
        let source = sources[clip.source]
        let converter = try PictureConverter(
            format: plan.video.format, stream: source.index.video.stream, direction: clip.direction)
        let reader = try FrameWindowReader(source, clip.direction, converter: converter, threads: threads)
        open[number] = (converter, reader)
        return (converter, reader)
    }

    private func concealed(_ frames: [Int], in index: SourceIndex) -> [Diagnostic] {
        frames.isEmpty
            ? [] : [.framesConcealed(frames: Moments(of: frames, in: index.video, startTime: index.startTime))]
    }

    private func resizing(_ reader: FrameWindowReader) -> [Diagnostic] {
        let format = plan.video.format
        return reader.tally.resized ? [.framesScaled(width: format.width, height: format.height)] : []
    }
}

extension PassStatistics {
    fileprivate init(_ decoded: FrameWindowReader.Tally, _ encoding: ChunkSequence) {
        self.init()
        framesDecoded = decoded.framesDecoded
        framesEncoded = encoding.framesEncoded
        decodeSeconds = decoded.decodeSeconds
        encodeSeconds = encoding.encodeSeconds
        waitSeconds = decoded.waitSeconds + encoding.waitSeconds
        peakRSS = peakResidentBytes()
    }
}

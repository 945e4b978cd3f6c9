internal import CFFmpeg
package import ReelCore

/// Reverses the passes of one job. Each is decoded once; `FrameWindowReader` hands out its frames in the order of the
/// output, and `ChunkSequence` encodes them.
package final class PassReverser {
    private let sources: [IndexedSource]
    private let plan: Plan
    private let planned: PlannedSegments
    /// The tools of the last pass: a job may have thousands of clips.
    private var open: (forms: [ClipForm], tools: Tools)?
    private var mostHeld = 0

    /// The facts of a clip by which its pictures are decoded and converted. Clips for which they are equal share their
    /// tools.
    private struct ClipForm: Equatable {
        let source: Int
        let direction: Direction
        let isBlack: Bool
        /// Which frames are handed out: one in this many, counted from one that leaves this remainder. Of a clip with a
        /// pace, all are.
        let step: Int
        let remainder: Int

        init(_ clip: Clip) {
            (source, direction, isBlack) = (clip.source, clip.direction, clip.isBlack)
            (step, remainder) = (clip.step, clip.firstFrame % clip.step)
        }

        func shown(in part: Range<Int>) -> ShownFrames { ShownFrames(of: part, from: remainder, step: step) }
    }

    private typealias Tools = (converters: [PictureConverter], reader: FrameWindowReader)

    /// `sources` are the plan's, in their order. One stays open from pass to pass.
    package init(sources: [IndexedSource], plan: Plan) throws(ReelFailure) {
        (self.sources, self.plan) = (sources, plan)
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

    /// Makes a segment of every chunk of the pass that has a place: `places` has one for each of the pass's subjects,
    /// in their order, and nil for chunks that are whole already. Calls `progress` with the numbers of frames decoded
    /// and encoded.
    package func reverse(
        _ pass: VideoPass, at places: [SegmentPlace?], progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        guard var encoding = plan.video.encoding else {
            throw ReelFailure(.planLacks(part: .videoPass, number: plan.passes.count))
        }
        let index = sources[plan.clips[pass.clips[0]].source].index
        let tools = try opened(pass.clips, threads: encoding.threads)
        let reader = tools.reader
        encoding.threads = pass.threads
        reader.reset()
        var wanted = places[...]
        var sequences: [Direction: ChunkSequence] = [:]
        for (clip, converter) in zip(pass.clips, tools.converters) {
            let chunks = plan.chunks(of: pass, in: clip)
            let asked = zip(chunks, wanted).compactMap { frames, place in place.map { (frames: frames, place: $0) } }
            wanted = wanted.dropFirst(chunks.count)
            let making = ClipEncoding(
                clip: plan.clips[clip], number: clip, track: index.video, stream: main, settings: encoding,
                planned: planned)
            sequences[making.clip.direction] = ChunkSequence(asked, making: making, converter: converter) { frames in
                self.concealed(reader.concealed.filter(frames.contains), in: index) + self.resizing(reader)
            }
        }
        let all = Array(sequences.values)
        func isWanted(_ frames: Range<Int>) -> Bool { all.contains { $0.needs(frames) } }
        // A chunk that became too large or too small is made again: what was counted does not go back, nor beyond its end.
        var (mostDecoded, mostEncoded) = (Int.max, 0)
        func advance() {
            mostEncoded = max(mostEncoded, all.reduce(0) { $0 + $1.framesEncoded })
            progress(min(reader.tally.framesDecoded, mostDecoded), mostEncoded)
        }
        func decoded(_ frames: Int) { advance() }
        func encode(_ frame: Int, _ picture: borrowing Frame, _ direction: Direction) throws(ReelFailure) {
            if try sequences[direction]?.encode(frame, picture) == true { advance() }
        }
        repeat {
            for sequence in all { sequence.begin() }
            if let windows = reader.windows(of: pass) {
                for window in windows where isWanted(window) {
                    try reader.read([window], progress: decoded, take: encode)
                }
            } else {
                try reader.read(pass.chunks.filter(isWanted), progress: decoded, take: encode)
            }
            mostDecoded = min(mostDecoded, reader.tally.framesDecoded)
        } while all.contains { $0.hasRejected }
        let losses = tools.converters.flatMap(\.losses).reduce(into: [Diagnostic]()) { losses, loss in
            if !losses.contains(loss), !plan.diagnostics.contains(loss) { losses.append(loss) }
        }
        return PassResult(
            segments: all.flatMap(\.segments).sorted { $0.name.subject < $1.name.subject },
            statistics: PassStatistics(reader.tally, all),
            diagnostics: concealed(reader.concealed, in: index) + losses + resizing(reader))
    }

    /// The most decoded frames that waited for the encoder at a time, in all passes so far.
    package var mostFramesHeld: Int { max(mostHeld, open?.tools.reader.mostFramesHeld ?? 0) }

    /// The stream of the source whose format the output has.
    private var main: VideoStream { sources[plan.mainSource].index.video.stream.shown(in: plan.video) }

    private func opened(_ clips: [Int], threads: Int) throws(ReelFailure) -> Tools {
        let forms = clips.map { ClipForm(plan.clips[$0]) }
        if let open, open.forms == forms { return open.tools }
        mostHeld = mostFramesHeld
        open = nil
        let source = sources[plan.clips[clips[0]].source]
        Media.keepInHeaps(pictures: source.index.video.stream.frameBytes)
        let converters = try clips.map { (clip) throws(ReelFailure) in
            try PictureConverter(
                format: plan.video.format, stream: source.index.video.stream, main: main, clip: plan.clips[clip])
        }
        // Backwards last, since a frame is then dropped as soon as it is encoded.
        let directions = Direction.allCases.filter { clips.map { plan.clips[$0].direction }.contains($0) }
        let reader = try FrameWindowReader(
            source, directions, shown: forms[0].shown, converter: converters[0], threads: threads)
        open = (forms, (converters, reader))
        return (converters, reader)
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
    fileprivate init(_ decoded: FrameWindowReader.Tally, _ encodings: [ChunkSequence]) {
        self.init()
        framesDecoded = decoded.framesDecoded
        decodeSeconds = decoded.decodeSeconds
        waitSeconds = decoded.waitSeconds
        for encoding in encodings {
            framesEncoded += encoding.framesEncoded
            encodeSeconds += encoding.encodeSeconds
            waitSeconds += encoding.waitSeconds
        }
        peakRSS = peakResidentBytes()
    }
}

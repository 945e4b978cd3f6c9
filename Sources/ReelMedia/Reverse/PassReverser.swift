internal import BasicContainers
internal import CFFmpeg
public import ReelCore

/// Reverses passes of one job: decodes each once, and encodes it backwards, run after run.
public final class PassReverser {
    private let plan: Plan
    private let track: VideoTrack
    private let startTime: Rational
    private let reader: VideoReader
    private let converter: PictureConverter
    private let starts: StartTable
    private let planned: PlannedSegments
    /// Of each packet whether a frame begins with it: the second field of a frame comes in a packet of its own.
    private let beginsFrame: [Bool]

    /// Opens the source, which stays open from pass to pass.
    public init(source: String, index: SourceIndex, plan: Plan) throws(ReelFailure) {
        self.plan = plan
        track = index.video
        startTime = index.startTime
        reader = try VideoReader(path: source, track: track)
        converter = try PictureConverter(target: plan.video, stream: track.stream)
        starts = try StartTable(track)
        planned = PlannedSegments(plan: plan, index: index)
        var beginsFrame = Array(repeating: false, count: track.packets.count)
        for frame in track.frames { beginsFrame[Int(frame.packet)] = true }
        self.beginsFrame = beginsFrame
    }

    /// Where segments go and what their names carry.
    public struct Destination {
        public var folder: String
        public var token: String
        /// Runs that are whole already.
        public var finishedRuns: Set<Int>

        public init(folder: String, token: String, finishedRuns: Set<Int>) {
            self.folder = folder
            self.token = token
            self.finishedRuns = finishedRuns
        }
    }

    /// Makes a segment of every run of the pass that is not finished. `progress` hears frames decoded and encoded.
    public func reverse(
        _ pass: VideoPass, into destination: Destination, progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        let runs = pass.runs.enumerated().map { (number: $0.offset, frames: $0.element) }
            .filter { !destination.finishedRuns.contains($0.number) }
        var target = plan.video
        target.threads = pass.threads
        var work = Work(target: target, runs: runs, damage: Damage(track: track, startTime: startTime))
        if let stretchFrames = pass.stretchFrames {
            for stretch in starts.stretches(of: pass.frames, least: stretchFrames)
            where runs.contains(where: { $0.frames.overlaps(stretch) }) {
                try decode([stretch], destination, &work, progress)
            }
        } else if !runs.isEmpty {
            try decode(runs.map(\.frames), destination, &work, progress)
        }
        work.statistics.peakRSS = peakResidentBytes()
        let losses = converter.losses.filter { !plan.diagnostics.contains($0) }
        let diagnostics = work.damage.diagnostics + losses + resizing(work)
        return PassResult(
            segments: work.segments.sorted { $0.name.subject < $1.name.subject }, statistics: work.statistics,
            diagnostics: diagnostics)
    }

    private func resizing(_ work: borrowing Work) -> [Diagnostic] {
        work.resized ? [.framesScaled(width: plan.video.width, height: plan.video.height)] : []
    }

    /// What a pass gathers while it runs.
    private struct Work {
        let target: VideoTarget
        /// Those to be made, in presentation order.
        let runs: [(number: Int, frames: Range<Int>)]
        var damage: Damage
        var statistics = PassStatistics()
        /// The run that is being encoded.
        var encoding: RunEncoder?
        var segments: [SegmentRecord] = []
        var resized = false
        /// The packet that the decoder got last; beyond all of them once it was told that nothing follows.
        var lastFed = -1
    }

    /// Decodes forwards, from the RAP of the first of these parts of a pass on. As soon as one is whole it is encoded.
    private func decode(
        _ parts: [Range<Int>], _ destination: Destination, _ work: inout Work, _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) {
        var pending = parts[...]
        guard let first = parts.first, let last = parts.last else { return }
        try reader.start(at: starts.point(for: first.lowerBound))
        let decoder = try Decoder(stream: try reader.stream(), threads: plan.video.threads, path: reader.path)
        work.lastFed = -1

        let lastPacket = lastPacket(showing: first.lowerBound..<last.upperBound)
        let packet = try Packet()
        let frame = try Frame()
        var buffer = FrameBuffer()
        var draining = false
        while let part = pending.first {
            switch try measured(
                &work.statistics.decodeSeconds, { () throws(ReelFailure) in try decoder.receive(into: frame) })
            {
            case .frame:
                work.statistics.framesDecoded += 1
                progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
                guard let slot = track.slot(at: frame.pts ?? frame.bestTimestamp) else { continue }
                while let full = pending.first, slot >= full.upperBound, work.lastFed >= partingPacket(behind: full) {
                    try encode(full, &buffer, destination, &work, progress)
                    pending.removeFirst()
                }
                if let next = pending.first, next.contains(slot) {
                    if frame.isDamaged { try note(damaged: slot, &work) }
                    if try converter.resize(frame) { work.resized = true }
                    try buffer.insert(frame, slot: slot)
                }
            case .again:
                guard !draining else { continue }
                draining = try !feed(decoder, packet, through: lastPacket, &work)
            case .end:
                try encode(part, &buffer, destination, &work, progress)
                pending.removeFirst()
            }
        }
    }

    /// The last packet to feed, in decode order: leading pictures of the next group show frames of this one.
    private func lastPacket(showing frames: Range<Int>) -> Int {
        let last = track.frames[frames].reduce(0) { max($0, Int($1.packet)) }
        return (beginsFrame[(last + 1)...].firstIndex(of: true) ?? track.packets.count) - 1
    }

    /// The packet before which no frame ends a part, however late it is due: the one that best parts its packets from
    /// those of as many frames behind it. Where times are wrong, no packet parts them all.
    private func partingPacket(behind part: Range<Int>) -> Int {
        let frames = part.lowerBound..<min(part.upperBound + part.count, track.frames.count)
        var (excess, greatest, parting) = (0, 0, 0)
        for slot in frames.sorted(by: { track.frames[$0].packet < track.frames[$1].packet }) {
            excess += slot < part.upperBound ? 1 : -1
            if excess > greatest { (greatest, parting) = (excess, Int(track.frames[slot].packet)) }
        }
        return parting
    }

    /// Feeds packets until the decoder is full; false once it was told that nothing follows.
    private func feed(
        _ decoder: Decoder, _ packet: borrowing Packet, through last: Int, _ work: inout Work
    ) throws(ReelFailure) -> Bool {
        let number = try measured(&work.statistics.waitSeconds) { () throws(ReelFailure) in
            try reader.next(into: packet)
        }
        guard let number, number <= last else {
            try decoder.drain()
            work.lastFed = track.packets.count
            return false
        }
        work.lastFed = number
        _ = try measured(&work.statistics.decodeSeconds) { () throws(ReelFailure) in try decoder.send(packet) }
        return true
    }

    private func note(damaged slot: Int, _ work: inout Work) throws(ReelFailure) {
        work.damage.concealed.append(slot)
        if plan.onDamage == .fail { throw stop(.concealed, slot, work) }
    }

    private func stop(_ damage: FrameDamage, _ slot: Int, _ work: borrowing Work) -> ReelFailure {
        let time = track.stream.timeBase.seconds(track.frames[slot].interval.start) - work.damage.startTime
        return ReelFailure(.videoDamaged(path: reader.path, damage: damage, time: time))
    }

    /// Encodes part of a pass from its last frame to its first; where it ends a run, that becomes a segment. A slot that
    /// stayed empty keeps its time: its neighbour repeats.
    private func encode(
        _ part: Range<Int>, _ buffer: inout FrameBuffer, _ destination: Destination, _ work: inout Work,
        _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) {
        let missing = buffer.missing(from: part)
        if let first = missing.first {
            work.damage.missing += missing
            guard plan.onDamage == .repeat else { throw stop(.missing, first, work) }
        }
        if buffer.isEmpty {
            let neighbour = Neighbour(path: reader.path, track: track, threads: plan.video.threads)
            guard let frame = try neighbour.frame(beside: part) else {
                throw ReelFailure(.nothingDecodes(path: reader.path))
            }
            _ = try converter.resize(frame)
            try buffer.stand(in: frame)
        }
        for slot in part.reversed() {
            let picture = try buffer.take(slot: slot)
            guard let encoding = try runEncoder(for: slot, destination, &work) else { continue }
            let start = plan.timeline.start(of: slot, inRun: encoding.run.frames, of: track)
            try measured(&work.statistics.encodeSeconds) { () throws(ReelFailure) in
                try converter.withPicture(picture, at: start) { (converted) throws(ReelFailure) in
                    try encoding.add(converted)
                }
            }
            work.statistics.framesEncoded += 1
            progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
            if slot == encoding.run.frames.lowerBound { try finish(encoding, &work) }
        }
        buffer.clear()
    }

    /// The encoder of the run that the frame belongs to, a new one for its last frame; nil where that run is whole already.
    private func runEncoder(
        for slot: Int, _ destination: Destination, _ work: inout Work
    ) throws(ReelFailure) -> RunEncoder? {
        if let encoding = work.encoding { return encoding }
        guard let run = work.runs.first(where: { $0.frames.contains(slot) }) else { return nil }
        let encoding = try RunEncoder(
            run, of: track, as: work.target, making: planned.content(ofRun: run.frames), into: destination)
        work.encoding = encoding
        return encoding
    }

    private func finish(_ encoding: RunEncoder, _ work: inout Work) throws(ReelFailure) {
        try measured(&work.statistics.encodeSeconds, encoding.drain)
        let diagnostics = work.damage.within(encoding.run.frames).diagnostics + resizing(work)
        let segment = try measured(&work.statistics.waitSeconds) { () throws(ReelFailure) in
            try encoding.finish(diagnostics)
        }
        work.segments.append(segment)
        work.encoding = nil
    }
}

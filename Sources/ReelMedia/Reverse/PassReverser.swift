internal import BasicContainers
internal import CFFmpeg
public import ReelCore

/// Reverses passes of one job: decodes each once, forwards, and encodes it backwards, run after run.
public final class PassReverser {
    private let plan: Plan
    private let track: VideoTrack
    private let startTime: Rational
    private let reader: VideoReader
    private let converter: PictureConverter

    /// Opens the source, which stays open from pass to pass.
    public init(source: String, index: SourceIndex, plan: Plan) throws(ReelFailure) {
        self.plan = plan
        track = index.video
        startTime = index.startTime
        reader = try VideoReader(path: source, track: track)
        converter = try PictureConverter(target: plan.video, stream: track.stream)
    }

    /// Where segments go and what their names carry.
    public struct Destination {
        public var folder: String
        public var pass: Int
        public var token: String
        /// Runs that are whole already.
        public var finishedRuns: Set<Int>

        public init(folder: String, pass: Int, token: String, finishedRuns: Set<Int>) {
            self.folder = folder
            self.pass = pass
            self.token = token
            self.finishedRuns = finishedRuns
        }
    }

    /// Makes a segment of every run of the pass that is not finished. `progress` hears frames decoded and encoded.
    public func reverse(
        _ pass: VideoPass, into destination: Destination, progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        let runs = pass.runs.enumerated().filter { !destination.finishedRuns.contains($0.offset) }
        guard let first = runs.first?.element, let last = runs.last?.element else {
            return PassResult(segments: [], statistics: PassStatistics(), warnings: [])
        }
        var work = Work(damage: Damage(track: track, startTime: startTime))
        try reader.start(at: latestPoint(for: first.lowerBound, from: pass.randomAccessPoint))
        let decoder = try Decoder(stream: try reader.stream(), threads: plan.video.threads, path: reader.path)

        let lastPacket = lastPacket(showing: first.lowerBound..<last.upperBound)
        let packet = try Packet()
        let frame = try Frame()
        var pending = runs[...]
        var buffer = RunBuffer()
        var draining = false
        while let run = pending.first {
            switch try measured(
                &work.statistics.decodeSeconds, { () throws(ReelFailure) in try decoder.receive(into: frame) })
            {
            case .frame:
                work.statistics.framesDecoded += 1
                progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
                guard let slot = track.slot(at: frame.pts ?? frame.bestTimestamp) else { continue }
                while let full = pending.first, slot >= full.element.upperBound,
                    work.lastFed >= partingPacket(behind: full.element)
                {
                    try encode(full.element, number: full.offset, &buffer, destination, &work, progress)
                    pending.removeFirst()
                }
                if let next = pending.first, next.element.contains(slot) {
                    if frame.isDamaged { try note(damaged: slot, &work) }
                    if try converter.resize(frame) { work.resized = true }
                    try buffer.insert(frame, slot: slot)
                }
            case .again:
                guard !draining else { continue }
                draining = try !feed(decoder, packet, through: lastPacket, &work)
            case .end:
                try encode(run.element, number: run.offset, &buffer, destination, &work, progress)
                pending.removeFirst()
            }
        }
        work.statistics.peakRSS = peakResidentBytes()
        var warnings = work.damage.warnings + converter.losses.filter { !plan.warnings.contains($0) }
        if work.resized {
            warnings.append(
                "some frames are of another size: scaled to the first one's, \(plan.video.width)x\(plan.video.height)")
        }
        return PassResult(segments: work.segments, statistics: work.statistics, warnings: warnings)
    }

    /// What a pass gathers while it runs.
    private struct Work {
        var statistics = PassStatistics()
        var segments: [SegmentRecord] = []
        var damage: Damage
        var resized = false
        /// The packet that the decoder got last; beyond all of them once it was told that nothing follows.
        var lastFed = -1
    }

    /// The last RAP from which the frame decodes: nearer than the pass's own where its first runs are finished.
    private func latestPoint(for frame: Int, from point: Int) -> Int {
        let points = track.randomAccessPoints
        var latest = point
        while latest + 1 < points.count, Int(points[latest + 1].frame) <= frame { latest += 1 }
        return latest
    }

    /// The last packet to feed, in decode order: leading pictures of the next group show frames of this one, and the
    /// second field of a frame comes in a packet of its own.
    private func lastPacket(showing frames: Range<Int>) -> Int {
        let last = track.frames[frames].reduce(0) { max($0, Int($1.packet)) }
        var next = track.packets.count
        for frame in track.frames[frames.upperBound...] where Int(frame.packet) > last {
            next = min(next, Int(frame.packet))
        }
        return next - 1
    }

    /// The packet before which no frame ends a run, however late it is due: the one that best parts the run's packets
    /// from those of as many frames behind it. Where times are wrong, no packet parts them all.
    private func partingPacket(behind run: Range<Int>) -> Int {
        let frames = run.lowerBound..<min(run.upperBound + run.count, track.frames.count)
        var (excess, greatest, parting) = (0, 0, 0)
        for slot in frames.sorted(by: { track.frames[$0].packet < track.frames[$1].packet }) {
            excess += slot < run.upperBound ? 1 : -1
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
        if plan.onDamage == .fail { throw stop(work.damage.moments([slot]), "decodes with errors") }
    }

    private func stop(_ moments: String, _ how: String) -> ReelFailure {
        ReelFailure(
            .input, "\(reader.path): the video \(how) \(moments); --on-damage repeat goes on with what decodes")
    }

    /// Encodes a run from its last frame to its first. A slot that stayed empty keeps its time: its neighbour repeats.
    private func encode(
        _ run: Range<Int>, number: Int, _ buffer: inout RunBuffer, _ destination: Destination, _ work: inout Work,
        _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) {
        let missing = buffer.missing(from: run)
        if let first = missing.first {
            work.damage.missing += missing
            guard plan.onDamage == .repeat else { throw stop(work.damage.moments([first]), "does not decode") }
        }
        if buffer.isEmpty {
            let neighbour = Neighbour(path: reader.path, track: track, threads: plan.video.threads)
            guard let frame = try neighbour.frame(beside: run) else {
                throw ReelFailure(.input, "\(reader.path): nothing of the video decodes")
            }
            _ = try converter.resize(frame)
            try buffer.stand(in: frame)
        }
        let encoder = try Encoder(plan.video, track: track, frames: run)
        guard encoder.extradataHash == plan.video.identity.extradataHash else {
            throw ReelFailure(
                .job, "this host's \(encoder.name) makes other parameters than the one the job was planned with",
                cause: .incompatible)
        }
        let writer = try SegmentWriter(
            folder: destination.folder, name: "\(destination.pass).\(number).\(destination.token).nut",
            timeBase: track.stream.timeBase, describe: encoder.describe)
        let packet = try Packet()
        for slot in run.reversed() {
            let picture = try buffer.take(slot: slot)
            let start = plan.timeline.interval(of: slot, in: track).start
            try measured(&work.statistics.encodeSeconds) { () throws(ReelFailure) in
                try converter.withPicture(picture, at: start) { (converted) throws(ReelFailure) in
                    try encoder.send(converted)
                }
                while try encoder.receive(into: packet) { try writer.write(packet) }
            }
            work.statistics.framesEncoded += 1
            progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
        }
        buffer.clear()
        try measured(&work.statistics.encodeSeconds) { () throws(ReelFailure) in
            try encoder.finish()
            while try encoder.receive(into: packet) { try writer.write(packet) }
        }
        guard writer.packetCount == run.count else {
            throw ReelFailure(.job, "\(encoder.name) made \(writer.packetCount) packets of \(run.count) frames")
        }
        let record = SegmentRecord(
            name: "", pass: destination.pass, run: number, frames: run.count, packets: 0, bytes: 0, checksum: "",
            timeBase: track.stream.timeBase, reorderDepth: 0, extradataHash: encoder.extradataHash)
        work.segments.append(
            try measured(&work.statistics.waitSeconds) { () throws(ReelFailure) in try writer.finish(record) })
    }
}

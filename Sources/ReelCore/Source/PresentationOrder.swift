/// Sorts packets into presentation order, and finds the RAPs.
package struct PresentationOrder {
    /// The duration of a frame for which the source states none, in ticks.
    package var nominalDuration: Ticks
    /// The track's end as the container states it; nil if the packets' durations are reliable.
    package var trackEnd: Timestamp?
    /// Whether the source has a broadcast clock, which may restart in the middle.
    package var mayRestart: Bool

    package init(nominalDuration: Ticks, trackEnd: Timestamp?, mayRestart: Bool = false) {
        self.nominalDuration = nominalDuration
        self.trackEnd = trackEnd
        self.mayRestart = mayRestart
    }

    /// Makes the tables of a source index. Every timestamp in them is unique, and every interval has a positive
    /// duration. `diagnostics` report repairs and omissions. `firstDecoded` is the index in `scanned` of the packet
    /// whose frame a decoder shows first if it decodes from the start; nil if unknown.
    package func arrange(
        _ scanned: [ScannedPacket], stream: VideoStream, firstDecoded: Int? = nil
    ) -> (track: VideoTrack, diagnostics: [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        var packets = timed(scanned, &diagnostics)
        let shown = shownOrder(scanned, packets)
        separate(&packets, shown, by: leastStep(of: stream), &diagnostics)
        var frames = frames(of: shown, in: scanned) { packets[Int(shown[$0])].pts }
        var points = randomAccessPoints(scanned, packets, frames)
        let first =
            firstDecoded.flatMap { packet in shown.firstIndex(of: Int32(packet)) } ?? points.first.map { Int($0.frame) }
            ?? 0
        if first > 0 {
            diagnostics.append(.firstFramesLeftOut(frames: first))
            frames.removeFirst(first)
            points = points.map { RandomAccessPoint(packet: $0.packet, frame: max($0.frame - Int32(first), 0)) }
        }
        // Frames that a decoder shows before the first clean RAP, if it decodes from the very start, belong to the
        // video too.
        if points.first?.frame != 0, !frames.isEmpty { points.insert(RandomAccessPoint(packet: 0, frame: 0), at: 0) }
        let track = VideoTrack(stream: stream, packets: packets, frames: frames, randomAccessPoints: points)
        return (track, diagnostics)
    }

    /// The packets that show a frame, as indexes in `packets`, in presentation order. That order is close to decode
    /// order: between two packets after which nothing earlier is shown, there are only a few packets to sort.
    private func shownOrder(_ scanned: [ScannedPacket], _ packets: [PacketEntry]) -> [Int32] {
        // Ten hours of video have millions of packets, and each fresh page of memory costs time.
        var shown: [Int32] = []
        shown.reserveCapacity(packets.count)
        for place in packets.indices
        where !packets[place].flags.contains(.discarded) && !scanned[place].picture.isSecondField {
            shown.append(Int32(place))
        }
        guard let first = shown.first else { return [] }
        // earliest[p]: the least time of any packet from p on.
        let earliest = shown.map { packets[Int($0)].pts }.leastFromEach
        // Sort in a buffer: slices of an array are copied to be sorted.
        shown.withUnsafeMutableBufferPointer { shown in
            var (start, latest) = (0, packets[Int(first)].pts)
            for end in 1...shown.count {
                if end == shown.count || latest <= earliest[end] {
                    shown[start..<end].sort { (packets[Int($0)].pts, $0) < (packets[Int($1)].pts, $1) }
                    start = end
                }
                if end < shown.count { latest = max(latest, packets[Int(shown[end])].pts) }
            }
        }
        return shown
    }

    /// Makes equal timestamps differ.
    private func separate(
        _ packets: inout [PacketEntry], _ shown: [Int32], by step: Ticks, _ diagnostics: inout [Diagnostic]
    ) {
        var moved = 0
        for (earlier, later) in zip(shown, shown.dropFirst())
        where packets[Int(later)].pts <= packets[Int(earlier)].pts {
            packets[Int(later)].pts = packets[Int(earlier)].pts + step
            moved += 1
        }
        if moved > 0 { diagnostics.append(.framesMoved(frames: moved)) }
    }

    /// Every container can tell times apart that differ by a millisecond, or a longer tick.
    func leastStep(of stream: VideoStream) -> Ticks {
        Ticks(max(1, stream.timeBase.ticks(in: Rational(1, 1000), rounding: .up)))
    }

    /// The frames of these packets, which are in presentation order. `start` gives the start of the frame at a place.
    func frames(of packets: [Int32], in scanned: [ScannedPacket], start: (Int) -> Timestamp) -> [FrameEntry] {
        packets.enumerated().map { place, packet in
            let begin = start(place)
            let duration =
                place + 1 < packets.count
                ? start(place + 1) - begin
                : lastDuration(of: Int(packet), in: scanned, start: begin, after: place > 0 ? start(place - 1) : nil)
            return FrameEntry(interval: Interval(start: begin, duration: duration), packet: packet)
        }
    }

    /// The duration of the last frame: up to the track's end, else as its packet states, else that of the frame before,
    /// else the nominal duration; but not beyond the clock's bound.
    private func lastDuration(
        of packet: Int, in scanned: [ScannedPacket], start: Timestamp, after previous: Timestamp?
    ) -> Ticks {
        let stated =
            if let trackEnd, trackEnd > start {
                trackEnd - start
            } else {
                ownDuration(of: packet, in: scanned) ?? previous.map { start - $0 } ?? max(nominalDuration, Ticks(1))
            }
        return min(stated, max(Timestamp(Timestamp.bound) - start, Ticks(1)))
    }

    /// The duration of a frame as its packets state it; nil if they do not.
    func ownDuration(of packet: Int, in scanned: [ScannedPacket]) -> Ticks? {
        // Some writers of fragmented files state one tick if they do not know the duration.
        guard scanned[packet].duration > Ticks(nominalDuration.count / 20) else { return nil }
        // A packet that holds a single field states the duration of that field.
        let isPair = packet + 1 < scanned.count && scanned[packet + 1].picture.isSecondField
        return isPair ? scanned[packet].duration + scanned[packet + 1].duration : scanned[packet].duration
    }

    /// Finds the RAPs. From a RAP on, every frame is correct that is neither shown nor decoded before it.
    func randomAccessPoints(
        _ scanned: [ScannedPacket], _ packets: [PacketEntry], _ frames: [FrameEntry]
    ) -> [RandomAccessPoint] {
        // earliestPacket[f]: the first packet, in decode order, of any frame from f on.
        let earliestPacket = frames.map(\.packet).leastFromEach
        return scanned.indices.filter { scanned[$0].startsDecoding }.compactMap { packet in
            let first = frames.indices.partitioningIndex { frame in
                earliestPacket[frame] >= packet && frames[frame].interval.start >= packets[packet].pts
            }
            return first < frames.count ? RandomAccessPoint(packet: Int32(packet), frame: Int32(first)) : nil
        }
    }

    /// Gives every packet a presentation time.
    func timed(_ scanned: [ScannedPacket], _ diagnostics: inout [Diagnostic]) -> [PacketEntry] {
        let onOneClock = continuous(scanned, &diagnostics)
        var packets = zip(scanned, onOneClock).map { packet, clocked in
            PacketEntry(
                pts: clocked.pts ?? Timestamp(0), dts: packet.dts ?? Timestamp(0), size: packet.size,
                position: packet.position, flags: packet.flags)
        }
        fillTimes(of: onOneClock, in: &packets, &diagnostics)
        for place in packets.indices where scanned[place].dts == nil { packets[place].dts = packets[place].pts }
        return packets
    }

    /// The same packets on a clock that does not restart.
    func continuous(_ scanned: [ScannedPacket], _ diagnostics: inout [Diagnostic]) -> [ScannedPacket] {
        guard mayRestart else { return scanned }
        var clock = BroadcastClock(step: nominalDuration, patience: Ticks(nominalDuration.count * 15))
        var latest: Timestamp?
        let result = scanned.map { packet in
            guard let time = packet.dts ?? packet.pts else { return packet }
            var correction = clock.correction(at: time)
            // No frame before an IDR picture is shown after it, so overlapping times mean that recordings were joined.
            if packet.picture.startsSequence, let pts = packet.pts, let latest, pts + correction <= latest {
                let overlap = latest + nominalDuration - (pts + correction)
                clock.delay(by: overlap)
                correction = correction + overlap
            }
            latest = packet.pts.map { max($0 + correction, latest ?? $0 + correction) } ?? latest
            var packet = packet
            packet.pts = packet.pts.map { $0 + correction }
            packet.dts = packet.dts.map { $0 + correction }
            return packet
        }
        if clock.restarts > 0 { diagnostics.append(.clockRestarts(restarts: clock.restarts)) }
        return result
    }

    /// The packet's own time. Without one, frames are shown in the codec's order: at the times at which frames are
    /// decoded if the container states these, else at the nominal rate.
    private func fillTimes(
        of scanned: [ScannedPacket], in packets: inout [PacketEntry], _ diagnostics: inout [Diagnostic]
    ) {
        let missing = scanned.reduce(0) { $0 + ($1.pts == nil && !$1.picture.isSecondField ? 1 : 0) }
        if missing > 0 {
            let heads = scanned.indices.filter { !scanned[$0].picture.isSecondField }
            let order = displayOrder(scanned, heads)
            let ticks = heads.compactMap { scanned[$0].dts }.sorted()
            diagnostics.append(ticks.isEmpty ? .noTimestamps : .timesDerived(missing: missing, frames: heads.count))
            let durations = order.map { ownDuration(of: $0, in: scanned) ?? nominalDuration }
            let found = filled(order.map { scanned[$0].pts }, durations, from: ticks)
            for (packet, time) in zip(order, found) { packets[packet].pts = time }
        }
        for packet in scanned.indices.dropFirst()
        where scanned[packet].picture.isSecondField && scanned[packet].pts == nil {
            packets[packet].pts = packets[packet - 1].pts + Ticks(max(nominalDuration.count / 2, 1))
        }
    }

    /// The packets that begin a frame, in presentation order: by picture order count if they have one; else every
    /// reference picture after the B-pictures that follow it in the file.
    private func displayOrder(_ scanned: [ScannedPacket], _ heads: [Int]) -> [Int] {
        var sequence = 0
        let counts = heads.compactMap { packet -> (sequence: Int, order: Int32, packet: Int)? in
            if scanned[packet].picture.startsSequence { sequence += 1 }
            return scanned[packet].picture.order.map { (sequence, $0, packet) }
        }
        if counts.count == heads.count { return counts.sorted { $0 < $1 }.map(\.packet) }
        var result: [Int] = []
        var held: Int?
        for packet in heads {
            if scanned[packet].picture.isBidirectional {
                result.append(packet)
            } else {
                if let held { result.append(held) }
                held = packet
            }
        }
        return result + (held.map { [$0] } ?? [])
    }

    /// The times in presentation order with missing ones filled in. A missing time is the next of `ticks`, because
    /// pictures are shown at times at which others are decoded; after the last of them, it is the end of the picture
    /// before. Times before the first known one go right before it.
    private func filled(_ known: [Timestamp?], _ durations: [Ticks], from ticks: [Timestamp]) -> [Timestamp] {
        let leading = known.prefix { $0 == nil }.count
        var result: [Timestamp] = []
        if leading < known.count, let first = known[leading] {
            let before = Array(ticks[..<ticks.partitioningIndex { $0 >= first }].suffix(leading))
            for place in 0..<leading {
                let back = leading - place
                result.append(
                    back <= before.count
                        ? before[before.count - back]
                        : (before.first ?? first) - Ticks(Int64(back - before.count) * nominalDuration.count))
            }
        }
        for time in known.dropFirst(result.count) {
            guard let last = result.last else {
                result.append(time ?? ticks.first ?? Timestamp(0))
                continue
            }
            let next = ticks.partitioningIndex { $0 > last }
            let free = next < ticks.count ? ticks[next] : last + durations[result.count - 1]
            result.append(time ?? free)
        }
        return result
    }
}

/// Makes the timestamps of a transport or program stream continuous if its clock restarts: because recordings were
/// joined, or because what looked like a wrap of its 33 bits was a jump.
package struct BroadcastClock: Sendable {
    private let step: Int64
    private let patience: Int64
    private var offset: Int64 = 0
    private var last: Int64?
    package private(set) var restarts = 0

    /// 33 bits of 90 kHz (ISO 13818-1 2.4.3.7).
    private static let turn: Int64 = 1 << 33

    /// `step` is the length from one timestamp to the next across a restart. Timestamps that go back by at most
    /// `patience` are not a restart.
    package init(step: Ticks, patience: Ticks) {
        self.step = step.count
        self.patience = patience.count
    }

    /// Delays the next restart by `length` ticks: a new sequence begins after everything shown so far.
    package mutating func delay(by length: Ticks) {
        offset += length.count
        last = last.map { $0 + length.count }
        restarts += 1
    }

    /// The ticks to add to timestamps from this decode time on.
    package mutating func correction(at dts: Timestamp) -> Ticks {
        guard let last else {
            last = dts.ticks
            return .zero
        }
        var now = dts.ticks &+ offset
        if now - last > Self.turn / 2 {
            offset -= Self.turn
            now -= Self.turn
        }
        if now < last - patience {
            offset += last + step - now
            now = last + step
            restarts += 1
        }
        self.last = now
        return Ticks(offset)
    }
}

/// One packet of the main video as the demuxer gives it, with what its bytes say about decoding.
package struct ScannedPacket: Hashable, Sendable {
    // There are millions of these: this order of properties leaves no gaps in memory.
    /// Presentation time; nil if the file states none.
    package var pts: Timestamp?
    /// Decode time; nil if the file states none.
    package var dts: Timestamp?
    package var flags: PacketEntry.Flags
    /// Whether decoding can start with this packet: every frame that it and later packets show at or after its own time
    /// is correct.
    package var startsDecoding: Bool
    package var size: Int32
    /// The duration that the demuxer states; 0 if unknown.
    package var duration: Ticks
    /// Byte position in the file; −1 if unknown.
    package var position: Int64
    package var picture: CodedPicture

    package init(
        pts: Timestamp?, dts: Timestamp?, duration: Ticks, size: Int32, position: Int64, flags: PacketEntry.Flags,
        startsDecoding: Bool, picture: CodedPicture = CodedPicture()
    ) {
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.size = size
        self.position = position
        self.flags = flags
        self.startsDecoding = startsDecoding
        self.picture = picture
    }
}

/// What a packet's bytes say about the place of its picture among the others.
package struct CodedPicture: Hashable, Sendable {
    /// The picture order count (ITU-T H.264 8.2.1, H.265 8.3.1); nil for codecs that have none.
    package var order: Int32?
    /// Whether it is the second field of the frame whose first field is in the previous packet.
    package var isSecondField: Bool
    /// Whether it is a B-picture of a codec that shows B-pictures as soon as they are decoded (MPEG-1, -2 and -4,
    /// VC-1).
    package var isBidirectional: Bool
    /// Whether picture order counts restart here: no earlier picture is shown after it.
    package var startsSequence: Bool

    package init(
        isSecondField: Bool = false, isBidirectional: Bool = false, order: Int32? = nil, startsSequence: Bool = false
    ) {
        self.isSecondField = isSecondField
        self.isBidirectional = isBidirectional
        self.order = order
        self.startsSequence = startsSequence
    }
}

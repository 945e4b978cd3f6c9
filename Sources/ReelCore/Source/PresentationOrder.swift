/// Puts packets in the order in which they are shown, and finds where decoding can start.
public struct PresentationOrder {
    /// How long a frame lasts where nothing else tells, in ticks.
    public var nominalDuration: Ticks
    /// Where the container says the track ends; nil where its packets' durations can be believed.
    public var trackEnd: Timestamp?
    /// The source has a broadcast clock, which may restart midway.
    public var mayRestart: Bool

    public init(nominalDuration: Ticks, trackEnd: Timestamp?, mayRestart: Bool = false) {
        self.nominalDuration = nominalDuration
        self.trackEnd = trackEnd
        self.mayRestart = mayRestart
    }

    /// The tables of a source index. Every timestamp in them is unique and every interval has a length; what had to
    /// be repaired or left out is told in `diagnostics`.
    ///
    /// - Parameter firstDecoded: the packet, as a place in `scanned`, whose frame a decoder shows first when it is fed
    ///   from the start; nil where that is not known.
    public func arrange(
        _ scanned: [ScannedPacket], stream: VideoStream, firstDecoded: Int? = nil
    ) -> (track: VideoTrack, diagnostics: [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        var packets = timed(scanned, &diagnostics)
        let shown = shownOrder(scanned, packets)
        // A millisecond is the least that every container can tell apart.
        let step = max(1, stream.timeBase.ticks(in: Rational(1, 1000), rounding: .up))
        separate(&packets, shown, by: Ticks(step), &diagnostics)

        var frames = shown.enumerated().map { place, packet in
            let start = packets[Int(packet)].pts
            let next = place + 1 < shown.count ? packets[Int(shown[place + 1])].pts : nil
            let duration =
                next.map { $0 - start }
                ?? lastDuration(
                    of: Int(packet), in: scanned, start: start,
                    after: place > 0 ? packets[Int(shown[place - 1])].pts : nil)
            return FrameSlot(interval: Interval(start: start, duration: duration), packet: packet)
        }
        var points = randomAccessPoints(scanned, packets, frames)
        let first =
            firstDecoded.flatMap { packet in shown.firstIndex(of: Int32(packet)) } ?? points.first.map { Int($0.frame) }
            ?? 0
        if first > 0 {
            diagnostics.append(.firstFramesLeftOut(frames: first))
            frames.removeFirst(first)
            points = points.map { RandomAccessPoint(packet: $0.packet, frame: max($0.frame - Int32(first), 0)) }
        }
        // What a decoder that is fed from the very start shows before the first clean point belongs to the video, too.
        if points.first?.frame != 0, !frames.isEmpty { points.insert(RandomAccessPoint(packet: 0, frame: 0), at: 0) }
        let track = VideoTrack(stream: stream, packets: packets, frames: frames, randomAccessPoints: points)
        return (track, diagnostics)
    }

    /// The packets that show a frame, as places in `packets`, in the order in which they do. That is nearly the order of
    /// decoding: between one packet behind which nothing is shown earlier and the next, there are only a few to sort.
    private func shownOrder(_ scanned: [ScannedPacket], _ packets: [PacketEntry]) -> [Int32] {
        // Ten hours have millions, and each fresh page costs time.
        var shown: [Int32] = []
        shown.reserveCapacity(packets.count)
        for place in packets.indices
        where !packets[place].flags.contains(.discarded) && !scanned[place].picture.isSecondField {
            shown.append(Int32(place))
        }
        guard let first = shown.first else { return [] }
        // earliest[p]: the first time of any packet from p on.
        var earliest = shown.map { packets[Int($0)].pts }
        for place in earliest.indices.dropLast().reversed() {
            earliest[place] = min(earliest[place], earliest[place + 1])
        }
        // A buffer, because parts of an array are copied to be sorted.
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

    /// Moves equal timestamps apart.
    private func separate(
        _ packets: inout [PacketEntry], _ shown: [Int32], by step: Ticks, _ diagnostics: inout [Diagnostic]
    ) {
        var moved = 0
        for (earlier, later) in zip(shown, shown.dropFirst())
        where packets[Int(later)].pts <= packets[Int(earlier)].pts {
            packets[Int(later)].pts = packets[Int(earlier)].pts + step
            moved += 1
        }
        if moved > 0 {
            diagnostics.append(.framesMoved(frames: moved))
        }
    }

    /// How long the last frame lasts: to the track's end, else as its packet says, else as the frame before it, else by the
    /// nominal rate.
    func lastDuration(
        of packet: Int, in scanned: [ScannedPacket], start: Timestamp, after previous: Timestamp?
    ) -> Ticks {
        if let trackEnd, trackEnd > start { return trackEnd - start }
        // Some writers of fragments say one tick, which means that they did not know.
        if scanned[packet].duration > Ticks(nominalDuration.count / 20) {
            // A packet that holds a field lasts as long as that.
            let isPair = packet + 1 < scanned.count && scanned[packet + 1].picture.isSecondField
            return isPair ? scanned[packet].duration + scanned[packet + 1].duration : scanned[packet].duration
        }
        return previous.map { start - $0 } ?? max(nominalDuration, Ticks(1))
    }

    /// From a RAP on, every frame is correct that neither is shown before it nor was decoded before it.
    func randomAccessPoints(
        _ scanned: [ScannedPacket], _ packets: [PacketEntry], _ frames: [FrameSlot]
    ) -> [RandomAccessPoint] {
        // earliestPacket[f]: the first packet, in decode order, of any frame from f on.
        var earliestPacket = frames.map(\.packet)
        for place in earliestPacket.indices.dropLast().reversed() {
            earliestPacket[place] = min(earliestPacket[place], earliestPacket[place + 1])
        }
        return scanned.indices.filter { scanned[$0].startsDecoding }.compactMap { packet in
            var (low, high) = (0, frames.count)
            while low < high {
                let middle = (low + high) / 2
                let clean =
                    earliestPacket[middle] >= packet && frames[middle].interval.start >= packets[packet].pts
                (low, high) = clean ? (low, middle) : (middle + 1, high)
            }
            return low < frames.count ? RandomAccessPoint(packet: Int32(packet), frame: Int32(low)) : nil
        }
    }
}

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
    /// duration. `diagnostics` report repairs and omissions.
    ///
    /// - Parameter firstDecoded: the index in `scanned` of the packet whose frame a decoder shows first if it decodes
    ///   from the start; nil if unknown.
    package func arrange(
        _ scanned: [ScannedPacket], stream: VideoStream, firstDecoded: Int? = nil
    ) -> (track: VideoTrack, diagnostics: [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        var packets = timed(scanned, &diagnostics)
        let shown = shownOrder(scanned, packets)
        // Every container can tell times apart that differ by a millisecond.
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
            return FrameEntry(interval: Interval(start: start, duration: duration), packet: packet)
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
        var earliest = shown.map { packets[Int($0)].pts }
        for place in earliest.indices.dropLast().reversed() {
            earliest[place] = min(earliest[place], earliest[place + 1])
        }
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
        if moved > 0 {
            diagnostics.append(.framesMoved(frames: moved))
        }
    }

    /// The duration of the last frame: up to the track's end, else as its packet states, else that of the frame before,
    /// else the nominal duration; but not beyond the clock's bound.
    func lastDuration(
        of packet: Int, in scanned: [ScannedPacket], start: Timestamp, after previous: Timestamp?
    ) -> Ticks {
        min(
            statedDuration(of: packet, in: scanned, start: start, after: previous),
            max(Timestamp(Timestamp.bound) - start, Ticks(1)))
    }

    private func statedDuration(
        of packet: Int, in scanned: [ScannedPacket], start: Timestamp, after previous: Timestamp?
    ) -> Ticks {
        if let trackEnd, trackEnd > start { return trackEnd - start }
        return ownDuration(of: packet, in: scanned) ?? previous.map { start - $0 } ?? max(nominalDuration, Ticks(1))
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

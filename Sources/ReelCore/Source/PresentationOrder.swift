/// One packet of the main video as a demuxer gives it, with what its bytes say about decoding from here.
public struct ScannedPacket: Hashable, Sendable {
    public var pts: Timestamp?
    public var dts: Timestamp?
    public var duration: Ticks
    public var size: Int32
    public var position: Int64
    public var flags: PacketEntry.Flags
    /// Decoding can start with this packet: what it and later packets show at or after its own time is correct.
    public var startsDecoding: Bool

    public init(
        pts: Timestamp?, dts: Timestamp?, duration: Ticks, size: Int32, position: Int64, flags: PacketEntry.Flags,
        startsDecoding: Bool
    ) {
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.size = size
        self.position = position
        self.flags = flags
        self.startsDecoding = startsDecoding
    }
}

/// Puts packets in the order in which they are shown, and finds where decoding can start.
public struct PresentationOrder {
    /// How long a frame lasts where nothing else tells, in ticks.
    public var nominalDuration: Ticks
    /// Where the container says the track ends; nil where its packets' durations can be believed.
    public var trackEnd: Timestamp?

    public init(nominalDuration: Ticks, trackEnd: Timestamp?) {
        self.nominalDuration = nominalDuration
        self.trackEnd = trackEnd
    }

    /// The tables of a source index. Every timestamp in them is unique and every interval has a length; what had to
    /// be repaired or left out is told in `warnings`, a sentence each.
    public func arrange(
        _ scanned: [ScannedPacket], stream: VideoStream
    ) -> (track: VideoTrack, warnings: [String]) {
        var warnings: [String] = []
        var packets = timed(scanned, &warnings)
        let shown = packets.indices.filter { !packets[$0].flags.contains(.discarded) }
            .sorted { (packets[$0].pts, $0) < (packets[$1].pts, $1) }
        separate(&packets, shown, &warnings)

        var frames = shown.enumerated().map { place, packet in
            let start = packets[packet].pts
            let next = place + 1 < shown.count ? packets[shown[place + 1]].pts : nil
            let duration = next.map { $0 - start } ?? lastDuration(scanned[packet], start: start, packets, shown)
            return FrameSlot(interval: Interval(start: start, duration: duration), packet: Int32(packet))
        }
        var points = randomAccessPoints(scanned, packets, frames)
        if let first = points.first, first.frame > 0 {
            warnings.append(
                "the first \(first.frame) frames cannot be decoded: the file starts in the midst of a group of pictures"
            )
            frames.removeFirst(Int(first.frame))
            points = points.map { RandomAccessPoint(packet: $0.packet, frame: $0.frame - first.frame) }
        } else if points.isEmpty, !frames.isEmpty {
            points = [RandomAccessPoint(packet: 0, frame: 0)]
        }
        let track = VideoTrack(stream: stream, packets: packets, frames: frames, randomAccessPoints: points)
        return (track, warnings)
    }

    /// Every packet gets a presentation time: its own; else, since pictures are shown at the times at which they are
    /// decoded, in another order, the first decode time from its own on at which nothing else is shown; else a frame
    /// after everything else.
    private func timed(_ scanned: [ScannedPacket], _ warnings: inout [String]) -> [PacketEntry] {
        let repaired = scanned.reduce(0) { $0 + ($1.pts == nil ? 1 : 0) }
        var taken = repaired == 0 ? [] : Set(scanned.compactMap(\.pts))
        var latest = taken.max() ?? Timestamp(0) - nominalDuration
        let packets = scanned.enumerated().map { place, packet in
            let free = packet.pts == nil ? scanned[place...].lazy.compactMap(\.dts).first { !taken.contains($0) } : nil
            let pts = packet.pts ?? free ?? latest + nominalDuration
            if repaired > 0 { taken.insert(pts) }
            latest = max(latest, pts)
            return PacketEntry(
                pts: pts, dts: packet.dts ?? pts, size: packet.size, position: packet.position, flags: packet.flags)
        }
        if repaired > 0 {
            warnings.append(
                "\(repaired) of \(packets.count) packets had no presentation time: it was derived from their order")
        }
        return packets
    }

    /// Moves equal timestamps apart by the least that tells them apart.
    private func separate(_ packets: inout [PacketEntry], _ shown: [Int], _ warnings: inout [String]) {
        var moved = 0
        for (earlier, later) in zip(shown, shown.dropFirst()) where packets[later].pts <= packets[earlier].pts {
            packets[later].pts = packets[earlier].pts + Ticks(1)
            moved += 1
        }
        if moved > 0 {
            warnings.append("\(moved) frames shared their presentation time with another: moved by the least possible")
        }
    }

    /// To the track's end, else from its packet, else as the frame before it, else by the nominal rate.
    private func lastDuration(
        _ packet: ScannedPacket, start: Timestamp, _ packets: [PacketEntry], _ shown: [Int]
    ) -> Ticks {
        if let trackEnd, trackEnd > start { return trackEnd - start }
        if packet.duration > .zero { return packet.duration }
        guard shown.count > 1 else { return max(nominalDuration, Ticks(1)) }
        return start - packets[shown[shown.count - 2]].pts
    }

    /// From a RAP on, every frame is correct that neither is shown before it nor was decoded before it.
    private func randomAccessPoints(
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

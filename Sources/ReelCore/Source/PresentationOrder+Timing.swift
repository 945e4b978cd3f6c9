extension PresentationOrder {
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
        if clock.restarts > 0 {
            diagnostics.append(.clockRestarts(restarts: clock.restarts))
        }
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
            diagnostics.append(
                ticks.isEmpty ? .noTimestamps : .timesDerived(missing: missing, frames: heads.count))
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
    /// pictures are shown at times at which others are decoded, or where those are used up, the end of the picture before. Those
    /// before the first known time go right before it.
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

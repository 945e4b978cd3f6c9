extension PresentationOrder {
    /// The tables of a source index, made from the frames that a decoder showed of the whole source, each of a packet
    /// of `scanned`. Packets without output show nothing. RAPs are still taken from the packets; passes check them.
    package func arrange(
        decoded shown: [ShownFrame], of scanned: [ScannedPacket], stream: VideoStream
    ) -> (track: VideoTrack, diagnostics: [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        let onOneClock = continuous(scanned, &diagnostics)
        let given = shown.map { frame in
            let (read, clocked) = (scanned[Int(frame.packet)], onOneClock[Int(frame.packet)])
            guard let from = read.pts ?? read.dts, let to = clocked.pts ?? clocked.dts else { return frame.time }
            return frame.time.map { $0 + (to - from) }
        }
        let durations = shown.map { ownDuration(of: Int($0.packet), in: scanned) }
        let earliest = zip(shown, durations).map { frame, duration in
            frame.time == nil && stream.reorderDepth > 0 ? onOneClock[Int(frame.packet)].shownLate(duration) : nil
        }
        let starts = increasing(given, durations, earliest, step: leastStep(of: stream), &diagnostics)
        let frames = frames(of: shown.map(\.packet), in: scanned) { starts[$0] }
        let packets = packets(onOneClock, showing: frames)
        let showsFrame = packets.map { $0.pts != Self.unseen }
        let candidates = scanned.indices.map { place in
            var packet = scanned[place]
            packet.startsDecoding = packet.startsDecoding && showsFrame[place]
            return packet
        }
        var points = randomAccessPoints(candidates, packets, frames)
        // Decoding from the start of the file always shows the same frames, so the first packet is always a RAP, of all
        // frames.
        if points.first?.packet == 0 { points.removeFirst() }
        if !frames.isEmpty { points.insert(RandomAccessPoint(packet: 0, frame: 0), at: 0) }
        let track = VideoTrack(
            stream: stream, packets: packets, frames: frames, randomAccessPoints: points,
            pictures: shown.map(\.picture))
        return (track, diagnostics)
    }

    /// The time of packets that show nothing; no frame has it.
    private static var unseen: Timestamp { Timestamp(-Timestamp.bound) }

    /// The packets, each with the time of the first frame that comes from it, by which that frame is recognised again.
    private func packets(_ scanned: [ScannedPacket], showing frames: [FrameEntry]) -> [PacketEntry] {
        var packets = scanned.map { packet in
            PacketEntry(
                pts: Self.unseen, dts: packet.dts ?? packet.pts ?? Self.unseen, size: packet.size,
                position: packet.position, flags: packet.flags)
        }
        for frame in frames.reversed() { packets[Int(frame.packet)].pts = frame.interval.start }
        return packets
    }

    /// Makes times increase, and changes as few as possible. A frame whose time is not later than the previous frame's
    /// goes right after the frame before it or, at the start, right before the frame after it. Frames without a time
    /// are spread evenly between their neighbours. Frames after the last known time follow each other by their stated
    /// durations, else at the nominal rate, but not before their `earliest` time; frames before the first known time do
    /// so at the nominal rate.
    private func increasing(
        _ given: [Timestamp?], _ durations: [Ticks?], _ earliest: [Timestamp?], step: Ticks,
        _ diagnostics: inout [Diagnostic]
    ) -> [Timestamp] {
        let kept = longestIncreasing(given)
        let missing = given.reduce(0) { $0 + ($1 == nil ? 1 : 0) }
        if missing > 0 {
            diagnostics.append(
                missing == given.count ? .noTimestamps : .timesDerived(missing: missing, frames: given.count))
        }
        if kept.count < given.count - missing {
            diagnostics.append(.framesMoved(frames: given.count - missing - kept.count))
        }
        // Whatever durations the source states, the sum of all must stay within the clock's bound.
        let most = Timestamp.bound / Int64(given.count + 1)
        let nominal = min(max(nominalDuration.count, 1), most)
        guard let first = kept.first, let last = kept.last else {
            return given.indices.map { Timestamp(nominal * Int64($0)) }
        }
        var times = given.map { $0 ?? Timestamp(0) }
        let before = given[..<first.place].contains(nil) ? nominal : step.count
        for place in 0..<first.place { times[place] = first.time - Ticks(before * Int64(first.place - place)) }
        for (left, right) in zip(kept, kept.dropFirst()) where right.place > left.place + 1 {
            let (length, parts) = (right.time - left.time, Int64(right.place - left.place))
            let even = Ticks(max(length.count / parts, 1))
            let between = left.place + 1..<right.place
            let apart = given[between].contains(nil) ? even : min(step, even)
            for place in between { times[place] = times[place - 1] + apart }
        }
        for place in given.indices[(last.place + 1)...] {
            let next = times[place - 1] + (durations[place - 1].map { min($0, Ticks(most)) } ?? Ticks(nominal))
            times[place] = max(next, earliest[place] ?? next)
        }
        // If there are more frames than ticks, later frames move back.
        for place in times.indices.dropFirst() { times[place] = max(times[place], times[place - 1] + Ticks(1)) }
        return times
    }

    /// The longest increasing selection of the times; the first of equally long ones.
    private func longestIncreasing(_ given: [Timestamp?]) -> [(place: Int, time: Timestamp)] {
        // For each length, the last element of the best selection so far.
        var ends: [(place: Int, time: Timestamp)] = []
        var before: [Int] = Array(repeating: -1, count: given.count)
        for (place, time) in given.enumerated() {
            guard let time else { continue }
            let length = ends.partitioningIndex { $0.time >= time }
            guard length == ends.count || ends[length].time != time else { continue }
            before[place] = length > 0 ? ends[length - 1].place : -1
            if length < ends.count { ends[length] = (place, time) } else { ends.append((place, time)) }
        }
        var chosen: [(place: Int, time: Timestamp)] = []
        var place = ends.last?.place ?? -1
        while place >= 0, let time = given[place] {
            chosen.append((place, time))
            place = before[place]
        }
        return chosen.reversed()
    }
}

extension ScannedPacket {
    /// When a reference picture is shown at the earliest, if its codec shows it once the next one is decoded; nil for
    /// others. The one before it may be lost, so the frames that came out do not tell.
    fileprivate func shownLate(_ duration: Ticks?) -> Timestamp? {
        guard let dts, let duration, picture.order == nil, !picture.isBidirectional else { return nil }
        return dts + duration
    }
}

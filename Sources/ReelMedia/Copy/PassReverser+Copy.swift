internal import BasicContainers
internal import CFFmpeg
internal import ReelCore

extension PassReverser {
    /// Makes segments of the runs' packets as they are, each run from its last packet to its first.
    func copy(
        _ coded: CodedVideo, _ runs: [(offset: Int, element: Range<Int>)], into destination: Destination,
        progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        var segments: [SegmentRecord] = []
        for (number, run) in runs {
            segments.append(
                try measured(&statistics.waitSeconds) { () throws(ReelFailure) in
                    try copy(coded, run, number, destination) { progress(0, statistics.framesEncoded + $0) }
                })
            statistics.framesEncoded += run.count
        }
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: segments, statistics: statistics, warnings: [])
    }

    private func copy(
        _ coded: CodedVideo, _ run: Range<Int>, _ number: Int, _ destination: Destination, progress: (Int) -> Void
    ) throws(ReelFailure) -> SegmentRecord {
        var packets = try packets(of: run)
        let writer = try SegmentWriter(
            folder: destination.folder, name: "\(destination.pass).\(number).\(destination.token).nut",
            timeBase: track.stream.timeBase
        ) { (parameters) throws(ReelFailure) in
            try coded.describe(track.stream, for: "nut", into: parameters)
        }
        for slot in run.reversed() {
            guard let packet = packets.popLast() else { break }
            let start = plan.timeline.interval(of: slot, in: track).start
            (packet.pts, packet.dts, packet.duration) = (start, start, .zero)
            packet.native.pointee.flags = AV_PKT_FLAG_KEY
            av_packet_free_side_data(packet.native)
            try writer.write(packet)
            progress(writer.packetCount)
        }
        return try writer.finish(
            SegmentRecord(
                name: "", pass: destination.pass, run: number, frames: run.count, packets: 0, bytes: 0, checksum: "",
                timeBase: track.stream.timeBase, reorderDepth: 0, extradataHash: plan.video.identity.extradataHash))
    }

    /// The packets that show these frames, in the order of the file.
    private func packets(of run: Range<Int>) throws(ReelFailure) -> UniqueArray<Packet> {
        var packets = UniqueArray<Packet>()
        let packet = try Packet()
        for slot in run {
            let wanted = Int(track.frames[slot].packet)
            var number: Int?
            repeat {
                number = try reader.next(into: packet)
                guard let number, number <= wanted else {
                    throw ReelFailure(.input, "\(reader.path): packet \(wanted) is not where it was; submit it again")
                }
            } while number != wanted
            let taken = try Packet()
            av_packet_move_ref(taken.native, packet.native)
            packets.append(taken)
        }
        return packets
    }
}

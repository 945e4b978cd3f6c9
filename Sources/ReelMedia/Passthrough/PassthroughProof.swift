internal import CFFmpeg
internal import ReelCore

/// Finds out, while a source is demuxed, whether its video can be reversed by showing its packets in another order.
final class PassthroughProof {
    private let stream: UnsafeMutablePointer<AVStream>
    private let path: String
    private var syntax: IntraFrames?
    /// The first obstacle and its packet; -1 if it does not concern a packet.
    private var obstacle: (packet: Int, reason: PassthroughObstacle)?
    private let samples: SampleDecoding
    private var number = 0
    private var last: Timestamp?
    private let sample: Packet

    init(stream: UnsafeMutablePointer<AVStream>, path: String) throws(ReelFailure) {
        self.stream = stream
        self.path = path
        let parameters = stream.pointee.codecpar.pointee
        syntax = try IntraFrames(parameters)
        sample = try Packet()
        samples = SampleDecoding(stream: try CodedStream(stream), path: path)
        if syntax == nil {
            obstacle = (-1, .interFrames(codec: String(cString: avcodec_get_name(parameters.codec_id))))
        } else if ![AV_FIELD_PROGRESSIVE, AV_FIELD_UNKNOWN].contains(parameters.field_order) {
            obstacle = (-1, .interlaced)
        }
    }

    /// Whether the result is certain without more packets.
    var isSettled: Bool { obstacle != nil }

    /// Checks the video's next packet in the order of the file, the one that the demuxer read last.
    func examine(_ packet: borrowing Packet, in demuxer: Demuxer) throws(ReelFailure) {
        defer { number += 1 }
        guard obstacle == nil else { return }
        if let fault = try fault(of: packet, in: demuxer) {
            obstacle = (number, .packet(number: number, time: time(of: packet), fault: fault))
        } else if isSampled {
            try samples.add(packet, number: number, time: time(of: packet))
        }
        if number == 0 { try check(av_packet_ref(sample.native, packet.native), .makePacket) }
    }

    /// The result, once every packet was checked.
    func verdict(on stream: VideoStream) throws(ReelFailure) -> PassthroughSupport {
        if let found = try samples.finish(), found.packet < obstacle?.packet ?? .max {
            obstacle = (found.packet, .packet(number: found.packet, time: found.time, fault: found.fault))
        }
        if let obstacle { return .impossible(obstacle.reason) }
        guard stream.fieldOrder == .progressive || stream.fieldOrder == .unknown else {
            return .impossible(.interlaced)
        }
        return .possible(try coded(stream))
    }

    /// The packets' coding, and the containers that give the first of them back unchanged.
    private func coded(_ described: VideoStream) throws(ReelFailure) -> CodedVideo {
        var coded = CodedVideo(native: stream.pointee.codecpar.pointee)
        guard let picture = try Decoder.decodingAlone(sample, of: CodedStream(stream), path: path) else { return coded }
        for container in Container.allCases
        where container.traits.loops == nil && container.traits.codecs?.contains(described.codec) != false {
            let trial = try ContainerTrial(container) { (parameters) throws(ReelFailure) in
                try coded.describe(described, for: container.traits.muxer, into: parameters)
            }
            if try trial.givesBack(sample, showing: picture) { coded.containers.append(container) }
        }
        return coded
    }

    private func fault(of packet: borrowing Packet, in demuxer: Demuxer) throws(ReelFailure) -> PacketFault? {
        if packet.isCorrupt { return .corrupt }
        if packet.changesParameters { return .changesParameters }
        guard let pts = packet.pts, pts == packet.dts else { return .reordered }
        if let last, pts <= last { return .backwards }
        last = pts
        // If the payload is read anyway, all of it is checked.
        let enough = isSampled || !demuxer.leavesPayload ? .max : syntax?.headerBytes ?? 0
        try demuxer.fetch(packet, first: enough)
        guard packet.withBytes({ syntax?.fault(in: $0, first: enough) }) != nil else { return nil }
        // The header is longer than usual.
        try demuxer.fetch(packet)
        return packet.withBytes { syntax?.fault(in: $0, first: .max) }
    }

    /// Whether to decode this frame: one in a hundred, and more at the start, are enough to notice what the syntax does
    /// not show.
    private var isSampled: Bool { number % 100 == 0 || number & (number - 1) == 0 }

    /// The packet's time in seconds; nil if it has none.
    private func time(of packet: borrowing Packet) -> Rational? {
        (packet.pts ?? packet.dts).map(TimeBase(stream.pointee.time_base).seconds)
    }
}

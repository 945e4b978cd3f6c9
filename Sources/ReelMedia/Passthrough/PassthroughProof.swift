internal import CFFmpeg
internal import ReelCore

/// Finds out, while a source is demuxed, whether its video can be reversed by showing its packets in another order.
final class PassthroughProof {
    private let stream: UnsafeMutablePointer<AVStream>
    private let path: String
    private var syntax: IntraFrames?
    /// The first reason against it, and its packet; -1 where it is none of a packet.
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
        samples = SampleDecoding(stream: stream, path: path)
        if syntax == nil {
            obstacle = (-1, .interFrames(codec: String(cString: avcodec_get_name(parameters.codec_id))))
        } else if ![AV_FIELD_PROGRESSIVE, AV_FIELD_UNKNOWN].contains(parameters.field_order) {
            obstacle = (-1, .interlaced)
        }
    }

    /// Whether it need not see more packets.
    var isSettled: Bool { obstacle != nil }

    /// Takes the video's next packet in the order of the file, as the demuxer read it last.
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

    /// What recon found, once every packet was seen.
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

    /// How the packets are coded, and which containers give the first of them back.
    private func coded(_ described: VideoStream) throws(ReelFailure) -> CodedVideo {
        var coded = CodedVideo(native: stream.pointee.codecpar.pointee)
        guard let picture = try Decoder.decodingAlone(sample, of: stream, path: path) else { return coded }
        for container in Container.allCases {
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
        // Where the payload is read in any case, all of it is looked at.
        let enough = isSampled || !demuxer.leavesPayload ? .max : syntax?.headerBytes ?? 0
        try demuxer.fetch(packet, first: enough)
        guard packet.withBytes({ syntax?.fault(in: $0, first: enough) }) != nil else { return nil }
        // A header that is longer than headers are.
        try demuxer.fetch(packet)
        return packet.withBytes { syntax?.fault(in: $0, first: .max) }
    }

    /// One frame in a hundred, more of them at the start: enough to see what the syntax does not tell.
    private var isSampled: Bool { number % 100 == 0 || number & (number - 1) == 0 }

    /// The packet's time in seconds; nil where it has none.
    private func time(of packet: borrowing Packet) -> Rational? {
        (packet.pts ?? packet.dts).map(TimeBase(stream.pointee.time_base).seconds)
    }
}

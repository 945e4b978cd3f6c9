internal import CFFmpeg
internal import ReelCore

/// Finds out, while a source is demuxed, whether its video can be reversed by showing its packets in another order.
final class ReorderingProof {
    private let stream: UnsafeMutablePointer<AVStream>
    private let path: String
    private var syntax: IntraFrames?
    /// The first reason against it.
    private var obstacle: String?
    private var number = 0
    private var last: Timestamp?
    private let sample: Packet

    init(stream: UnsafeMutablePointer<AVStream>, path: String) throws(ReelFailure) {
        self.stream = stream
        self.path = path
        let parameters = stream.pointee.codecpar.pointee
        syntax = try IntraFrames(parameters)
        sample = try Packet()
        if syntax == nil {
            obstacle = "frames of \(String(cString: avcodec_get_name(parameters.codec_id))) may need other frames"
        } else if ![AV_FIELD_PROGRESSIVE, AV_FIELD_UNKNOWN].contains(parameters.field_order) {
            obstacle = "the video \(IntraFrames.interlaced)"
        }
    }

    /// How many of the next packet's first bytes `examine` looks at.
    var appetite: Int {
        guard obstacle == nil, let syntax else { return 0 }
        return isSampled ? .max : syntax.headerBytes
    }

    /// Takes the video's next packet in the order of the file.
    func examine(_ packet: borrowing Packet) throws(ReelFailure) {
        defer { number += 1 }
        guard obstacle == nil else { return }
        if let fault = try fault(of: packet) {
            obstacle = "packet \(number)\(moment(of: packet)) \(fault)"
        } else if number == 0 {
            try check(av_packet_ref(sample.native, packet.native), "keeping a packet")
        }
    }

    /// What recon found, once every packet was seen.
    func verdict(on stream: VideoStream) throws(ReelFailure) -> Reordering {
        if let obstacle { return .impossible(obstacle) }
        guard stream.fieldOrder == .progressive || stream.fieldOrder == .unknown else {
            return .impossible("the video \(IntraFrames.interlaced)")
        }
        return .possible(try coded(stream))
    }

    /// How the packets are coded, and which containers give the first of them back.
    private func coded(_ described: VideoStream) throws(ReelFailure) -> CodedVideo {
        var coded = CodedVideo(native: stream.pointee.codecpar.pointee)
        guard let picture = try Decoder.decodingAlone(sample, of: stream, path: path) else { return coded }
        for container in Container.allCases {
            let trial = try ContainerTrial(container) { (parameters) throws(ReelFailure) in
                try coded.describe(described, for: container.muxer, into: parameters)
            }
            if try trial.givesBack(sample, showing: picture) { coded.containers.append(container) }
        }
        return coded
    }

    private func fault(of packet: borrowing Packet) throws(ReelFailure) -> String? {
        if packet.isCorrupt { return "is damaged" }
        if packet.changesParameters { return "changes how the video is decoded" }
        guard let pts = packet.pts, pts == packet.dts else { return "is not shown when it is decoded" }
        if let last, pts <= last { return "is not shown after the packet before it" }
        last = pts
        if let fault = packet.withBytes({ syntax?.fault(in: $0) }) { return fault }
        return isSampled ? try sampleFault(packet) : nil
    }

    /// One frame in a hundred, more of them at the start: enough to see what the syntax does not tell.
    private var isSampled: Bool { number % 100 == 0 || number & (number - 1) == 0 }

    /// Decodes the packet by a decoder that has seen no other.
    private func sampleFault(_ packet: borrowing Packet) throws(ReelFailure) -> String? {
        guard let frame = try Decoder.decodingAlone(packet, of: stream, path: path) else {
            return "does not decode by itself"
        }
        return reel_frame_is_interlaced(frame.native) != 0 ? IntraFrames.interlaced : nil
    }

    private func moment(of packet: borrowing Packet) -> String {
        guard let pts = packet.pts ?? packet.dts else { return "" }
        return " at \(decimal(TimeBase(stream.pointee.time_base).seconds(pts).approximate)) s"
    }
}

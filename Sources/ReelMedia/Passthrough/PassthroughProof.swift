internal import CFFmpeg
internal import Dispatch
internal import Foundation
internal import ReelCore
internal import Synchronization

/// Finds out, while a source is demuxed, whether its video can be reversed by showing its packets in another order.
final class PassthroughProof {
    private let stream: NativeStream
    private let path: String
    private var syntax: IntraFrames?
    /// The first obstacle and its packet; -1 if it does not concern a packet.
    private var obstacle: (packet: Int, reason: PassthroughObstacle)?
    private let samples: SampleDecoding
    private var number = 0
    private var last: Timestamp?
    private let sample: Packet

    init(stream: NativeStream, path: String) throws(ReelFailure) {
        (self.stream, self.path) = (stream, path)
        let parameters = stream.parameters
        syntax = try IntraFrames(parameters)
        sample = try Packet()
        samples = SampleDecoding(try CodedStream(stream, path: path))
        if syntax == nil {
            obstacle = (-1, .interFrames(codec: parameters.codec_id.name))
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
        if let obstacle { return .impossible(why: obstacle.reason) }
        guard !stream.fieldOrder.isInterlaced else { return .impossible(why: .interlaced) }
        return .possible(coded: try coded(stream))
    }

    /// The packets' coding, and the containers that give the first of them back unchanged.
    private func coded(_ described: VideoStream) throws(ReelFailure) -> CodedVideo {
        var coded = CodedVideo(native: stream.parameters)
        guard let picture = try Decoder.decodingAlone(sample, of: CodedStream(stream, path: path)) else { return coded }
        for container in Container.allCases
        where container.traits.loops == nil && !container.traits.isOfSound
            && container.traits.codecs?.contains(described.codec) != false
        {
            let isGivenBack = try container.givesBack(sample, showing: picture) { (parameters) throws(ReelFailure) in
                try coded.describe(described, for: container.traits.muxer, into: parameters)
            }
            if isGivenBack { coded.containers.append(container) }
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

    private func time(of packet: borrowing Packet) -> Rational? {
        (packet.pts ?? packet.dts).map(stream.timeBase.seconds)
    }
}

/// Decodes packets, each with a decoder that has seen no other, while the next ones are read. It may still do so when
/// reading has failed and the file is closed. `@unchecked` because nothing but the result changes, which is behind a
/// lock.
final class SampleDecoding: @unchecked Sendable {
    typealias Fault = (packet: Int, time: Rational?, fault: PacketFault)

    private let stream: CodedStream
    /// The fault of the first packet that does not show a progressive frame by itself.
    private let found = Mutex(Result<Fault?, ReelFailure>.success(nil))
    private let threads = WorkQueue(threads: ProcessInfo.processInfo.activeProcessorCount)
    private let room = DispatchSemaphore(value: ProcessInfo.processInfo.activeProcessorCount)

    init(_ stream: CodedStream) { self.stream = stream }

    /// Queues a packet for decoding; `time` is its own, in seconds, for the report of a fault.
    func add(_ packet: borrowing Packet, number: Int, time: Rational?) throws(ReelFailure) {
        let sample = try SharedPacket(packet)
        room.wait()
        threads.add { [self] in
            look(at: sample, number, time)
            room.signal()
        }
    }

    /// The fault of the first faulty packet, once all are decoded; nil if there is none.
    func finish() throws(ReelFailure) -> Fault? {
        threads.wait()
        return try found.withLock { $0 }.get()
    }

    private func look(at sample: SharedPacket, _ number: Int, _ time: Rational?) {
        do throws(ReelFailure) {
            guard let fault = try fault(of: sample.packet) else { return }
            found.withLock { found in
                guard case .success(let first) = found, number < first?.packet ?? .max else { return }
                found = .success((number, time, fault))
            }
        } catch { found.withLock { $0 = .failure(error) } }
    }

    private func fault(of packet: borrowing Packet) throws(ReelFailure) -> PacketFault? {
        guard let frame = try Decoder.decodingAlone(packet, of: stream) else { return .dependent }
        return reel_frame_is_interlaced(frame.native) != 0 ? .interlaced : nil
    }
}

/// A packet passed to another thread. `@unchecked` because only that thread uses it then.
private final class SharedPacket: @unchecked Sendable {
    let packet: Packet

    init(_ packet: borrowing Packet) throws(ReelFailure) { self.packet = try packet.reference() }
}

extension Container {
    /// Whether a file of the container gives a packet that shows `picture` back unchanged: bytes, codec and picture.
    /// libavformat's answers are no proof: it writes raw video, and codecs with AVI tags, to Matroska and QuickTime,
    /// and reads some of it back as something else. `describe` sets the parameters of the stream for the muxer.
    func givesBack(
        _ packet: borrowing Packet, showing picture: borrowing Frame,
        describe: (NativeParameters) throws(ReelFailure) -> Void
    ) throws(ReelFailure) -> Bool {
        let parameters = try allocated(avcodec_parameters_alloc(), .describeStream)
        defer { release(parameters, avcodec_parameters_free) }
        try describe(parameters)
        // A failure is an answer, so it is not logged.
        let level = av_log_get_level()
        av_log_set_level(AV_LOG_QUIET)
        defer { av_log_set_level(level) }
        let file = MemoryBytes(name: "a trial of \(rawValue)")
        do throws(ReelFailure) {
            try write(packet, of: parameters, to: file)
            return try isSame(file, packet, of: parameters, picture)
        } catch {
            guard error.cause != .limit else { throw error }
            return false
        }
    }

    private func write(
        _ packet: borrowing Packet, of parameters: UnsafePointer<AVCodecParameters>, to file: MemoryBytes
    ) throws(ReelFailure) {
        let muxer = try Muxer(file, format: traits.muxer)
        let base = TimeBase(1, 25)
        try muxer.addStream(timeBase: base) { (added) throws(ReelFailure) in
            try check(avcodec_parameters_copy(added.pointee.codecpar, parameters), .describeStream)
        }
        try muxer.begin()
        let copy = try packet.reference()
        (copy.pts, copy.dts, copy.duration, copy.streamIndex) = (Timestamp(0), Timestamp(0), Ticks(1), 0)
        try muxer.write(copy, timeBase: base)
        _ = try muxer.finish()
    }

    private func isSame(
        _ file: MemoryBytes, _ packet: borrowing Packet, of parameters: UnsafePointer<AVCodecParameters>,
        _ picture: borrowing Frame
    ) throws(ReelFailure) -> Bool {
        let demuxer = try Demuxer(ByteReader(file, .output), purpose: .output)
        guard let found = demuxer.stream(0), found.parameters.codec_id == parameters.pointee.codec_id
        else { return false }
        let before = try PayloadDigest(parameters: parameters.pointee)
        let after = try PayloadDigest(parameters: found.parameters)
        let back = try Packet()
        guard try demuxer.read(into: back) else { return false }
        before.add(packet)
        after.add(back)
        guard before.finish() == after.finish(),
            let shown = try Decoder.decodingAlone(back, of: CodedStream(found, path: file.name)),
            shown.pixelFormat == picture.pixelFormat, shown.width == picture.width, shown.height == picture.height
        else { return false }
        return try shown.pixels() == picture.pixels()
    }
}

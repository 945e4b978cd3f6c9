internal import CFFmpeg
internal import ReelCore

/// The expected contents of each stream of the output, gathered while its packets are written.
final class Expectation {
    struct Stream {
        let digest: PayloadDigest
        let timeBase: TimeBase
        let kind: Kind
        var presentation: [Int64] = []
        var decode: [Int64] = []
        var durations: [Int64] = []

        enum Kind { case video, audio, text }

        var isReordered = false

        /// The duration of a packet in ticks: from its decode time to the next one's, and for the last packet its own,
        /// as MP4 stores them. Texts have durations of their own, because there are gaps between cues.
        func duration(of packet: Int) -> Int64 {
            kind == .text || packet + 1 == decode.count ? durations[packet] : decode[packet + 1] - decode[packet]
        }
    }

    private(set) var streams: [Stream] = []
    let extras: OutputExtras
    /// Checksums of the expected and of the found packets.
    let digests = DigestQueue()

    init(streams described: OutputStreams, sources: [any PacketSource], extras: OutputExtras) throws(ReelFailure) {
        self.extras = extras
        for (number, parameters) in ([described.video] + described.audio).enumerated() {
            streams.append(
                Stream(
                    digest: try PayloadDigest(parameters: parameters.pointee), timeBase: sources[number].timeBase,
                    kind: number == 0 ? .video : .audio))
        }
        for text in described.subtitles {
            streams.append(
                Stream(
                    digest: try PayloadDigest(parameters: AVCodecParameters()), timeBase: text.timeBase, kind: .text))
        }
    }

    var packets: Int { streams.reduce(0) { $0 + $1.presentation.count } }

    /// Adds a packet, before the muxer rounds its times.
    func add(_ packet: borrowing Packet, stream number: Int) throws(ReelFailure) {
        try digests.add(packet, to: streams[number].digest)
        streams[number].presentation.append(packet.pts?.ticks ?? 0)
        streams[number].decode.append(packet.dts?.ticks ?? 0)
        if packet.pts != packet.dts { streams[number].isReordered = true }
        streams[number].durations.append(packet.duration.count)
    }
}

/// Reads the finished file back and compares every packet with the expected one.
struct Verifier {
    let plan: Plan
    let expected: Expectation
    /// The video of the plan's sources.
    let tracks: [VideoTrack]
    /// For each source, the frames that need not look as they did when it was decoded.
    let concealed: [Int: Set<Int>]

    /// Throws if count, payload, timestamps or durations of a stream differ, or if decode times do not increase.
    /// Returns the SHA-256 of the bytes read, which are the whole file, in hexadecimal.
    @discardableResult
    func verify(_ output: any ByteSource, progress: (Int) -> Void) throws(ReelFailure) -> String {
        let demuxer = try Demuxer(ByteReader(output, .output), purpose: .output)
        try expected.extras.verify(demuxer)
        var found: [ReadStream] = []
        for number in expected.streams.indices {
            guard let stream = demuxer.stream(number) else { throw unverified(.missing, stream: number) }
            found.append(try ReadStream(stream))
        }
        // In containers without a fixed start, all times may differ by one constant.
        var offset: Rational?
        var decoders: [Int: StreamCheck] = [:]
        if plan.verify == .decode {
            for number in expected.streams.indices where expected.streams[number].kind != .text {
                let pictures = number == 0 ? try pictureCheck(found[number].timeBase) : nil
                decoders[number] = try StreamCheck(
                    demuxer: demuxer, stream: number, path: output.name, pictures: pictures)
            }
        }
        let packet = try Packet()
        var count = 0
        while try demuxer.read(into: packet) {
            let number = packet.streamIndex
            guard expected.streams.indices.contains(number), !isSilence(packet, number) else { continue }
            try compare(packet, number, found[number], &offset)
            try decoders[number]?.decode(packet)
            count += 1
            progress(count)
        }
        expected.digests.finish()
        for (number, stream) in expected.streams.enumerated() { try finish(stream, number, found[number]) }
        for number in decoders.keys.sorted() { try decoders[number]?.finish() }
        return try demuxer.file.checksum()
    }

    private func pictureCheck(_ clock: TimeBase) throws(ReelFailure) -> PictureCheck {
        let video = expected.streams[0]
        return try PictureCheck(
            plan: plan, tracks: tracks, concealed: concealed, times: video.presentation.sorted(),
            timeBase: video.timeBase, clock: clock)
    }

    /// Whether the packet is a text of no characters, with which libavformat fills the gaps of a text track in MP4.
    private func isSilence(_ packet: borrowing Packet, _ number: Int) -> Bool {
        expected.streams[number].kind == .text && packet.withBytes { $0.elementsEqual([0, 0]) }
    }

    /// The packets read of one stream.
    private final class ReadStream {
        let digest: PayloadDigest
        let timeBase: TimeBase
        var packets = 0
        var lastDecodeTime: Timestamp?

        init(_ stream: UnsafeMutablePointer<AVStream>) throws(ReelFailure) {
            digest = try PayloadDigest(parameters: stream.pointee.codecpar.pointee)
            timeBase = TimeBase(stream.pointee.time_base)
        }
    }

    private func compare(
        _ packet: borrowing Packet, _ number: Int, _ found: ReadStream, _ offset: inout Rational?
    ) throws(ReelFailure) {
        let stream = expected.streams[number]
        try expected.digests.add(packet, to: found.digest)
        defer { found.packets += 1 }
        if let dts = packet.dts {
            if let last = found.lastDecodeTime, dts < last || dts == last && stream.kind != .text {
                throw unverified(.decodeTimes, stream: number)
            }
            found.lastDecodeTime = dts
        }
        guard stream.digest.countsPackets || found.packets == 0 else { return }
        guard found.packets < stream.presentation.count else { throw unverified(.excessPackets, stream: number) }
        guard let pts = packet.pts else { throw unverified(.packetWithoutTime, stream: number) }
        let due = stream.timeBase.seconds(Timestamp(stream.presentation[found.packets]))
        if offset == nil { offset = startsAtZero ? Rational(0) : found.timeBase.seconds(pts) - due }
        let moved = due + (offset ?? Rational(0))
        let off = found.timeBase.ticks(in: moved, rounding: .nearest) &- pts.ticks
        guard off.magnitude <= tolerance(found.timeBase, stream) else {
            let time = found.timeBase.seconds(pts)
            throw unverified(.packetTime(packet: found.packets, found: time, planned: moved), stream: number)
        }
        // If frames are reordered, libavformat 5.1 does not return the durations of the table.
        guard stream.kind == .text || storesDurations, !stream.isReordered else { return }
        // libavformat computes the last duration from the track's, which does not include the empty edit of a later
        // start.
        let isLast = found.packets + 1 == stream.presentation.count
        guard stream.kind == .text || !isLast || stream.presentation[0] <= 0 else { return }
        let length = stream.timeBase.seconds(Ticks(stream.duration(of: found.packets)))
        guard (found.timeBase.ticks(in: length, rounding: .nearest) &- packet.duration.count).magnitude <= 1 else {
            let lasts = found.timeBase.seconds(packet.duration)
            throw unverified(.packetDuration(packet: found.packets, found: lasts, planned: length), stream: number)
        }
    }

    private func finish(_ stream: Expectation.Stream, _ number: Int, _ found: ReadStream) throws(ReelFailure) {
        if stream.digest.countsPackets, found.packets != stream.presentation.count {
            throw unverified(.packetCount(found: found.packets, planned: stream.presentation.count), stream: number)
        }
        guard found.digest.finish() == stream.digest.finish() else { throw unverified(.payload, stream: number) }
    }

    private var storesDurations: Bool { plan.container.traits.storesDurations }

    private var startsAtZero: Bool { plan.container.traits.startsAtZero }

    /// The tolerance: a tick if both clocks round. In transport streams, several audio frames share one timestamp, from
    /// which the demuxer counts on.
    private func tolerance(_ found: TimeBase, _ stream: Expectation.Stream) -> Int64 {
        if plan.container.traits.sharesTimestamps, stream.kind != .video {
            return found.ticks(in: Rational(1, 1000), rounding: .up)
        }
        return 1
    }
}

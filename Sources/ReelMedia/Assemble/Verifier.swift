internal import CFFmpeg
internal import ReelCore

/// The expected contents of each stream of the output, gathered while its packets are written.
final class Expectation {
    struct Stream {
        let digest: PayloadDigest
        let timeBase: TimeBase
        let kind: Kind
        /// Whether the container stores the times of its packets.
        let hasTimes: Bool
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

    /// - Parameter timeless: codecs whose packets have no times in the container.
    init(
        streams described: OutputStreams, sources: [any PacketSource], extras: OutputExtras, timeless: Set<String>
    ) throws(ReelFailure) {
        self.extras = extras
        let texts = described.subtitles.map { _ in AVCodecParameters() }
        let coded = described.coded.map(\.pointee)
        for (number, parameters) in (coded + texts).enumerated() {
            let kind: Stream.Kind =
                number == 0 && described.video != nil ? .video : number < coded.count ? .audio : .text
            let digest = try PayloadDigest(parameters: parameters)
            let hasTimes = !timeless.contains(parameters.codec_id.name)
            streams.append(
                Stream(digest: digest, timeBase: sources[number].timeBase, kind: kind, hasTimes: hasTimes))
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
                let isVideo = expected.streams[number].kind == .video
                let pictures = isVideo ? try PictureCheck(self, clock: found[0].timeBase) : nil
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

    /// Whether the packet is a text of no characters, with which libavformat fills the gaps of a text track in MP4.
    private func isSilence(_ packet: borrowing Packet, _ number: Int) -> Bool {
        expected.streams[number].kind == .text && packet.withBytes { $0.elementsEqual([0, 0]) }
    }

    private final class ReadStream {
        let digest: PayloadDigest
        let timeBase: TimeBase
        var packets = 0
        var lastDecodeTime: Timestamp?

        init(_ stream: NativeStream) throws(ReelFailure) {
            digest = try PayloadDigest(parameters: stream.parameters)
            timeBase = stream.timeBase
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
        guard stream.hasTimes else { return }
        guard let pts = packet.pts else { throw unverified(.packetWithoutTime, stream: number) }
        let due = stream.timeBase.seconds(Timestamp(stream.presentation[found.packets]))
        if offset == nil {
            offset = plan.container.traits.startsAtZero ? Rational(0) : found.timeBase.seconds(pts) - due
        }
        let moved = due + (offset ?? Rational(0))
        let off = found.timeBase.ticks(in: moved, rounding: .nearest) &- pts.ticks
        guard off.magnitude <= tolerance(found.timeBase, stream) else {
            let time = found.timeBase.seconds(pts)
            throw unverified(.packetTime(packet: found.packets, found: time, planned: moved), stream: number)
        }
        // If frames are reordered, libavformat 5.1 does not return the durations of the table.
        guard stream.kind == .text || plan.container.traits.storesDurations, !stream.isReordered else { return }
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

    /// The tolerance: a tick if both clocks round. In transport streams, several audio frames share one timestamp, from
    /// which the demuxer counts on.
    private func tolerance(_ found: TimeBase, _ stream: Expectation.Stream) -> Int64 {
        plan.container.traits.sharesTimestamps && stream.kind != .video
            ? found.ticks(in: Rational(1, 1000), rounding: .up) : 1
    }
}

/// Decodes a stream of the output to its end.
struct StreamCheck {
    private let decoder: Decoder
    private let number: Int
    /// The expected frames; nil for sound.
    private var pictures: PictureCheck?

    init(demuxer: Demuxer, stream number: Int, path: String, pictures: consuming PictureCheck?) throws(ReelFailure) {
        guard let stream = demuxer.stream(number) else { throw unverified(.missing, stream: number) }
        (self.number, self.pictures) = (number, pictures)
        decoder = try Decoder(stream: stream, threads: 1, path: path)
    }

    mutating func decode(_ packet: borrowing Packet) throws(ReelFailure) {
        guard try decoder.send(packet) != .damaged else { throw unverified(.undecodable, stream: number) }
        try receive()
    }

    private mutating func receive() throws(ReelFailure) {
        let frame = try Frame()
        while try decoder.receive(into: frame) == .frame {
            if let flaw = pictures?.flaw(of: frame) { throw unverified(flaw, stream: number) }
        }
    }

    mutating func finish() throws(ReelFailure) {
        try decoder.drain()
        try receive()
        if let flaw = pictures?.flawAtEnd { throw unverified(flaw, stream: number) }
    }
}

/// Compares decoded frames of the output with the source: all must come, each at its time, and, if the source was
/// decoded as a whole, each must look like its frame in the source.
struct PictureCheck {
    private let order: FrameOrder
    private let tracks: [VideoTrack]
    private let concealed: [Int: Set<Int>]
    /// Whether each source's pictures are shown as they are, without being fitted into those of another.
    private let isShownAsIs: [Bool]
    private let isLossless: Bool
    private let digest: PictureDigest
    /// When each frame is to be shown, in seconds from the first one, and the clock of the output.
    private let times: [Rational]
    private let clock: TimeBase
    private var count = 0
    private var first: Timestamp?

    /// The check of a file that is verified, whose clock is `clock`.
    init(_ verifier: Verifier, clock: TimeBase) throws(ReelFailure) {
        let (plan, video) = (verifier.plan, verifier.expected.streams[0])
        order = FrameOrder(plan)
        (tracks, concealed) = (verifier.tracks, verifier.concealed)
        let main = tracks[plan.mainSource].stream.shown(in: plan.video)
        isShownAsIs = tracks.map { plan.video.format.takes($0.stream, beside: main) }
        let ticks = video.presentation.sorted()
        times = ticks.map { video.timeBase.seconds(Ticks($0 - ticks[0])) }
        self.clock = clock
        isLossless = plan.video.encoding?.traits.isLossless ?? true
        digest = try PictureDigest()
    }

    /// The greatest distance of two likenesses that count as the same picture, and how much nearer another frame's
    /// likeness must be to count as a mismatch. A lossy encoder, or one with another colour model, moves a cell by a
    /// few of its 255 steps.
    static let tolerance = 384
    private static let advantage = 64

    mutating func flaw(of frame: borrowing Frame) -> VerificationFlaw? {
        defer { count += 1 }
        guard count < min(order.count, times.count) else { return .frameCount(found: count + 1, planned: order.count) }
        if let flaw = timeFlaw(of: frame) { return flaw }
        let (clip, place) = order.frame(at: count)
        let track = tracks[clip.source]
        guard !clip.isBlack, isShownAsIs[clip.source], let known = track.picture(of: place), !known.isDamaged,
            concealed[clip.source]?.contains(place) != true
        else { return nil }
        let shown = digest.describe(frame)
        if isExact(frame, known, track) { return shown.hash == known.hash ? nil : .framePicture(frame: count) }
        let distance = shown.likeness.distance(to: known.likeness)
        let rivals = [place - 1, place + 1].compactMap { track.picture(of: $0) }
        let isNearer = rivals.contains { shown.likeness.distance(to: $0.likeness) + Self.advantage < distance }
        return distance > Self.tolerance || isNearer ? .framePicture(frame: count) : nil
    }

    /// Both clocks round.
    private mutating func timeFlaw(of frame: borrowing Frame) -> VerificationFlaw? {
        guard let time = frame.bestTimestamp else { return nil }
        guard let first else {
            first = time
            return nil
        }
        let shown = time - first
        guard (clock.ticks(in: times[count], rounding: .nearest) &- shown.count).magnitude > 1 else { return nil }
        return .frameTime(frame: count, found: clock.seconds(shown), planned: times[count])
    }

    var flawAtEnd: VerificationFlaw? { count == order.count ? nil : .frameCount(found: count, planned: order.count) }

    private func isExact(_ frame: borrowing Frame, _ known: DecodedPicture, _ track: VideoTrack) -> Bool {
        let format = av_get_pix_fmt(track.stream.pixelFormat).withoutRange
        return isLossless && !known.hasOtherFormat && Int32(frame.width) == known.width
            && Int32(frame.height) == known.height && frame.pixelFormat.withoutRange == format
    }
}

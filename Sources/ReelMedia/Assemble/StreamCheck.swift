internal import CFFmpeg
internal import ReelCore

/// Decodes a stream of the output to its end.
struct StreamCheck {
    private let decoder: Decoder
    private let number: Int
    /// The expected frames; nil for sound.
    private var pictures: PictureCheck?

    init(demuxer: Demuxer, stream number: Int, path: String, pictures: consuming PictureCheck?) throws(ReelFailure) {
        guard let stream = demuxer.stream(number) else {
            throw unverified(.missing, stream: number)
        }
        self.number = number
        self.pictures = pictures
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

    /// - Parameters:
    ///   - tracks: the video of the plan's sources.
    ///   - concealed: for each source, the frames that need not look as they did.
    ///   - times: the times of all frames in presentation order, in ticks of `timeBase`.
    ///   - clock: the output's clock.
    init(
        plan: Plan, tracks: [VideoTrack], concealed: [Int: Set<Int>], times: [Int64], timeBase: TimeBase,
        clock: TimeBase
    ) throws(ReelFailure) {
        order = FrameOrder(plan)
        self.tracks = tracks
        self.concealed = concealed
        let main = tracks[plan.mainSource].stream.shown(in: plan.video)
        isShownAsIs = tracks.map { plan.video.format.takes($0.stream, beside: main) }
        self.times = times.map { timeBase.seconds(Ticks($0 - times[0])) }
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

    /// Whether every sample must be unchanged.
    private func isExact(_ frame: borrowing Frame, _ known: DecodedPicture, _ track: VideoTrack) -> Bool {
        let format = av_get_pix_fmt(track.stream.pixelFormat).withoutRange
        return isLossless && !known.hasOtherFormat && Int32(frame.width) == known.width
            && Int32(frame.height) == known.height && frame.pixelFormat.withoutRange == format
    }
}

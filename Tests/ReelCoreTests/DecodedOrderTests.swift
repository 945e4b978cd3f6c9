import ReelCore
import ReelRandom
import Testing

/// Frames that came out of a decoder become the tables of an index.
@Suite("Order of decoded frames")
struct DecodedOrderTests {
    private let order = PresentationOrder(nominalDuration: Ticks(40), trackEnd: nil)

    private func packet(_ pts: Int64?, duration: Int64 = 0, starts: Bool = false) -> ScannedPacket {
        ScannedPacket(
            pts: pts.map(Timestamp.init), dts: nil, duration: Ticks(duration), size: 1, position: -1,
            flags: starts ? [.key] : [], startsDecoding: starts)
    }

    private func shown(_ packet: Int, at time: Int64?) -> ShownFrame {
        ShownFrame(
            packet: Int32(packet), time: time.map(Timestamp.init),
            picture: DecodedPicture(
                hash: UInt64(packet), likeness: Likeness(cells: SIMD16(repeating: UInt8(packet % 256))), width: 16,
                height: 16, isDamaged: false))
    }

    private func arrange(_ frames: [ShownFrame], of packets: [ScannedPacket]) -> (VideoTrack, [Diagnostic]) {
        order.arrange(
            decoded: frames, of: packets, stream: Indexes.stream(timeBase: TimeBase(1, 1000), frameBytes: 1))
    }

    private func starts(_ times: [Int64?]) -> [Int64] {
        let frames = times.enumerated().map { shown($0.offset, at: $0.element) }
        return arrange(frames, of: times.map { packet($0) }).0.frames.map(\.interval.start.ticks)
    }

    @Test("packets that show nothing are not frames, and no frame gets their time")
    func hidden() {
        let packets = [packet(0, starts: true), packet(33), packet(33), packet(66, duration: 34)]
        let (track, diagnostics) = arrange([shown(0, at: 0), shown(2, at: 33), shown(3, at: 66)], of: packets)
        #expect(track.frames.map(\.packet) == [0, 2, 3])
        #expect(track.frames.map(\.interval.duration.count) == [33, 33, 34])
        #expect(track.frame(at: track.packets[1].pts) == nil)
        #expect(track.pictures.map(\.hash) == [0, 2, 3])
        #expect(diagnostics == [])
    }

    /// As in a recording that begins with a picture which is shown after the one behind it.
    @Test("the first packet is a random access point of the first frame, whichever packet that comes from")
    func firstFrame() {
        let packets = [packet(80, starts: true), packet(40), packet(120), packet(160, starts: true)]
        let (track, _) = arrange(
            [shown(1, at: 40), shown(0, at: 80), shown(2, at: 120), shown(3, at: 160)], of: packets)
        #expect(
            track.randomAccessPoints == [
                RandomAccessPoint(packet: 0, frame: 0), RandomAccessPoint(packet: 3, frame: 3),
            ])
    }

    @Test("the order is the decoder's, whatever the times say")
    func orderOfTheDecoder() {
        #expect(starts([0, 40, 10_000, 120, 160]) == [0, 40, 41, 120, 160])
        #expect(starts([0, 40, 80, -500, 160]) == [0, 40, 80, 81, 160])
    }

    @Test("frames of one time come right behind one another, at the start right before the next")
    func equalTimes() {
        #expect(starts([0, 40, 40, 40, 120]) == [0, 40, 41, 42, 120])
        #expect(starts([2113, 460, 495]) == [459, 460, 495])
        #expect(starts([5, 5, 6]) == [5, 6, 7])
    }

    @Test("frames without a time share what is left evenly, or come at the nominal rate")
    func missingTimes() {
        #expect(starts([0, nil, nil, 120]) == [0, 40, 80, 120])
        #expect(starts([nil, nil, 100]) == [20, 60, 100])
        #expect(starts([0, nil, nil]) == [0, 40, 80])
        #expect(starts([nil, nil, nil]) == [0, 40, 80])
    }

    @Test("frames without a time at the end follow each other as their packets' durations say")
    func missingTimesAtTheEnd() {
        let packets = [packet(0, duration: 42, starts: true), packet(nil, duration: 33), packet(nil, duration: 34)]
        let (track, _) = arrange([shown(0, at: 0), shown(1, at: nil), shown(2, at: nil)], of: packets)
        #expect(track.frames.map(\.interval.start.ticks) == [0, 42, 75])
        #expect(track.frames.last?.interval.duration == Ticks(34))
    }

    @Test("a reference picture without a time at the end leaves room for one before it that is lost")
    func missingTimeAfterLoss() {
        var stream = Indexes.stream(timeBase: TimeBase(1, 1000), frameBytes: 1)
        stream.reorderDepth = 1
        var packets = [packet(40, duration: 40, starts: true), packet(120, duration: 40), packet(80, duration: 40)]
        packets.append(packet(nil, duration: 40))
        for place in packets.indices { packets[place].dts = Timestamp(Int64(place) * 40) }
        packets[2].picture.isBidirectional = true
        // Packet 1 is not shown.
        let frames = [shown(0, at: 40), shown(2, at: 80), shown(3, at: nil)]
        let (track, _) = order.arrange(decoded: frames, of: packets, stream: stream)
        #expect(track.frames.map(\.interval.start.ticks) == [40, 80, 160])
    }

    @Test("whatever the times, frames neither overlap nor go back, and times that increase stay", arguments: 0..<64)
    func anyTimes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 1...200, using: &random)
        let times: [Int64?] = (0..<count).map { place in
            switch Int.random(in: 0..<10, using: &random) {
            case 0: nil
            case 1: Int64.random(in: -10_000...10_000, using: &random)
            default: Int64(place * 40)
            }
        }
        let found = starts(times)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 })
        let sorted = (0..<count).map { Int64($0 * 40) }
        #expect(starts(sorted) == sorted)
    }

    @Test("an index keeps what every frame looks like", arguments: 0..<16)
    func binary(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var index = Indexes.random(using: &random, frames: 200)
        index.video.pictures = index.video.frames.map { _ in
            DecodedPicture(
                hash: random.next(),
                likeness: Likeness(cells: SIMD16.random(in: 0...255, using: &random)),
                width: Int32.random(in: 1...3, using: &random), height: 2, isDamaged: Bool.random(using: &random),
                hasOtherFormat: Bool.random(using: &random))
        }
        let bytes = index.encoded()
        #expect(try SourceIndex(decoding: bytes) == index)
        // An index with fewer pictures than frames is refused.
        if index.video.frames.count > 1 {
            index.video.pictures.removeLast()
            #expect(throws: ReelFailure.self) { try SourceIndex(decoding: index.encoded()) }
        }
    }

    @Test("the difference of two likenesses is that of their cells")
    func likeness() {
        let (dark, light) = (Likeness(cells: SIMD16(repeating: 3)), Likeness(cells: SIMD16(repeating: 250)))
        #expect(dark.distance(to: light) == 16 * 247)
        #expect(light.distance(to: dark) == 16 * 247)
        #expect(dark.distance(to: dark) == 0)
    }
}

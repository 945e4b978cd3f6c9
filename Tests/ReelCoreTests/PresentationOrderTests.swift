import ReelCore
import ReelRandom
import Testing

/// Packets in decode order become frames in presentation order.
@Suite("Presentation order")
struct PresentationOrderTests {
    private let order = PresentationOrder(nominalDuration: Ticks(10), trackEnd: nil)

    private func packet(
        _ pts: Int64?, dts: Int64? = nil, duration: Int64 = 10, starts: Bool = false, hidden: Bool = false,
        picture: CodedPicture = CodedPicture()
    ) -> ScannedPacket {
        ScannedPacket(
            pts: pts.map(Timestamp.init), dts: dts.map(Timestamp.init), duration: Ticks(duration), size: 1,
            position: -1,
            flags: hidden ? [.discarded] : starts ? [.key] : [], startsDecoding: starts, picture: picture)
    }

    private func arrange(
        _ packets: [ScannedPacket], _ order: PresentationOrder? = nil, firstDecoded: Int? = nil
    ) -> (track: VideoTrack, diagnostics: [Diagnostic]) {
        (order ?? self.order).arrange(
            packets, stream: Indexes.stream(timeBase: TimeBase(1, 1000), frameBytes: 1), firstDecoded: firstDecoded)
    }

    private func starts(_ track: VideoTrack) -> [Int64] { track.frames.map(\.interval.start.ticks) }

    @Test("reordered frames are shown by their time, each until the next")
    func reordered() {
        let (track, diagnostics) = arrange([
            packet(0, starts: true), packet(35), packet(11), packet(20), packet(60, duration: 7),
        ])
        #expect(starts(track) == [0, 11, 20, 35, 60])
        #expect(track.frames.map(\.interval.duration.count) == [11, 9, 15, 25, 7])
        #expect(track.frames.map(\.packet) == [0, 2, 3, 1, 4])
        #expect(diagnostics == [])
    }

    @Test("however far packets are from the order in which they are shown, equal times keep theirs", arguments: 0..<64)
    func anyDisorder(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let spread = [1, 3, 40, 10_000][Int(seed % 4)]
        let times = (0..<300).map { Int64($0 * 3 + Int.random(in: 0..<spread, using: &random)) }
        let expected = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        let (track, _) = arrange(times.map { packet($0) }, firstDecoded: expected[0])
        #expect(track.frames.map { Int($0.packet) } == expected)
    }

    @Test("what an edit list hides is decoded, not shown")
    func hidden() {
        let (track, _) = arrange([
            packet(-20, starts: true, hidden: true), packet(-10, hidden: true), packet(0), packet(10),
        ])
        #expect(starts(track) == [0, 10])
        #expect(track.points == [[0, 0]])
    }

    @Test("leading pictures belong to the group before theirs")
    func leading() {
        let packets = [
            packet(0, starts: true), packet(10), packet(40, starts: true), packet(20), packet(30), packet(50),
        ]
        let (track, _) = arrange(packets)
        #expect(starts(track) == [0, 10, 20, 30, 40, 50])
        #expect(track.points == [[0, 0], [2, 4]])
    }

    @Test("leading pictures at the very start do not decode: they are left out, with a diagnostic")
    func leadingAtTheStart() {
        let (track, diagnostics) = arrange([packet(20, starts: true), packet(0), packet(10), packet(30)])
        #expect(starts(track) == [20, 30])
        #expect(track.points == [[0, 0]])
        #expect(diagnostics == [.firstFramesLeftOut(frames: 2)])
    }

    @Test("decoding does not start at a second edit that goes back in the file for frames before it")
    func secondEdit() {
        // Frames at 0, 10 come from the first edit; the second one starts at 20, after a hidden key frame at 5.
        let packets = [
            packet(0, starts: true), packet(10), packet(5, starts: true, hidden: true), packet(20), packet(30),
        ]
        let (track, _) = arrange(packets)
        #expect(starts(track) == [0, 10, 20, 30])
        #expect(track.points == [[0, 0], [2, 2]])
    }

    @Test("equal times are moved apart by a tick")
    func duplicates() {
        let (track, diagnostics) = arrange([packet(0, starts: true), packet(10), packet(10), packet(10), packet(30)])
        #expect(starts(track) == [0, 10, 11, 12, 30])
        #expect(track.packets.map(\.pts.ticks) == [0, 10, 11, 12, 30])
        #expect(diagnostics == [.framesMoved(frames: 2)])
    }

    @Test("frames before the first clean point that a decoder shows all the same belong to the video")
    func decodedAnyway() {
        let packets = [packet(20, starts: true), packet(0), packet(10), packet(30)]
        let (track, diagnostics) = arrange(packets, firstDecoded: 2)
        #expect(starts(track) == [10, 20, 30])
        #expect(track.points == [[0, 0], [0, 1]])
        #expect(diagnostics == [.firstFramesLeftOut(frames: 1)])
    }

    private let b = CodedPicture(isBidirectional: true)

    @Test("a missing time is the decode time at which the frame is shown in the codec's order")
    func missing() {
        // I0 P3 B1 B2 P6 B4 B5, shown one frame after they are decoded; P3 and P6 have no time of their own.
        let packets = [
            packet(10, dts: 0, starts: true), packet(nil, dts: 10), packet(20, dts: 20, picture: b),
            packet(30, dts: 30, picture: b), packet(nil, dts: 40), packet(50, dts: 50, picture: b),
            packet(60, dts: 60, picture: b),
        ]
        let (track, diagnostics) = arrange(packets)
        #expect(track.packets.map(\.pts.ticks) == [10, 40, 20, 30, 70, 50, 60])
        #expect(starts(track) == [10, 20, 30, 40, 50, 60, 70])
        #expect(diagnostics == [.timesDerived(missing: 2, frames: 7)])
    }

    @Test("missing times before the first known one lie right before it")
    func missingFirst() {
        let packets = [
            packet(nil, dts: 0, starts: true), packet(nil, dts: 10), packet(20, dts: 20, picture: b),
            packet(30, dts: 30, picture: b), packet(nil, dts: 40),
        ]
        #expect(arrange(packets).track.packets.map(\.pts.ticks) == [10, 40, 20, 30, 50])
    }

    @Test("without any time, frames follow in picture order, which restarts at every IDR picture")
    func pictureOrder() {
        func picture(_ order: Int32, idr: Bool = false) -> ScannedPacket {
            packet(nil, starts: idr, picture: CodedPicture(order: order, startsSequence: idr))
        }
        let packets = [
            picture(0, idr: true), picture(6), picture(2), picture(4), picture(0, idr: true), picture(4), picture(2),
        ]
        let (track, diagnostics) = arrange(packets)
        #expect(track.frames.map(\.packet) == [0, 2, 3, 1, 4, 6, 5])
        #expect(starts(track) == [0, 10, 20, 30, 40, 50, 60])
        #expect(diagnostics == [.noTimestamps])
    }

    @Test("two field packets are one frame, and the last frame lasts both")
    func fieldPairs() {
        let second = CodedPicture(isSecondField: true)
        let packets = [
            packet(0, duration: 5, starts: true), packet(5, duration: 5, picture: second),
            packet(20, duration: 5), packet(nil, duration: 5, picture: second),
            packet(10, duration: 5), packet(15, duration: 5, picture: second),
        ]
        let (track, _) = arrange(packets)
        #expect(track.frames.map(\.packet) == [0, 4, 2])
        #expect(starts(track) == [0, 10, 20])
        #expect(track.frames.map(\.interval.duration.count) == [10, 10, 10])
        #expect(track.packets[3].pts.ticks == 25)
    }

    @Test("a broadcast clock that restarts goes on without a gap; a false wrap of 33 bits is undone")
    func restart() {
        let broadcast = PresentationOrder(nominalDuration: Ticks(10), trackEnd: nil, mayRestart: true)
        let far = Int64(1) << 33
        let packets = [
            packet(1000, dts: 1000, starts: true), packet(1010, dts: 1010), packet(20, dts: 20, starts: true),
            packet(30, dts: 30), packet(far + 40, dts: far + 40), packet(far + 50, dts: far + 50),
        ]
        let (track, diagnostics) = arrange(packets, broadcast)
        #expect(starts(track) == [1000, 1010, 1020, 1030, 1040, 1050])
        #expect(track.packets.map(\.dts.ticks) == packets.map { $0.dts?.ticks })
        #expect(diagnostics == [.clockRestarts(restarts: 1)])
    }

    @Test("a sequence that begins before the last one has ended begins behind it")
    func overlap() {
        let broadcast = PresentationOrder(nominalDuration: Ticks(10), trackEnd: nil, mayRestart: true)
        let idr = CodedPicture(order: 0, startsSequence: true)
        let packets = [
            packet(0, dts: 0, starts: true, picture: idr), packet(10, dts: 10), packet(20, dts: 20),
            packet(20, dts: 19, starts: true, picture: idr), packet(30, dts: 29),
        ]
        let (track, diagnostics) = arrange(packets, broadcast)
        #expect(starts(track) == [0, 10, 20, 30, 40])
        #expect(track.frames.map(\.packet) == [0, 1, 2, 3, 4])
        #expect(diagnostics == [.clockRestarts(restarts: 1)])
    }

    @Test("without any time, frames follow one another at the nominal rate")
    func timeless() {
        let (track, _) = arrange([packet(nil, starts: true), packet(nil), packet(nil)])
        #expect(starts(track) == [0, 10, 20])
    }

    @Test("the last frame lasts to the track's end, else as its packet says, else as the one before, else nominally")
    func lastDuration() {
        let withEnd = PresentationOrder(nominalDuration: Ticks(10), trackEnd: Timestamp(42))
        let last = { (result: (track: VideoTrack, diagnostics: [Diagnostic])) in
            result.track.frames.last?.interval.duration.count
        }
        #expect(last(arrange([packet(0, starts: true), packet(30, duration: 5)], withEnd)) == 12)
        #expect(last(arrange([packet(0, starts: true), packet(30, duration: 5)])) == 5)
        #expect(last(arrange([packet(0, starts: true), packet(30, duration: 0)])) == 30)
        #expect(last(arrange([packet(0, duration: 0, starts: true)])) == 10)
    }
}

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
        #expect(track.points == [[0, 0], [3, 3]])
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

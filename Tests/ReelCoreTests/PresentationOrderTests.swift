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
        #expect(track.randomAccessPoints == [RandomAccessPoint(packet: 0, frame: 0)])
    }

    @Test("leading pictures belong to the group before theirs")
    func leading() {
        let packets = [
            packet(0, starts: true), packet(10), packet(40, starts: true), packet(20), packet(30), packet(50),
        ]
        let (track, _) = arrange(packets)
        #expect(starts(track) == [0, 10, 20, 30, 40, 50])
        #expect(
            track.randomAccessPoints == [
                RandomAccessPoint(packet: 0, frame: 0), RandomAccessPoint(packet: 2, frame: 4),
            ])
    }

    @Test("leading pictures at the very start do not decode: they are left out, with a diagnostic")
    func leadingAtTheStart() {
        let (track, diagnostics) = arrange([packet(20, starts: true), packet(0), packet(10), packet(30)])
        #expect(starts(track) == [20, 30])
        #expect(track.randomAccessPoints == [RandomAccessPoint(packet: 0, frame: 0)])
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
        #expect(
            track.randomAccessPoints == [
                RandomAccessPoint(packet: 0, frame: 0), RandomAccessPoint(packet: 2, frame: 2),
            ])
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
        #expect(
            track.randomAccessPoints == [
                RandomAccessPoint(packet: 0, frame: 0), RandomAccessPoint(packet: 0, frame: 1),
            ])
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

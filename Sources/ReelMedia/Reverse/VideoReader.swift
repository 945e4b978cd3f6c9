internal import CFFmpeg
internal import ReelCore

/// Reads the main video's packets from any RAP on, and checks each against the index.
final class VideoReader {
    let locator: Locator
    let track: VideoTrack
    private var demuxer: Demuxer
    /// The packet that the demuxer gives next, as an index in the packet table; nil if unknown.
    private var upcoming: Int?
    /// The packet that was found and that `next` still has to return.
    private let found: Packet
    private var foundNumber: Int?
    private var hasSought = false
    /// The stream's parameters and palette as the file last changed them. A demuxer reports a change once, but a new
    /// decoder needs it too.
    private var parameters: [AVPacketSideDataType: [UInt8]] = [:]
    private var isFirst = true

    init(_ locator: Locator, track: VideoTrack) throws(ReelFailure) {
        (self.locator, self.track) = (locator, track)
        found = try Packet()
        demuxer = try Demuxer(locator)
        upcoming = 0
        demuxer.select([track.stream.index])
    }

    func stream() throws(ReelFailure) -> NativeStream {
        guard let stream = demuxer.stream(track.stream.index) else { throw changed(.stream, track.stream.index) }
        return stream
    }

    /// Seeks so that `next` returns the packet of this RAP. Containers overshoot, so the packets read are compared with
    /// the index, and the target is moved back until they match; in the end the file is read from its start.
    ///
    /// - Parameter last: the last packet that will be wanted.
    func start(at point: Int, through last: Int) throws(ReelFailure) {
        let wanted = Int(track.randomAccessPoints[point].packet)
        isFirst = true
        expect(wanted...max(wanted, last))
        // Only the first packet has the palette, and seeking discards what was read when the file was opened.
        if upcoming == 0, wanted > 0, track.stream.pixelFormat == "pal8", try read(into: found) { upcoming = 1 }
        if upcoming == wanted, foundNumber == nil { return }
        var back = 0
        while point - back >= 0 {
            let sought = seek(to: track.randomAccessPoints[point - back])
            if sought, try advance(to: wanted) { return }
            back = back * 2 + 1
        }
        try reopen()
        guard try advance(to: wanted) else { throw changed(.packetPlace, wanted) }
    }

    /// The longest range that is asked for as one: sources on a network have room for several.
    private static let longestRange = 64 << 20

    /// Has the bytes of packets fetched at once if each request takes a while.
    private func expect(_ packets: ClosedRange<Int>) {
        guard demuxer.isDistant else { return }
        let entries = track.packets[packets]
        guard let first = entries.map(\.position).min(), first >= 0,
            let end = entries.map({ $0.position + Int64($0.size) }).max(), end - first <= Self.longestRange
        else { return }
        demuxer.expect(first..<end)
    }

    /// Fills the packet with the next one of the video, with its time from the index. Returns its place in the index,
    /// nil at the end.
    func next(into packet: borrowing Packet) throws(ReelFailure) -> Int? {
        defer { isFirst = false }
        if foundNumber == nil, let number = upcoming, number < track.packets.count, try read(into: found) {
            if found.size == Int(track.packets[number].size) {
                take(number)
            } else {
                // A parser that began in the middle may cut packets differently, as that of VC-2 does: the file is
                // read from its start.
                guard hasSought else { throw changed(.packetSize, number) }
                try reopen()
                guard try advance(to: number) else { throw changed(.packetSize, number) }
            }
        }
        guard let number = foundNumber else { return nil }
        foundNumber = nil
        packet.take(found)
        for (kind, data) in parameters where isFirst && packet.sideData(kind).isEmpty {
            try packet.setSideData(data, kind)
        }
        return number
    }

    private func take(_ number: Int) {
        upcoming = number + 1
        found.pts = track.packets[number].pts
        foundNumber = number
    }

    private func read(into packet: borrowing Packet) throws(ReelFailure) -> Bool {
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.stream.index else { continue }
            for kind in [AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PALETTE] {
                let changed = packet.sideData(kind)
                if !changed.isEmpty { parameters[kind] = changed }
            }
            return true
        }
        return false
    }

    private func changed(_ change: SourceChange, _ number: Int) -> ReelFailure {
        ReelFailure(.sourceChanged(path: locator.name, change: change, number: number))
    }

    private func reopen() throws(ReelFailure) {
        demuxer = try Demuxer(locator)
        demuxer.select([track.stream.index])
        (upcoming, foundNumber, hasSought, parameters) = (0, nil, false, [:])
    }

    /// Transport and program streams have no index; seeking by byte position is exact there.
    private var seeksByByte: Bool { ["mpegts", "mpeg"].contains(demuxer.formatName) }

    private func seek(to point: RandomAccessPoint) -> Bool {
        let entry = track.packets[Int(point.packet)]
        (upcoming, foundNumber, hasSought) = (nil, nil, true)
        guard seeksByByte else { return demuxer.seek(stream: track.stream.index, to: entry.pts) }
        return entry.position >= 0 && demuxer.seek(toByte: entry.position)
    }

    /// Reads on until the wanted packet is found; false if the file is past it or does not match.
    private func advance(to wanted: Int) throws(ReelFailure) -> Bool {
        while try read(into: found) {
            if upcoming == nil { upcoming = place(of: found, before: wanted) }
            guard let number = upcoming, number <= wanted, found.size == Int(track.packets[number].size) else {
                return false
            }
            upcoming = number + 1
            if number == wanted {
                take(number)
                return true
            }
        }
        return false
    }

    /// The packet's place in the index, searched from `limit` backwards: by byte position if the demuxer knows it,
    /// otherwise by decode time. Timestamps of a transport stream may be unwrapped differently here.
    private func place(of packet: borrowing Packet, before limit: Int) -> Int? {
        let (position, dts, size) = (packet.position, packet.dts, packet.size)
        return track.packets[...limit].lastIndex { entry in
            guard Int(entry.size) == size else { return false }
            if position >= 0, entry.position >= 0 {
                return entry.position == position && (seeksByByte || dts == nil || dts == entry.dts)
            }
            return dts == entry.dts
        }
    }
}

struct Mismatch {
    let disproof: PlanDisproof
    let frame: Int
}

/// Finds the places in the index of frames that a pass decodes, and compares them with the index.
///
/// If the index was made from tables and headers, every frame must come whole and in order, and no other may come. If
/// something is damaged, only decoding from the start of the file shows the right pictures. If the index was made by
/// decoding, every frame must look as it did then.
struct IndexCheck {
    private let track: VideoTrack
    private let places: FramePlaces
    private let wanted: Range<Int>
    private let start: DecodingStart
    private let digest: PictureDigest?
    private var last: Int?
    /// How the frame that was decoded last differs; nil if it does not.
    private(set) var found: Mismatch?
    /// Whether the frame decoded last looks different than it did, and decoding from elsewhere would not help.
    private(set) var isUnsteady = false
    /// The first frame with concealed parts when the whole source was decoded.
    private let firstDamaged: Int?

    init(track: VideoTrack, places: FramePlaces, wanted: Range<Int>, start: DecodingStart) throws(ReelFailure) {
        (self.track, self.places, self.wanted, self.start) = (track, places, wanted, start)
        digest = track.pictures.isEmpty ? nil : try PictureDigest()
        firstDamaged = track.pictures.firstIndex(where: \.isDamaged)
    }

    /// The place of a decoded frame; nil if the frame is not needed, or does not match.
    mutating func place(of frame: borrowing Frame) -> Int? {
        (found, isUnsteady) = (nil, false)
        let place = if let digest { place(of: frame, by: digest) } else { placeByTime(of: frame) }
        if let place { last = max(place, last ?? place) }
        return found == nil ? place : nil
    }

    /// The mismatch of frames that were not decoded; nil if damage explains that they were not.
    func missing(_ frames: [Int]) -> Mismatch? {
        guard let first = frames.first, !mayDiffer(at: first) else { return nil }
        return Mismatch(disproof: .missing, frame: first)
    }

    /// Whether a frame may come otherwise than it did, or not at all, although decoding began at the start of the file:
    /// concealed parts may differ each time, and so may frames that refer to them.
    private func mayDiffer(at place: Int) -> Bool { start.isAtStart && firstDamaged.map { $0 <= place } ?? false }

    private mutating func placeByTime(of frame: borrowing Frame) -> Int? {
        // Before the first wanted frame, frames may come that refer to pictures which were not decoded.
        let isUnderWay = last.map { $0 >= wanted.lowerBound } ?? false
        guard let place = track.frame(at: frame.pts ?? frame.bestTimestamp) else {
            if let last, isUnderWay, last + 1 < wanted.upperBound {
                found = Mismatch(disproof: .unplanned, frame: last)
            }
            return nil
        }
        if let last, isUnderWay, place <= last, wanted.contains(place) {
            found = Mismatch(disproof: .order, frame: place)
        } else if wanted.contains(place), frame.isDamaged {
            found = Mismatch(disproof: .damage, frame: place)
        }
        return place
    }

    /// Some decoders report the wrong packet or time for a frame, so the picture itself decides.
    private mutating func place(of frame: borrowing Frame, by digest: PictureDigest) -> Int? {
        let hash = digest.describe(frame).hash
        let next = last.map { $0 + 1 }
        let hints = [next, places.place(of: frame), track.frame(at: frame.pts)].compactMap(\.self)
            .filter { $0 < track.frames.count && $0 > last ?? -1 }
        if let place = hints.first(where: { track.picture(of: $0)?.hash == hash }) { return place }
        guard let place = hints.first, wanted.contains(place) else { return nil }
        isUnsteady = mayDiffer(at: place)
        if isUnsteady { return place }
        found = Mismatch(disproof: .picture, frame: place)
        return nil
    }
}

struct FramePlaces {
    /// For each packet, the first of its frames; -1 if no frame begins with it, as with the second field of a frame.
    private let frames: [Int32]

    init(_ track: VideoTrack) {
        var frames = Array(repeating: Int32(-1), count: track.packets.count)
        for place in track.frames.indices.reversed() { frames[Int(track.frames[place].packet)] = Int32(place) }
        self.frames = frames
    }

    /// The first packet, from this one on, with which a frame begins.
    func next(from packet: Int) -> Int { frames[packet...].firstIndex { $0 >= 0 } ?? frames.count }

    /// The place of a frame, by the packet that the decoder reports for it.
    func place(of frame: borrowing Frame) -> Int? {
        let packet = reel_frame_carried(frame.native)
        guard let index = Int(exactly: packet), frames.indices.contains(index), frames[index] >= 0 else { return nil }
        return Int(frames[index])
    }
}

/// Where decoding for a pass starts: at the nearest RAP first, then further back.
struct DecodingStart {
    /// An index in `VideoTrack.randomAccessPoints`.
    private(set) var point: Int
    private var stride = 1

    init(nearest point: Int) { self.point = point }

    var isAtStart: Bool { point == 0 }

    /// Goes back, twice as far each time; false at the start of the file.
    mutating func goBack() -> Bool {
        guard point > 0 else { return false }
        point = max(point - stride, 0)
        stride *= 2
        return true
    }
}

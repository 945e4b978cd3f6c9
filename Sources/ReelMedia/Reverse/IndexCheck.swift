internal import CFFmpeg
internal import ReelCore

/// How a pass's decoded frames differ from the source's index.
struct Mismatch {
    let disproof: PlanDisproof
    /// The frame that shows the difference.
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
    /// The last frame that was decoded.
    private var last: Int?
    /// How the frame that was decoded last differs; nil if it does not.
    private(set) var found: Mismatch?
    /// Whether the frame decoded last looks different than it did, and decoding from elsewhere would not help.
    private(set) var isUnsteady = false
    /// The first frame with concealed parts when the whole source was decoded.
    private let firstDamaged: Int?

    init(track: VideoTrack, places: FramePlaces, wanted: Range<Int>, start: DecodingStart) throws(ReelFailure) {
        self.track = track
        self.places = places
        self.wanted = wanted
        self.start = start
        digest = track.pictures.isEmpty ? nil : try PictureDigest()
        firstDamaged = track.pictures.firstIndex(where: \.isDamaged)
    }

    /// The place of a decoded frame; nil if the frame is not needed, or does not match.
    mutating func place(of frame: borrowing Frame) -> Int? {
        found = nil
        isUnsteady = false
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

/// Maps packets to their frames.
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

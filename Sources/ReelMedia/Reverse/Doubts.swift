internal import CFFmpeg
internal import ReelCore

/// What a pass decodes that is not as it is known of the source.
struct Doubt {
    let disproof: PlanDisproof
    /// The frame at which it shows.
    let frame: Int
}

/// Finds the places of frames that a pass decodes, and compares them with what is known of the source.
///
/// Where tables and headers were read, every frame has to come in its order, whole, and no other. Where something is
/// damaged, only decoding from the start of the file tells what is shown. Where that was done, every frame has to look as
/// it did then.
struct Doubts {
    private let track: VideoTrack
    private let places: FramePlaces
    private let wanted: Range<Int>
    private let start: DecodingStart
    private let digest: PictureDigest?
    /// The last frame that came.
    private var last: Int?
    /// What was found with the frame that came last.
    private(set) var found: Doubt?
    /// Whether the frame that came last looks otherwise than it did, and nothing better is to be had.
    private(set) var isUnsteady = false
    /// The first frame that the decoder made up parts of, when all of the source was decoded.
    private let firstDamaged: Int?

    init(track: VideoTrack, places: FramePlaces, wanted: Range<Int>, start: DecodingStart) throws(ReelFailure) {
        self.track = track
        self.places = places
        self.wanted = wanted
        self.start = start
        digest = track.pictures.isEmpty ? nil : try PictureDigest()
        firstDamaged = track.pictures.firstIndex(where: \.isDamaged)
    }

    /// The place of a frame that came; nil where it is of no use, or doubtful.
    mutating func place(of frame: borrowing Frame) -> Int? {
        found = nil
        isUnsteady = false
        let place = if let digest { place(of: frame, by: digest) } else { placeByTime(of: frame) }
        if let place { last = max(place, last ?? place) }
        return found == nil ? place : nil
    }

    /// What is doubtful about frames that did not come.
    func missing(_ frames: [Int]) -> Doubt? { frames.first.map { Doubt(disproof: .missing, frame: $0) } }

    private mutating func placeByTime(of frame: borrowing Frame) -> Int? {
        // Before the first that is wanted, frames may come that refer to what was not decoded.
        let isUnderWay = last.map { $0 >= wanted.lowerBound } ?? false
        guard let place = track.slot(at: frame.pts ?? frame.bestTimestamp) else {
            if let last, isUnderWay, last + 1 < wanted.upperBound { found = Doubt(disproof: .unplanned, frame: last) }
            return nil
        }
        if let last, isUnderWay, place <= last, wanted.contains(place) {
            found = Doubt(disproof: .order, frame: place)
        } else if wanted.contains(place), frame.isDamaged {
            found = Doubt(disproof: .damage, frame: place)
        }
        return place
    }

    /// Decoders do not all say truly which packet a frame comes from, or what its time is: the picture itself decides.
    private mutating func place(of frame: borrowing Frame, by digest: PictureDigest) -> Int? {
        let hash = digest.describe(frame).hash
        let next = last.map { $0 + 1 }
        let hints = [next, places.place(of: frame), track.slot(at: frame.pts)].compactMap(\.self)
            .filter { $0 < track.frames.count && $0 > last ?? -1 }
        if let place = hints.first(where: { track.picture(of: $0)?.hash == hash }) { return place }
        guard let place = hints.first, wanted.contains(place) else { return nil }
        // What a decoder makes up need not be the same twice, nor what refers to it.
        isUnsteady = start.isAtStart && firstDamaged.map { $0 <= place } ?? false
        if isUnsteady { return place }
        found = Doubt(disproof: .picture, frame: place)
        return nil
    }
}

/// Which frame comes from which packet.
struct FramePlaces {
    /// By packet, the first of its frames; -1 where it shows none.
    private let frames: [Int32]

    init(_ track: VideoTrack) {
        var frames = Array(repeating: Int32(-1), count: track.packets.count)
        for place in track.frames.indices.reversed() { frames[Int(track.frames[place].packet)] = Int32(place) }
        self.frames = frames
    }

    /// Whether a frame begins with the packet: the second field of a frame comes in a packet of its own.
    func showsFrame(_ packet: Int) -> Bool { frames[packet] >= 0 }

    /// The first packet from this one on with which a frame begins.
    func next(from packet: Int) -> Int { frames[packet...].firstIndex { $0 >= 0 } ?? frames.count }

    /// Where a frame belongs, by the packet that it says it comes from.
    func place(of frame: borrowing Frame) -> Int? {
        let packet = reel_frame_carried(frame.native)
        guard let index = Int(exactly: packet), frames.indices.contains(index), frames[index] >= 0 else { return nil }
        return Int(frames[index])
    }
}

/// Where decoding for a pass starts: at the nearest RAP first, then further back.
struct DecodingStart {
    /// A place in `VideoTrack.randomAccessPoints`.
    private(set) var point: Int
    private var stride = 1

    init(nearest point: Int) { self.point = point }

    var isAtStart: Bool { point == 0 }

    /// Goes back, each time twice as far; false at the start of the file.
    mutating func goBack() -> Bool {
        guard point > 0 else { return false }
        point = max(point - stride, 0)
        stride *= 2
        return true
    }
}

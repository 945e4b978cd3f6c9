internal import BasicContainers
internal import CFFmpeg
internal import ReelCore

/// Decodes windows of a source's frames, compares each frame with the index, and hands the frames out in the direction
/// of a clip, or first in one direction and then in the other.
final class FrameWindowReader {
    private let reader: VideoReader
    private let track: VideoTrack
    private let converter: PictureConverter
    private let starts: StartTable
    private let places: FramePlaces
    private let threads: Int
    /// Whether a decoder with several threads may have hidden damage since `reset`, so that one thread decodes.
    private var isSuspicious = false
    private let startTime: Rational
    private let directions: [Direction]
    private let shown: (Range<Int>) -> ShownFrames
    private var buffer = FrameBuffer()

    /// The results since `reset`.
    private(set) var tally = Tally()

    struct Tally {
        var framesDecoded = 0
        var decodeSeconds = 0.0
        var waitSeconds = 0.0
        /// Frames that the decoder flagged as damaged, or that looked different than they did during recon.
        var concealed: [Int] = []
        var resized = false
    }

    /// The most decoded frames that waited to be handed out at a time, of all that was read so far.
    var mostFramesHeld: Int { buffer.most }

    /// Opens the source, which stays open.
    ///
    /// - Parameters:
    ///   - directions: the directions in which frames are handed out: one, or both.
    ///   - shown: the frames of a part that are handed out.
    ///   - converter: scales frames of another size before they are kept.
    ///   - threads: threads of the decoder, unless the source was decoded as a whole.
    init(
        _ source: IndexedSource, _ directions: [Direction], shown: @escaping (Range<Int>) -> ShownFrames,
        converter: PictureConverter, threads: Int
    ) throws(ReelFailure) {
        (self.directions, self.shown, self.converter, self.threads) = (directions, shown, converter, threads)
        (track, startTime) = (source.index.video, source.index.startTime)
        reader = try VideoReader(source.locator, track: track)
        starts = try StartTable(track)
        places = FramePlaces(track)
    }

    /// The frames so far that do not look as they should, in order: each once, however often it was decoded.
    var concealed: [Int] { Set(tally.concealed).sorted() }

    func reset() { (tally, isSuspicious) = (Tally(), false) }

    /// The decode windows of a pass, from its end to its start; its chunks if it is decoded forwards.
    func windows(of pass: VideoPass) -> [Range<Int>]? {
        pass.windowFrames.map { starts.windows(of: pass.frames, least: $0) }
    }

    /// Decodes forwards from the RAP of the first window on, and calls `take` with each frame and its picture, in each
    /// direction. Backwards, a window must be whole before its last frame is handed out. Forwards alone, a frame
    /// is handed out as soon as it is decoded: `IndexCheck` accepts no earlier frame after it.
    ///
    /// RAPs are trusted until a decoded frame differs from the index. Then decoding starts again further back, for the
    /// windows that are left. The windows are adjacent, in presentation order. Calls `progress` with the number of
    /// frames decoded since `reset`.
    func read(_ windows: [Range<Int>], progress: (_ decoded: Int) -> Void, take: Take) throws(ReelFailure) {
        buffer.removeAll()
        var pending = windows[...]
        guard let first = pending.first else { return }
        var start = DecodingStart(nearest: starts.point(for: first.lowerBound))
        while !pending.isEmpty {
            let mismatch = try read(&pending, from: start, progress, take)
            // Tables alone do not tell whether another start would be better.
            if let mismatch, !isDecoded || !start.goBack() { throw refusal(of: mismatch) }
            if let next = pending.first, let last = pending.last {
                buffer.removeAll(from: next.lowerBound)
                tally.concealed.removeAll { (next.lowerBound..<last.upperBound).contains($0) }
            }
        }
    }

    typealias Take = (_ frame: Int, _ picture: borrowing Frame, _ direction: Direction) throws(ReelFailure) -> Void

    /// Decodes from one RAP. Returns the first mismatch with the index; nil once no window is left, or if the rest must
    /// be decoded again, by one thread.
    private func read(
        _ pending: inout ArraySlice<Range<Int>>, from start: DecodingStart, _ progress: (Int) -> Void, _ take: Take
    ) throws(ReelFailure) -> Mismatch? {
        guard let first = pending.first, let last = pending.last else { return nil }
        let wanted = first.lowerBound..<last.upperBound
        let lastPacket = lastPacket(showing: wanted)
        try reader.start(at: start.point, through: lastPacket)
        let decoder = try Decoder(
            // Damaged pictures look different with more threads.
            stream: try reader.stream(), threads: isDecoded || isSuspicious ? 1 : threads, path: reader.locator.name,
            isRepeatable: isDecoded)
        var fed = -1  // The packet given last; beyond the last packet once the end was signalled.
        var check = try IndexCheck(track: track, places: places, wanted: wanted, start: start)
        var troubled: Set<Int32> = []
        let packet = try Packet()
        let frame = try Frame()
        while let window = pending.first {
            let received = try measured(
                &tally.decodeSeconds, { () throws(ReelFailure) in try decoder.receive(into: frame) })
            // A frame that looks whole now and is damaged must not get into a segment.
            if decoder.mayHideDamage {
                isSuspicious = true
                return nil
            }
            switch received {
            case .frame:
                tally.framesDecoded += 1
                progress(tally.framesDecoded)
                guard let place = check.place(of: frame) else {
                    if let mismatch = check.found { return mismatch }
                    continue
                }
                if wanted.contains(place), troubled.contains(track.frames[place].packet) {
                    return Mismatch(disproof: .damage, frame: place)
                }
                while let full = pending.first, place >= full.upperBound, fed >= partingPacket(behind: full) {
                    if let mismatch = try handOut(until: full.upperBound, of: &pending, check, take) { return mismatch }
                }
                if let next = pending.first, next.contains(place), !shown(place..<place + 1).isEmpty {
                    // Some decoders report errors only in the log; recon has counted these.
                    let isDamaged = frame.isDamaged || track.picture(of: place)?.isDamaged == true
                    if isDamaged || check.isUnsteady { tally.concealed.append(place) }
                    if try converter.resize(frame) { tally.resized = true }
                    try buffer.insert(frame, frame: place, copying: isDecoded)
                    guard directions == [.forwards] else { continue }
                    if let mismatch = try handOut(until: place + 1, of: &pending, check, take) { return mismatch }
                }
            case .again:
                guard fed < track.packets.count else { continue }
                let errors = decoder.loggedErrors
                fed = try feed(decoder, packet, through: lastPacket)
                if !isDecoded, decoder.leavesFieldsUnmarked, decoder.loggedErrors > errors {
                    troubled.insert(Int32(fed))
                }
            case .end:
                if let mismatch = try handOut(until: window.upperBound, of: &pending, check, take) { return mismatch }
            }
        }
        return nil
    }

    /// Hands out the frames of the first pending window that come before `end`, and takes them off the window. Returns
    /// the mismatch of frames that did not come; nil if all came, or damage explains why some did not: then the
    /// frame before stays in their place.
    private func handOut(
        until end: Int, of pending: inout ArraySlice<Range<Int>>, _ check: IndexCheck, _ take: Take
    ) throws(ReelFailure) -> Mismatch? {
        guard let window = pending.first else { return nil }
        let frames = shown(window.lowerBound..<end)
        let missing = buffer.missing(from: frames)
        if let mismatch = check.missing(missing) { return mismatch }
        guard !buffer.isEmpty || frames.isEmpty else { return Mismatch(disproof: .missing, frame: window.lowerBound) }
        tally.concealed += missing
        for direction in directions {
            let last = direction == directions.last ? direction : nil
            for frame in direction.order(Array(frames)) {
                try take(frame, try buffer.picture(of: frame, dropping: last), direction)
            }
        }
        if end < window.upperBound {
            pending[pending.startIndex] = end..<window.upperBound
        } else {
            buffer.removeAll()
            pending.removeFirst()
        }
        return nil
    }

    /// Whether the source was decoded as a whole: pictures must then look as they did, damaged ones too.
    private var isDecoded: Bool { !track.pictures.isEmpty }

    private func refusal(of mismatch: Mismatch) -> ReelFailure {
        let time = track.stream.timeBase.seconds(track.frames[mismatch.frame].interval.start) - startTime
        return ReelFailure(
            isDecoded
                ? .decodesOtherwise(path: reader.locator.name, disproof: mismatch.disproof, time: time)
                : .planDisproved(path: reader.locator.name, disproof: mismatch.disproof, time: time))
    }

    /// The last packet to decode, in decode order. Leading pictures of the next group may be frames of this window.
    private func lastPacket(showing frames: Range<Int>) -> Int {
        let last = track.frames[frames].reduce(0) { max($0, Int($1.packet)) }
        return places.next(from: last + 1) - 1
    }

    /// The packet before which no frame ends a window, however late the frame is due: the packet that best separates
    /// the window's packets from those of the same number of frames after it. If times are wrong, no packet separates
    /// them all.
    private func partingPacket(behind window: Range<Int>) -> Int {
        let frames = window.lowerBound..<min(window.upperBound + window.count, track.frames.count)
        var (excess, greatest, parting) = (0, 0, 0)
        for place in frames.sorted(by: { track.frames[$0].packet < track.frames[$1].packet }) {
            excess += place < window.upperBound ? 1 : -1
            if excess > greatest { (greatest, parting) = (excess, Int(track.frames[place].packet)) }
        }
        return parting
    }

    /// Passes the next packet to the decoder, or signals the end. Returns the packet's number, or that of all packets.
    private func feed(_ decoder: Decoder, _ packet: borrowing Packet, through last: Int) throws(ReelFailure) -> Int {
        let number = try measured(&tally.waitSeconds) { () throws(ReelFailure) in try reader.next(into: packet) }
        guard let number, number <= last else {
            try decoder.drain()
            return track.packets.count
        }
        reel_packet_carry(packet.native, Int64(number))
        _ = try measured(&tally.decodeSeconds) { () throws(ReelFailure) in try decoder.send(packet) }
        return number
    }
}

/// Decoded pictures that wait to be encoded, in presentation order, each with its index in `VideoTrack.frames`.
///
/// Backwards, it fills with a whole chunk or window before the first picture is used. Forwards, each picture is used as
/// soon as it is there, and only the last one stays, in case the next frame is missing.
struct FrameBuffer: ~Copyable {
    private var pictures = UniqueArray<Frame>()
    private var frames: [Int] = []
    /// The most pictures held at a time so far.
    private(set) var most = 0

    var isEmpty: Bool { frames.isEmpty }

    func missing(from part: ShownFrames) -> [Int] {
        guard let first = part.first, let last = part.last else { return [] }
        let held = frames.filter { (first...last).contains($0) }
        guard held.count < part.count else { return [] }
        let filled = Set(held)
        return part.filter { !filled.contains($0) }
    }

    /// Takes the picture out of `decoded`, which can then be filled again, or copies it, so that the decoder gets its
    /// memory back at once. If the buffer has a picture of this frame already, it keeps that.
    mutating func insert(_ decoded: borrowing Frame, frame: Int, copying: Bool) throws(ReelFailure) {
        // Nearly always the last place. If a time is wrong, frames come out of order.
        let place = (frames.lastIndex { $0 <= frame } ?? -1) + 1
        guard place == 0 || frames[place - 1] != frame else { return }
        pictures.insert(copying ? try decoded.copyingPicture() : try decoded.takingPicture(), at: place)
        frames.insert(frame, at: place)
        most = max(most, frames.count)
    }

    /// The picture that the output shows for a frame: its own; if that is missing, that of the frame before it, or of
    /// the next one if no frame comes before it. The buffer must have a picture. If the caller asks for frames for the
    /// last time, in this direction, the pictures behind this one are dropped.
    mutating func picture(of frame: Int, dropping direction: Direction?) throws(ReelFailure) -> Frame {
        guard !frames.isEmpty else { throw ReelFailure(.nothingToEncode) }
        var place = frames.lastIndex { $0 <= frame } ?? 0
        switch direction {
        case .forwards:
            for _ in 0..<place { drop(at: 0) }
            place = 0
        case .backwards: while frames.count > place + 1 { drop(at: frames.count - 1) }
        case nil: break
        }
        return try pictures[place].reference()
    }

    private mutating func drop(at place: Int) {
        _ = pictures.remove(at: place)
        frames.remove(at: place)
    }

    /// Drops the pictures of this frame and those after it in the source.
    mutating func removeAll(from frame: Int) {
        while let last = frames.last, last >= frame { drop(at: frames.count - 1) }
    }

    mutating func removeAll() {
        pictures.removeAll()
        frames = []
    }
}

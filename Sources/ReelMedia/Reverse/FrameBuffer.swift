internal import BasicContainers
internal import ReelCore

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

    /// The frames that are not in the buffer.
    func missing(from part: ShownFrames) -> [Int] {
        guard let first = part.first, let last = part.last else { return [] }
        let held = frames.filter { (first...last).contains($0) }
        guard held.count < part.count else { return [] }
        let filled = Set(held)
        return part.filter { !filled.contains($0) }
    }

    /// Takes the picture out of `decoded`, which can then be filled again. If the buffer has a picture of this frame
    /// already, it keeps that.
    ///
    /// - Parameter copying: whether to copy the picture, so that the decoder gets its memory back at once.
    mutating func insert(_ decoded: borrowing Frame, frame: Int, copying: Bool) throws(ReelFailure) {
        // Nearly always the last place. If a time is wrong, frames come out of order.
        let place = (frames.lastIndex { $0 <= frame } ?? -1) + 1
        guard place == 0 || frames[place - 1] != frame else { return }
        pictures.insert(copying ? try decoded.copyingPicture() : try decoded.takingPicture(), at: place)
        frames.insert(frame, at: place)
        most = max(most, frames.count)
    }

    /// The picture that the output shows for a frame: its own; if that is missing, that of the frame before it, or of
    /// the next one if none is before. The buffer must have a picture.
    ///
    /// - Parameter dropping: the direction in which the caller asks for frames for the last time: the pictures behind this
    ///   one are dropped. Nil keeps all.
    mutating func picture(of frame: Int, dropping direction: Direction?) throws(ReelFailure) -> Frame {
        guard !frames.isEmpty else { throw ReelFailure(.nothingToEncode) }
        var place = frames.lastIndex { $0 <= frame } ?? 0
        switch direction {
        case .forwards:
            for _ in 0..<place { drop(at: 0) }
            place = 0
        case .backwards:
            while frames.count > place + 1 { drop(at: frames.count - 1) }
        case nil: break
        }
        return try pictures[place].sharingPicture()
    }

    private mutating func drop(at place: Int) {
        _ = pictures.remove(at: place)
        frames.remove(at: place)
    }

    /// Drops the pictures of this frame and those after it in the source.
    mutating func removeAll(from frame: Int) {
        while let last = frames.last, last >= frame { drop(at: frames.count - 1) }
    }

    /// Drops all pictures.
    mutating func removeAll() {
        pictures.removeAll()
        frames = []
    }
}

internal import BasicContainers
internal import ReelCore

/// The decoded frames of a chunk or a window in presentation order, each with its index in `VideoTrack.frames`.
struct FrameBuffer: ~Copyable {
    private var frames = UniqueArray<Frame>()
    private var slots: [Int] = []

    var count: Int { slots.count }
    var isEmpty: Bool { slots.isEmpty }

    /// The frames of a part of the video that are not in the buffer.
    func missing(from part: Range<Int>) -> [Int] {
        guard slots.count < part.count else { return [] }
        let filled = Set(slots)
        return part.filter { !filled.contains($0) }
    }

    /// Takes the picture out of `frame`, which can then be filled again. If the buffer has a picture for this index
    /// already, it keeps that.
    ///
    /// - Parameter copying: whether to copy the picture, so that the decoder gets its memory back at once.
    mutating func insert(_ frame: borrowing Frame, slot: Int, copying: Bool) throws(ReelFailure) {
        // Nearly always the last place. If a time is wrong, frames come out of order.
        let place = (slots.lastIndex { $0 <= slot } ?? -1) + 1
        guard place == 0 || slots[place - 1] != slot else { return }
        frames.insert(copying ? try frame.copyingPicture() : try frame.takingPicture(), at: place)
        slots.insert(slot, at: place)
    }

    /// Shows the frame before in the place of each of these, which did not come; the frame behind if none is before. The
    /// buffer must have a frame.
    ///
    /// - Parameter missing: frames in presentation order.
    mutating func fill(_ missing: [Int]) throws(ReelFailure) {
        for slot in missing {
            let place = (slots.lastIndex { $0 < slot } ?? -1) + 1
            frames.insert(try frames[max(place - 1, 0)].sharingPicture(), at: place)
            slots.insert(slot, at: place)
        }
    }

    /// Removes and returns the picture with this index. The caller asks for indexes from the last to the first.
    mutating func take(slot: Int) throws(ReelFailure) -> Frame {
        guard slots.last == slot, let frame = frames.popLast() else { throw ReelFailure(.nothingToEncode) }
        slots.removeLast()
        return frame
    }

    /// Drops all frames.
    mutating func clear() {
        frames.removeAll()
        slots = []
    }
}

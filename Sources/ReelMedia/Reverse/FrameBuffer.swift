internal import BasicContainers
internal import ReelCore

/// The decoded frames of a chunk or a window, in presentation order, each with the slot of the index that it fills.
struct FrameBuffer: ~Copyable {
    private var frames = UniqueArray<Frame>()
    private var slots: [Int] = []

    var count: Int { slots.count }
    var isEmpty: Bool { slots.isEmpty }

    /// The slots of a part of the video that no frame fills.
    func missing(from part: Range<Int>) -> [Int] {
        guard slots.count < part.count else { return [] }
        let filled = Set(slots)
        return part.filter { !filled.contains($0) }
    }

    /// Takes the picture out of `frame`, which can be filled again. A slot that is filled already keeps its picture.
    ///
    /// - Parameter copying: whether the decoder gets its memory back at once.
    mutating func insert(_ frame: borrowing Frame, slot: Int, copying: Bool) throws(ReelFailure) {
        // Nearly always the last place; where a time is wrong, frames do not come in its order.
        let place = (slots.lastIndex { $0 <= slot } ?? -1) + 1
        guard place == 0 || slots[place - 1] != slot else { return }
        frames.insert(copying ? try frame.copyingPicture() : try frame.takingPicture(), at: place)
        slots.insert(slot, at: place)
    }

    /// Hands out the picture for a slot; slots are asked for from the last to the first.
    mutating func take(slot: Int) throws(ReelFailure) -> Frame {
        guard slots.last == slot, let frame = frames.popLast() else { throw ReelFailure(.nothingToEncode) }
        slots.removeLast()
        return frame
    }

    /// Lets go of every frame.
    mutating func clear() {
        frames.removeAll()
        slots = []
    }
}

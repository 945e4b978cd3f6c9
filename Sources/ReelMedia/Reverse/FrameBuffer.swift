internal import BasicContainers
internal import ReelCore

/// The decoded frames of a run or a stretch, in presentation order, each with the slot of the index that it fills.
struct FrameBuffer: ~Copyable {
    private var frames = UniqueArray<Frame>()
    private var slots: [Int] = []
    /// The frame that was taken last, or that stands in for a part without any: shown in slots before the first frame.
    private var last: Frame?

    var count: Int { slots.count }
    var isEmpty: Bool { slots.isEmpty }

    /// The slots of a part of the video that no frame fills.
    func missing(from part: Range<Int>) -> [Int] {
        guard slots.count < part.count else { return [] }
        let filled = Set(slots)
        return part.filter { !filled.contains($0) }
    }

    /// Shows this frame in every slot of a part in which nothing decoded.
    mutating func stand(in frame: borrowing Frame) throws(ReelFailure) { last = try frame.takingPicture() }

    /// Takes the picture out of `frame`, which can be filled again. A slot that is filled already keeps its picture.
    mutating func insert(_ frame: borrowing Frame, slot: Int) throws(ReelFailure) {
        // Nearly always the last place; where a time is wrong, frames do not come in its order.
        let place = (slots.lastIndex { $0 <= slot } ?? -1) + 1
        guard place == 0 || slots[place - 1] != slot else { return }
        frames.insert(try frame.takingPicture(), at: place)
        slots.insert(slot, at: place)
    }

    /// Hands out the picture for a slot; slots are asked for from the last to the first. Where the slot stayed empty
    /// it is the frame before it, or the one after it where there is none before.
    mutating func take(slot: Int) throws(ReelFailure) -> Frame {
        if slots.last == slot, let frame = frames.popLast() {
            slots.removeLast()
            if slots.isEmpty { last = try frame.reference() }
            return frame
        }
        if let end = frames.indices.last { return try frames[end].reference() }
        guard let frame = try last?.reference() else { throw ReelFailure(.nothingToEncode) }
        return frame
    }

    /// Lets go of every frame.
    mutating func clear() {
        frames.removeAll()
        slots = []
        last = nil
    }
}

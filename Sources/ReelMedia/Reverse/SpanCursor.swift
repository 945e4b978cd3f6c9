internal import Glibc
internal import ReelCore

/// Reads spans of decoded samples in a direction, block by block.
struct SpanCursor {
    private let spill: SampleSpill
    private let direction: Direction
    /// Spans that are still to be read, in the order in which they are heard.
    private var left: ArraySlice<AudioTimeline.Span>
    /// The samples of the first of them that were read.
    private var done: Int64 = 0
    /// Samples per channel of all spans.
    let count: Int64

    /// - Parameter spans: in the order in which they are heard; samples within a span are in the source's order.
    init(_ spans: [AudioTimeline.Span], _ direction: Direction, of spill: SampleSpill) {
        self.spill = spill
        self.direction = direction
        left = spans[...]
        count = spans.reduce(0) { $0 + $1.count }
    }

    /// Reads the next `samples` samples of each channel, interleaved; the spans have that many left.
    mutating func read(_ samples: Int, into target: UnsafeMutableRawPointer) throws(ReelFailure) {
        var filled = 0
        while filled < samples, let span = left.first {
            let part = Int(min(span.count - done, Int64(samples - filled)))
            let room = target + filled * spill.frameBytes
            switch span {
            case .silence: memset(room, spill.silence, part * spill.frameBytes)
            case .sound(let first, let count):
                if direction == .backwards {
                    try spill.readBackwards(sample: first + count - done - Int64(part), count: part, into: room)
                } else {
                    try spill.read(sample: first + done, count: part, into: room)
                }
            }
            filled += part
            done += Int64(part)
            if done == span.count {
                left.removeFirst()
                done = 0
            }
        }
    }
}

extension AudioTimeline.Span {
    /// Samples per channel.
    var count: Int64 {
        switch self {
        case .sound(_, let count), .silence(let count): count
        }
    }
}

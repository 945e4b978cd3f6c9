internal import Dispatch
public import ReelCore

/// The segments that an assembly joins. If the assembly began before all passes were finished, a call for a segment that
/// is not known yet waits for the feed that brings it.
public final class SegmentList {
    private var known: [SegmentSubject: StoredSegment] = [:]
    private let feed: SegmentFeed?
    private let waiting: () -> Void

    /// A complete list.
    public init(_ segments: [StoredSegment]) {
        (feed, waiting) = (nil, {})
        add(segments)
    }

    /// The segments that a feed brings, in any order. `waiting` is called repeatedly while a segment is awaited.
    public init(_ feed: SegmentFeed, waiting: @escaping () -> Void) {
        (self.feed, self.waiting) = (feed, waiting)
    }

    /// The most packets by which a frame comes later in decode order than in presentation order, in the segments known
    /// so far.
    var reorderDepth: Int { known.values.reduce(0) { max($0, $1.record.reorderDepth) } }

    /// Frames of the source for which passes reported concealed parts, in the segments known so far. They need not look
    /// as they did when the source was decoded.
    var concealed: Set<Int> {
        var concealed: Set<Int> = []
        for case (.video(let frames), let segment) in known {
            for case .framesConcealed(let moments) in segment.record.diagnostics {
                for place in moments.places { concealed.formUnion(place.frames) }
                if moments.more > 0, let last = moments.places.last {
                    concealed.formUnion(last.frames.upperBound..<max(last.frames.upperBound, frames.upperBound))
                }
            }
        }
        return concealed
    }

    /// The segment with this content, which a pass of the plan makes. Rejects a segment that shows the same frames in
    /// another way.
    func segment(of content: SegmentContent, pass: Int) throws(ReelFailure) -> StoredSegment {
        while true {
            if let segment = known[content.subject] {
                guard segment.record.content.uses.contains(content) else {
                    throw ReelFailure(
                        .segmentFlawed(segment: segment.record.name.text, pass: pass, flaw: .otherContent))
                }
                return segment
            }
            guard let feed else {
                throw ReelFailure(.segmentMissing(segment: "\(content.subject)", pass: pass))
            }
            let more = feed.next(within: .milliseconds(250))
            if more.isEmpty { waiting() } else { add(more) }
        }
    }

    private func add(_ segments: [StoredSegment]) {
        for segment in segments where known[segment.record.content.subject] == nil {
            known[segment.record.content.subject] = segment
        }
    }
}

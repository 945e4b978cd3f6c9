internal import Dispatch
package import ReelCore

/// The segments that an assembly joins. If the assembly began before all passes were finished, a call for a segment that
/// is not known yet waits for the feed that brings it.
package final class SegmentList {
    private var known: [SegmentSubject: StoredSegment] = [:]
    /// The first segment of each content: clips of the same content share it.
    private var shared: [SegmentContent: StoredSegment] = [:]
    private let feed: SegmentFeed?
    private let waiting: () -> Void

    /// A complete list.
    package init(_ segments: [StoredSegment]) {
        (feed, waiting) = (nil, {})
        add(segments)
    }

    /// The segments that a feed brings, in any order. `waiting` is called repeatedly while a segment is awaited.
    package init(_ feed: SegmentFeed, waiting: @escaping () -> Void) {
        (self.feed, self.waiting) = (feed, waiting)
    }

    /// The most packets by which a frame comes later in decode order than in presentation order, in the segments known
    /// so far.
    var reorderDepth: Int { known.values.reduce(0) { max($0, $1.record.reorderDepth) } }

    /// For each source, the frames for which passes reported concealed parts, in the segments known so far. They need not
    /// look as they did when the source was decoded.
    var concealed: [Int: Set<Int>] {
        var concealed: [Int: Set<Int>] = [:]
        for segment in known.values {
            let content = segment.record.content
            guard case .video(let frames) = content.part else { continue }
            for case .framesConcealed(let moments) in segment.record.diagnostics {
                for place in moments.places { concealed[content.source, default: []].formUnion(place.frames) }
                if moments.more > 0, let last = moments.places.last {
                    concealed[content.source, default: []].formUnion(
                        last.frames.upperBound..<max(last.frames.upperBound, frames.upperBound))
                }
            }
        }
        return concealed
    }

    /// The segment with this content, which a pass of the plan makes for a clip: the clip's own, or another clip's of
    /// the same content. Rejects a segment that shows the same frames of the clip in another way.
    func segment(of content: SegmentContent, clip: Int, pass: Int) throws(ReelFailure) -> StoredSegment {
        let subject = SegmentSubject(clip: clip, part: content.part)
        while true {
            let own = known[subject]
            if let own, own.record.content.uses.contains(content) { return own }
            if let other = shared[content] { return other }
            if let own {
                throw ReelFailure(.segmentFlawed(segment: own.record.name.text, pass: pass, flaw: .otherContent))
            }
            guard let feed else {
                throw ReelFailure(.segmentMissing(segment: "\(subject)", pass: pass))
            }
            let more = feed.next(within: .milliseconds(250))
            if more.isEmpty { waiting() } else { add(more) }
        }
    }

    private func add(_ segments: [StoredSegment]) {
        for segment in segments {
            let record = segment.record
            if known[record.name.subject] == nil { known[record.name.subject] = segment }
            for content in record.content.uses where shared[content] == nil { shared[content] = segment }
        }
    }
}

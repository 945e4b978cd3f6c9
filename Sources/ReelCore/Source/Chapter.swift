/// A chapter of the source, in seconds on its clock.
package struct Chapter: Hashable, Codable, Sendable {
    /// When the chapter starts.
    package var start: Rational
    /// When the chapter ends. Not after `start` if the source states no usable end.
    package var end: Rational
    /// The title; nil if there is none.
    package var title: String?

    package init(start: Rational, end: Rational, title: String?) {
        self.start = start
        self.end = end
        self.title = title
    }

    /// The chapters of a clip in the output, in order, in seconds on the output's clock. Chapters of which nothing is
    /// shown are left out. A chapter without an end lasts until the next one starts.
    package static func placed(_ chapters: [Chapter], by clip: Clip, of track: VideoTrack) -> [Chapter] {
        let starts = chapters.map(\.start).sorted()
        let placed = chapters.compactMap { chapter -> Chapter? in
            var end = chapter.end
            if end <= chapter.start {
                end =
                    starts[starts.partitioningIndex { $0 > chapter.start }...].first
                    ?? clip.map.span.upperBound
            }
            guard chapter.start < end, let place = clip.place(chapter.start..<end, in: track) else { return nil }
            return Chapter(start: place.lowerBound, end: place.upperBound, title: chapter.title)
        }
        let order = clip.direction.order(Array(placed.indices)).enumerated()
            .sorted { (placed[$0.element].start, $0.offset) < (placed[$1.element].start, $1.offset) }
        return order.map { placed[$0.element] }
    }
}

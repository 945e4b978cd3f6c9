/// A track of text subtitles with all of its cues.
package struct SubtitleTrack: Hashable, Sendable {
    package var parameters: Parameters
    /// The cues in order of time; they may overlap.
    package var cues: [Cue]

    package init(parameters: Parameters, cues: [Cue]) {
        self.parameters = parameters
        self.cues = cues
    }

    package struct Parameters: Hashable, Codable, Sendable {
        /// The stream's index in the file.
        package var index: Int
        /// As FFmpeg spells it: "subrip".
        package var codec: String
        /// The codec's header, such as the styles of ASS or mov_text; empty for most codecs.
        package var header: [UInt8]
        /// Whether header and payload have the form of 3GPP TS 26.245 ("tx3g"); QuickTime's older text does not.
        package var isTimedText: Bool
        /// The size of the text's area in pixels; 0 if unspecified.
        package var width: Int
        package var height: Int
        package var timeBase: TimeBase
        package var details: TrackDetails

        package init(
            index: Int, codec: String, header: [UInt8], isTimedText: Bool, width: Int, height: Int,
            timeBase: TimeBase, details: TrackDetails
        ) {
            self.index = index
            self.codec = codec
            self.header = header
            self.isTimedText = isTimedText
            self.width = width
            self.height = height
            self.timeBase = timeBase
            self.details = details
        }
    }
}

/// One subtitle text with the interval during which it is shown.
package struct Cue: Hashable, Sendable {
    /// When the cue is shown, in ticks of its track's time base.
    package var interval: Interval
    package var text: CueText

    package init(interval: Interval, text: CueText) {
        self.interval = interval
        self.text = text
    }
}

/// The text of a cue, in the form of its codec.
package struct CueText: Hashable, Sendable {
    package var payload: [UInt8]
    /// The name of the cue; WebVTT only.
    package var identifier: [UInt8]
    /// Where the cue is shown; WebVTT only.
    package var settings: [UInt8]

    package init(payload: [UInt8], identifier: [UInt8] = [], settings: [UInt8] = []) {
        self.payload = payload
        self.identifier = identifier
        self.settings = settings
    }
}

/// A cue as the demuxer gives it; it may lack a time or a duration.
package struct ScannedCue: Hashable, Sendable {
    package var start: Timestamp?
    /// The duration in ticks; 0 or less if the file states none.
    package var duration: Ticks
    package var text: CueText

    package init(start: Timestamp?, duration: Ticks, text: CueText) {
        self.start = start
        self.duration = duration
        self.text = text
    }

    /// Sorts the cues by time. A cue without a duration lasts until the next one starts, the last one until `end`. Cues
    /// without a time, or with a time beyond ±2⁶⁰ ticks, are left out, and `lost` counts them.
    package static func arrange(_ scanned: [ScannedCue], end: Timestamp) -> (cues: [Cue], lost: Int) {
        let starts = Set(scanned.compactMap(\.start).filter { isTime($0.ticks) }).sorted()
        let cues = scanned.compactMap { cue -> Cue? in
            guard let start = cue.start, isTime(start.ticks) else { return nil }
            var duration = Ticks(min(cue.duration.count, Timestamp.bound))
            if duration <= .zero {
                let next = starts[starts.partitioningIndex { $0 > start }...].first ?? max(end, start)
                duration = next - start
            }
            return Cue(interval: Interval(start: start, duration: duration), text: cue.text)
        }
        let order = cues.indices.sorted { (cues[$0].interval.start, $0) < (cues[$1].interval.start, $1) }
        return (order.map { cues[$0] }, scanned.count - cues.count)
    }
}

/// Cuts overlapping spans into spans that do not overlap.
package enum OverlappingSpans {
    /// The most spans shown at once: more texts than this are not readable.
    package static let mostAtOnce = 32

    /// Every span of time in which something is shown, in order, each with the places in `spans` of what is shown in
    /// it. Spans beyond the first 32 at one time are left out.
    package static func flattened(_ spans: [Range<Rational>]) -> [(span: Range<Rational>, members: [Int])] {
        let order = spans.indices.sorted { (spans[$0].lowerBound, $0) < (spans[$1].lowerBound, $1) }
        let bounds = Set(spans.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
        var result: [(span: Range<Rational>, members: [Int])] = []
        var (waiting, active) = (order[...], [Int]())
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            active.removeAll { spans[$0].upperBound <= start }
            while let next = waiting.first, spans[next].lowerBound <= start {
                waiting.removeFirst()
                if spans[next].upperBound > start, active.count < mostAtOnce { active.append(next) }
            }
            if !active.isEmpty { result.append((start..<end, active.sorted())) }
        }
        return result
    }
}

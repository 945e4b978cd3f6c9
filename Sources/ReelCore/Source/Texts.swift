/// A track of text subtitles with everything that it says.
public struct TextTrack: Hashable, Sendable {
    public var parameters: Parameters
    /// In order of time; may overlap.
    public var cues: [Cue]

    public init(parameters: Parameters, cues: [Cue]) {
        self.parameters = parameters
        self.cues = cues
    }

    /// What holds for all cues of a track.
    public struct Parameters: Hashable, Codable, Sendable {
        /// The stream's place in the file.
        public var index: Int
        /// The codec's name as FFmpeg spells it, for example "subrip".
        public var codec: String
        /// The codec's header: styles of ASS, of mov_text; empty for most.
        public var header: [UInt8]
        /// Its header and payload have the form of 3GPP TS 26.245 ("tx3g"); QuickTime's older text has not.
        public var isTimedText: Bool
        /// Where the text goes, in pixels; 0 where nothing is said.
        public var width: Int
        public var height: Int
        public var timeBase: TimeBase
        public var details: TrackDetails

        public init(
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

        public enum CodingKeys: String, CodingKey {
            case index = "index"
            case codec = "codec"
            case header = "header"
            case isTimedText = "isTimedText"
            case width = "width"
            case height = "height"
            case timeBase = "timeBase"
            case details = "details"
        }
    }
}

/// What a subtitle says, and when.
public struct Cue: Hashable, Sendable {
    /// In the time base of its track.
    public var interval: Interval
    public var text: CueText

    public init(interval: Interval, text: CueText) {
        self.interval = interval
        self.text = text
    }
}

/// What a cue says, in the form of its codec.
public struct CueText: Hashable, Sendable {
    public var payload: [UInt8]
    /// WebVTT only: the name of the cue, and where it is shown.
    public var identifier: [UInt8]
    public var settings: [UInt8]

    public init(payload: [UInt8], identifier: [UInt8] = [], settings: [UInt8] = []) {
        self.payload = payload
        self.identifier = identifier
        self.settings = settings
    }
}

/// A subtitle as a container has it: it may not say when, or for how long.
public struct ScannedCue: Hashable, Sendable {
    public var start: Timestamp?
    /// Not positive where nothing is said.
    public var duration: Ticks
    public var text: CueText

    public init(start: Timestamp?, duration: Ticks, text: CueText) {
        self.start = start
        self.duration = duration
        self.text = text
    }

    /// Far beyond every clock, and near enough to zero that sums of a few never overflow.
    private static let bound: Int64 = 1 << 60

    /// The cues in order of time. One without a duration lasts until the next one starts, the last until `end`.
    /// Those without a time, or with one beyond ±2⁶⁰ ticks, cannot be placed: `lost` counts them.
    public static func arrange(_ scanned: [ScannedCue], end: Timestamp) -> (cues: [Cue], lost: Int) {
        let timed = scanned.filter { $0.start.map { (-bound...bound).contains($0.ticks) } ?? false }
        let starts = Set(timed.compactMap(\.start)).sorted()
        var cues: [Cue] = []
        for cue in timed {
            guard let start = cue.start else { continue }
            var duration = Ticks(min(cue.duration.count, bound))
            if duration <= .zero {
                let next = starts[starts.partitioningIndex { $0 > start }...].first ?? max(end, start)
                duration = next - start
            }
            cues.append(Cue(interval: Interval(start: start, duration: duration), text: cue.text))
        }
        let order = cues.indices.sorted { (cues[$0].interval.start, $0) < (cues[$1].interval.start, $1) }
        return (order.map { cues[$0] }, scanned.count - timed.count)
    }
}

extension RandomAccessCollection {
    /// The first place from which on `belongs` holds; it holds for none before and for all after.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
            if belongs(self[middle]) { high = middle } else { low = index(after: middle) }
        }
        return low
    }
}

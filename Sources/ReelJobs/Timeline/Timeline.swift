internal import ReelCore
internal import ReelStore

/// A timeline: what an editing program shows, one item after the other.
struct Timeline {
    var items: [TimelineItem]
    var timecode: StartTimecode?
    /// What reel noted about it when it wrote it; nil if it did not.
    var notes: TimelineNotes?
}

/// An item of a track. Times are in seconds.
struct TimelineItem {
    enum Play: String {
        case forward, reverse
        /// The first frame is held.
        case freeze
    }

    /// The path of its media; nil for a gap.
    var media: String?
    /// Where its range of the media begins, from the file's start.
    var start = Rational(0)
    /// For how long it lasts; positive.
    var length: Rational
    var play = Play.forward
    var isHeard = true
    /// When it begins in the timeline.
    var place = Rational(0)
}

/// What reel notes about a timeline that it writes, so that reading it gives the same edit: a timeline has no words for
/// clips that turn round, repeats, crossfades and trimming.
struct TimelineNotes: Codable {
    /// The edit; its sources are numbered in the order in which the items name them first.
    var edit: Edit
    /// The digest of the items that were written. If an editing program has changed them, the edit is theirs.
    var items: String
}

extension [TimelineItem] {
    /// A hash of what the items show and how. The names of the media do not count, so that the files can move.
    var digest: String {
        var numbers: [String: Int] = [:]
        let lines = map { item in
            let source = item.media.map { media in
                let number = numbers[media] ?? numbers.count
                numbers[media] = number
                return "\(number) \(item.start) \(item.play.rawValue) \(item.isHeard || item.play == .freeze)"
            }
            return "\(item.length) \(source ?? "gap")\n"
        }
        return Fingerprint.sha256Hex([UInt8](lines.joined().utf8))
    }
}

/// A schema of OpenTimelineIO that reel knows, in one of its versions.
enum TimelineSchema: String, CaseIterable {
    case timeline = "Timeline.1"
    case collection = "SerializableCollection.1"
    case stack = "Stack.1"
    case track = "Track.1"
    case gap = "Gap.1"
    case transition = "Transition.1"
    /// With one media reference.
    case clip1 = "Clip.1"
    /// With media references by key.
    case clip2 = "Clip.2"
    case externalReference = "ExternalReference.1"
    case missingReference = "MissingReference.1"
    case generatorReference = "GeneratorReference.1"
    case imageSequenceReference = "ImageSequenceReference.1"
    case linearTimeWarp = "LinearTimeWarp.1"
    case freezeFrame = "FreezeFrame.1"
    case effect = "Effect.1"
    case timeEffect = "TimeEffect.1"
    case time = "RationalTime.1"
    case range = "TimeRange.1"

    static let key = "OTIO_SCHEMA"
    /// The key of an object that holds what programs note about it, and the key of reel's own notes in that.
    static let (metadata, ownNotes) = ("metadata", "reel")
}

struct TimelineObject {
    let schemaName: String
    /// Nil if reel does not know the schema.
    let schema: TimelineSchema?
    let place: JSONPlace
    private let object: JSONObject

    init(_ place: JSONPlace) throws {
        self.place = place
        object = try place.object()
        schemaName = try object.required(TimelineSchema.key).text()
        schema = TimelineSchema(rawValue: schemaName)
    }

    init(_ place: JSONPlace, of wanted: [TimelineSchema]) throws {
        try self.init(place)
        guard let schema else { throw place.flaw(.unknownSchema(schema: schemaName)) }
        guard wanted.contains(schema) else { throw place.malformed(.schema(names: wanted.map(\.rawValue))) }
    }

    var name: String { (try? object.known("name")?.text()) ?? "" }

    /// Whether it is to be shown or heard. Earlier versions of the library do not say so.
    var isEnabled: Bool { get throws { try object.known("enabled")?.flag() ?? true } }

    subscript(key: String) -> JSONPlace? { object.known(key) }

    /// The value of a key. Throws a flaw if it is missing or null.
    func required(_ key: String) throws -> JSONPlace { try object.required(key) }

    /// The objects in the list of a key; none if it is missing or null.
    func list(_ key: String) throws -> [TimelineObject] {
        try object.known(key)?.list().map { try TimelineObject($0) } ?? []
    }
}

/// A time or a length as OpenTimelineIO has it: units, and how many of them a second has.
struct TimelineTime {
    let value: Rational
    /// Units per second.
    let rate: Rational

    var seconds: Rational { value / rate }

    init(_ place: JSONPlace) throws {
        let object = try TimelineObject(place, of: [.time])
        let (value, rate) = (try object.required("value"), try object.required("rate"))
        guard let units = Rational(exactly: try value.double()) else { throw value.malformed(.number) }
        guard let perSecond = TimelineTime.rate(try rate.double()) else { throw rate.malformed(.rate) }
        (self.value, self.rate) = (units, perSecond)
        let limit = Rational(1_000_000_000)
        guard seconds > Rational(0) - limit, seconds < limit else { throw place.malformed(.moment) }
    }

    /// The rate that a number stands for: the nearest broadcast rate within a thousandth of it, else the number itself.
    /// Nil if it is not above 0, or above a billion.
    static func rate(_ number: Double) -> Rational? {
        guard number > 0, number <= 1_000_000_000 else { return nil }
        if let nearest = Rational.broadcastRate(near: number) { return nearest }
        return Rational(exactly: number).flatMap { $0 > Rational(0) ? $0 : nil }
    }
}

/// A range as OpenTimelineIO has it, in seconds.
struct TimelineRange {
    let start: Rational
    /// For how long it lasts; not below 0.
    let length: Rational

    init(_ place: JSONPlace) throws {
        let object = try TimelineObject(place, of: [.range])
        start = try TimelineTime(object.required("start_time")).seconds
        let duration = try object.required("duration")
        length = try TimelineTime(duration).seconds
        guard length >= Rational(0) else { throw duration.malformed(.duration) }
    }
}

extension Rational {
    /// A double's decimal text if that has at most six decimals, else its exact value. Nil beyond 64 bits.
    init?(exactly number: Double) {
        let exact = 0x1p53
        let micros = (number * 1_000_000).rounded()
        if abs(micros) < exact, micros / 1_000_000 == number {
            self.init(Int64(micros), 1_000_000)
            return
        }
        var (scaled, denominator) = (number, Int64(1))
        while scaled != scaled.rounded(), denominator < 1 << 62 {
            (scaled, denominator) = (scaled * 2, denominator * 2)
        }
        guard let numerator = Int64(exactly: scaled.rounded()) else { return nil }
        self.init(numerator, denominator)
    }
}

/// The moment at which a timeline or a file starts, as a timecode has it: frames since midnight.
struct StartTimecode {
    let frames: Int64
    /// Frames per second; labels count the next whole number of them.
    let rate: Rational

    /// Nil if the rate is not a frame rate, or the time lies before midnight.
    init?(frames: Int64, rate: Rational) {
        guard frames >= 0, StartTimecode.rates.contains(rate) else { return nil }
        (self.frames, self.rate) = (frames, rate)
    }

    private static let rates = Rational(1)...Rational(240)

    /// Parses a label such as "01:00:00:00". One with a semicolon drops frames. Nil for anything else.
    init?(_ text: String, rate: Rational) {
        let parts = text.split(whereSeparator: { ":;.".contains($0) }).compactMap { Int64($0) }
        guard parts.count == 4, StartTimecode.rates.contains(rate), parts.allSatisfy({ (0..<1000).contains($0) }) else {
            return nil
        }
        let label = Timecode(
            seconds: (parts[0] * 60 + parts[1]) * 60 + parts[2], frame: parts[3], dropsFrames: text.contains(";"))
        self.init(frames: label.frames(at: rate), rate: rate)
    }

    /// The label, in drop-frame form at 29.97 and 59.94 frames a second. After 24 hours it starts again at midnight.
    var text: String {
        let label = Timecode(frames: frames, rate: rate, dropsFrames: Timecode.droppingRates.contains(rate))
        return Timecode(seconds: label.seconds % 86400, frame: label.frame, dropsFrames: label.dropsFrames).description
    }
}

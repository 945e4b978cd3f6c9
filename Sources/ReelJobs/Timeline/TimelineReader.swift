internal import ReelCore

/// Reads a timeline as the library of OpenTimelineIO writes it. Throws a `FlawedPlace` for what an edit cannot show; if
/// it is lenient, leaves out what can be left out, and reports that.
struct TimelineReader {
    enum MediaPlace {
        case file(String)
        case missing(path: String)
        /// The address is not that of a file.
        case remote
    }

    /// Leave out what an edit cannot show.
    let isLenient: Bool
    /// Finds media by the address that a clip names.
    let locate: (String) -> MediaPlace
    private(set) var diagnostics: [Diagnostic] = []

    /// Reads the whole file, whose top is a timeline or a part of one.
    mutating func timeline(_ root: JSONPlace) throws -> Timeline {
        let top = try top(of: TimelineObject(root))
        let (tracks, beside) = try tracks(of: top)
        for object in beside { try leaveOut(.nested, object) }
        guard let main = tracks.first(where: { $0.kind == TimelineTrack.video }) else {
            throw top.place.flaw(.noVideoTrack)
        }
        var items = try items(of: main)
        try hear(tracks.filter { $0.kind == TimelineTrack.audio }, by: &items)
        for track in tracks where track.object.place.place != main.object.place.place {
            if track.kind == TimelineTrack.audio { continue }
            // What the first video track shows is all that is taken.
            if track.kind == TimelineTrack.video {
                if try track.showsClips { note(.videoTrack, track.object) }
            } else {
                try leaveOut(.otherTrack(kind: track.kind), track.object)
            }
        }
        return Timeline(
            items: items, timecode: try timecode(of: top, main), notes: TimelineNotes(in: top[TimelineSchema.metadata]))
    }

    // MARK: Tracks

    /// The object that is the timeline: the only one of a collection.
    private func top(of object: TimelineObject) throws -> TimelineObject {
        switch object.schema {
        case .timeline, .stack, .track, .clip1, .clip2, .gap: return object
        case .collection:
            let children = try object.list("children")
            let timelines = children.filter { $0.schema == .timeline }
            let candidates = timelines.isEmpty ? children : timelines
            guard candidates.count == 1 else { throw object.place.flaw(.timelineCount(found: candidates.count)) }
            return try top(of: candidates[0])
        default:
            return try TimelineObject(object.place, of: [.timeline, .collection, .stack, .track, .clip1, .clip2, .gap])
        }
    }

    /// The enabled tracks, and what lies beside them.
    private mutating func tracks(of top: TimelineObject) throws -> (tracks: [TimelineTrack], beside: [TimelineObject]) {
        switch top.schema {
        case .timeline, .stack:
            let stack = top.schema == .stack ? top : try TimelineObject(top.required("tracks"), of: [.stack])
            try checkWhole(stack)
            let children = try stack.list("children").filter { try $0.isEnabled }
            let tracks = try children.filter { $0.schema == .track }.map { try TimelineTrack($0) }
            return (tracks, children.filter { $0.schema != .track })
        case .track: return ([try TimelineTrack(top)], [])
        default: return ([TimelineTrack(lone: top)], [])
        }
    }

    /// Makes sure that all of a track or stack is shown, and unchanged.
    private mutating func checkWhole(_ object: TimelineObject) throws {
        if object["source_range"] != nil { try leaveOut(.trimmedTrack, object) }
        for effect in try object.list("effects") where try effect.isEnabled {
            try leaveOut(.effect(name: effect.effectName), object, at: effect.place)
        }
    }

    private mutating func items(of track: TimelineTrack) throws -> [TimelineItem] {
        if track.object.schema == .track { try checkWhole(track.object) }
        let children = try track.children
        guard children.count <= Edit.mostClips else { throw track.object.place.flaw(.clipCount(found: children.count)) }
        var items: [TimelineItem] = []
        var end = Rational(0)
        for child in children {
            guard var item = try item(of: child), item.length > Rational(0) else { continue }
            item.place = end
            end = end + item.length
            items.append(item)
        }
        return items
    }

    // MARK: Items

    /// What a track shows of a child; nil for nothing.
    private mutating func item(of object: TimelineObject) throws -> TimelineItem? {
        if object.schema == .transition {
            try leaveOut(.transition, object)
            return nil
        }
        guard try object.isEnabled else { return TimelineItem(length: try length(of: object)) }
        switch object.schema {
        case .gap: return TimelineItem(length: try length(of: object))
        case .clip1, .clip2: return try clip(object)
        case .stack, .track, .timeline, .collection:
            try leaveOut(.nested, object)
        case nil:
            try leaveOut(.schema(name: object.schemaName), object)
        default:
            throw object.place.malformed(.schema(names: ["Clip.1", "Clip.2", "Gap.1", "Transition.1"]))
        }
        return TimelineItem(length: try length(of: object))
    }

    private mutating func clip(_ object: TimelineObject) throws -> TimelineItem {
        let reference = try reference(of: object)
        let available = try reference?["available_range"].map(TimelineRange.init)
        let range: TimelineRange
        if let own = try object["source_range"].map(TimelineRange.init) ?? available {
            range = own
        } else {
            range = try TimelineRange(object.required("source_range"))
        }
        guard let media = try media(of: object, reference) else { return TimelineItem(length: range.length) }
        return TimelineItem(
            media: media, start: range.start - (available?.start ?? Rational(0)), length: range.length,
            play: try play(of: object))
    }

    /// The active media reference of a clip; nil if it has none.
    private func reference(of clip: TimelineObject) throws -> TimelineObject? {
        guard clip.schema == .clip2 else { return try clip["media_reference"].map { try TimelineObject($0) } }
        guard let references = clip["media_references"] else { return nil }
        let active = try clip["active_media_reference_key"]?.text() ?? "DEFAULT_MEDIA"
        return try references.object().known(active).map { try TimelineObject($0) }
    }

    /// The path of a clip's media; nil if they are left out.
    private mutating func media(of clip: TimelineObject, _ reference: TimelineObject?) throws -> String? {
        guard let reference else {
            try leaveOut(.noMedia, clip)
            return nil
        }
        switch reference.schema {
        case .externalReference:
            let target = try reference.required("target_url")
            let url = try target.text()
            switch locate(url) {
            case .file(let path): return path
            case .missing(let path): try leaveOut(.missingFile(path: path), clip, at: target)
            case .remote: try leaveOut(.remoteMedia(url: url), clip, at: target)
            }
        case .missingReference: try leaveOut(.noMedia, clip, at: reference.place)
        case .generatorReference: try leaveOut(.generator, clip, at: reference.place)
        case .imageSequenceReference: try leaveOut(.imageSequence, clip, at: reference.place)
        default: try leaveOut(.schema(name: reference.schemaName), clip, at: reference.place)
        }
        return nil
    }

    /// How the effects of a clip have its media played.
    private mutating func play(of clip: TimelineObject) throws -> TimelineItem.Play {
        var play = TimelineItem.Play.forward
        for effect in try clip.list("effects") where try effect.isEnabled {
            switch effect.schema {
            case .freezeFrame: play = .freeze
            case .linearTimeWarp:
                let place = try effect.required("time_scalar")
                switch try place.double() {
                case 1: break
                case 0: play = .freeze
                case -1:
                    switch play {
                    case .forward: play = .reverse
                    case .reverse: play = .forward
                    case .freeze: break
                    }
                case let scalar: throw place.flaw(.timeScalar(scalar: "\(scalar)", name: clip.name))
                }
            default: try leaveOut(.effect(name: effect.effectName), clip, at: effect.place)
            }
        }
        return play
    }

    /// The length of an item whose content is not needed.
    private func length(of object: TimelineObject) throws -> Rational {
        if let range = object["source_range"] { return try TimelineRange(range).length }
        switch object.schema {
        case .clip1, .clip2:
            if let available = try reference(of: object)?["available_range"] {
                return try TimelineRange(available).length
            }
        case .track:
            return try object.list("children").filter { $0.schema != .transition }
                .reduce(Rational(0)) { $0 + (try length(of: $1)) }
        case .stack:
            return try object.list("children").map(length).max() ?? Rational(0)
        default: break
        }
        return try TimelineRange(object.required("source_range")).length
    }

    // MARK: Sound

    /// Compares audio tracks with the items of the video: what they place as the video does is the items' own sound. An
    /// item that no audio track places is silent, unless there is no sound at all, or some of it is left out.
    private mutating func hear(_ tracks: [TimelineTrack], by items: inout [TimelineItem]) throws {
        var heard: Set<Int> = []
        var isComplete = true
        for track in tracks {
            do {
                var strict = TimelineReader(isLenient: false, locate: locate)
                heard.formUnion(try strict.places(of: track, in: items))
            } catch is FlawedPlace where isLenient {
                note(.otherSound, track.object)
                isComplete = false
            }
        }
        guard isComplete, !heard.isEmpty else { return }
        for number in items.indices { items[number].isHeard = heard.contains(number) }
    }

    /// The numbers of the items of the video that an audio track places, too.
    private mutating func places(of track: TimelineTrack, in items: [TimelineItem]) throws -> Set<Int> {
        var (places, next): (Set<Int>, Int) = ([], 0)
        let own = try self.items(of: track)
        for sound in own where sound.media != nil {
            while next < items.count, !sound.isBegun(with: items[next]) { next += 1 }
            guard next < items.count, sound.isSound(of: items[next]) else {
                throw track.object.place.flaw(.notTaken(part: .otherSound, name: track.object.name))
            }
            places.insert(next)
        }
        return places
    }

    // MARK: Start time

    /// The label of the first frame. A start time in no frame rate is counted at that of the first item with media.
    private mutating func timecode(of top: TimelineObject, _ main: TimelineTrack) throws -> StartTimecode? {
        guard let place = top["global_start_time"] else { return nil }
        let time = try TimelineTime(place)
        let rates = try [time.rate] + main.children.compactMap { try $0.rate }.prefix(1)
        for rate in rates {
            let frames = TimeBase(1, 1).ticks(in: time.seconds * rate, rounding: .nearest)
            if let timecode = StartTimecode(frames: frames, rate: rate) { return timecode }
        }
        try leaveOut(.startTime, top, at: place)
        return nil
    }

    // MARK: Leaving out

    /// Leaves a part out if that is allowed. Throws its flaw if not.
    private mutating func leaveOut(_ part: TimelinePart, _ object: TimelineObject, at place: JSONPlace? = nil) throws {
        guard isLenient else { throw (place ?? object.place).flaw(.notTaken(part: part, name: object.name)) }
        note(part, object, at: place)
    }

    private mutating func note(_ part: TimelinePart, _ object: TimelineObject, at place: JSONPlace? = nil) {
        diagnostics.append(.timelinePartLeftOut(place: (place ?? object.place).place, name: object.name, part: part))
    }
}

/// A track, or a single item that stands for one.
private struct TimelineTrack {
    static let (video, audio) = ("Video", "Audio")

    let object: TimelineObject
    let kind: String
    private let isItem: Bool

    init(_ object: TimelineObject) throws {
        self.object = object
        kind = try object["kind"]?.text() ?? TimelineTrack.video
        isItem = false
    }

    init(lone item: TimelineObject) { (object, kind, isItem) = (item, TimelineTrack.video, true) }

    var children: [TimelineObject] { get throws { isItem ? [object] : try object.list("children") } }

    var showsClips: Bool { get throws { try children.contains { $0.schema != .gap } } }
}

extension TimelineObject {
    fileprivate var effectName: String {
        let said = (try? self["effect_name"]?.text()) ?? ""
        return said.isEmpty ? (name.isEmpty ? schemaName : name) : said
    }

    /// The rate in which its range is counted; nil if it has none.
    fileprivate var rate: Rational? {
        get throws {
            guard let range = self["source_range"] else { return nil }
            return try TimelineTime(TimelineObject(range, of: [.range]).required("duration")).rate
        }
    }
}

extension TimelineItem {
    /// How far the times of sound and video may differ, since either may be rounded to units of its own: a millisecond.
    private static let tolerance = Rational(1, 1000)

    private static func isNear(_ a: Rational, _ b: Rational) -> Bool { max(a, b) - min(a, b) <= tolerance }

    fileprivate func isBegun(with other: TimelineItem) -> Bool { TimelineItem.isNear(place, other.place) }

    fileprivate func isSound(of other: TimelineItem) -> Bool {
        media == other.media && play == other.play && TimelineItem.isNear(start, other.start)
            && TimelineItem.isNear(length, other.length)
    }
}

extension TimelineNotes {
    /// Nil if the metadata of a timeline have none, or something else under their name.
    fileprivate init?(in metadata: JSONPlace?) {
        guard case .object(let all)? = metadata?.value, let own = all[TimelineSchema.ownNotes],
            let bytes = try? CanonicalJSON.bytes(of: own),
            let notes = try? CanonicalJSON.value(TimelineNotes.self, from: bytes)
        else { return nil }
        self = notes
    }
}

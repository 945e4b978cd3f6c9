internal import Foundation
internal import ReelCore

/// Writes the edit of a plan as a timeline: an item for each span, in a video track, and in an audio track what is
/// heard. What a timeline has no words for goes into reel's own notes.
struct TimelineWriter {
    private let plan: Plan
    private let edit: Edit
    /// In the order of the plan's sources.
    private let media: [TimelineMedia]
    private let items: [TimelineItem]
    /// For each item the place of its source.
    private let sourcesOfItems: [Int]
    private let hasSound: Bool

    /// - Parameters:
    ///   - spec: the request, whose edit the plan shows.
    ///   - sources: absolute paths of the plan's sources.
    ///   - indexes: those of the plan's sources, in their order.
    ///
    /// Throws `.timelineSpeed` if a clip is played at another speed than its source's, and `.timelineSoundtrack`.
    init(_ plan: Plan, _ spec: JobSpec, sources: [String], indexes: [SourceIndex]) throws(ReelFailure) {
        let edit =
            spec.edit
            ?? Edit(clips: [EditClip(from: spec.from, to: spec.to, duration: spec.duration, play: .reverse)])
        if let number = edit.clips.firstIndex(where: { $0.still == nil && $0.speed != Rational(1) }) {
            throw ReelFailure(.timelineSpeed(clip: number, speed: edit.clips[number].speed))
        }
        guard edit.soundtrack == nil else { throw ReelFailure(.timelineSoundtrack) }
        (self.plan, self.edit) = (plan, edit)
        let media = zip(sources, indexes).map { TimelineMedia(path: $0, index: $1) }
        self.media = media
        let spans = edit.spans(in: plan.clips)
        let isHeard = { (span: Edit.Span) in
            span.clip.isHeard && !span.clip.isBlack && !span.isStill && !indexes[span.clip.source].audio.isEmpty
        }
        let hasSound = !plan.audio.isEmpty && spans.contains(where: isHeard)
        items = spans.map { span in
            let clip = span.clip
            guard !clip.isBlack else { return TimelineItem(length: span.length) }
            return TimelineItem(
                media: sources[clip.source],
                start: media[clip.source].place(clip.map.span.lowerBound - indexes[clip.source].startTime),
                length: span.length, play: span.isStill ? .freeze : clip.direction == .backwards ? .reverse : .forward,
                isHeard: !hasSound || isHeard(span), place: clip.map.offset)
        }
        sourcesOfItems = spans.map(\.clip.source)
        self.hasSound = hasSound
    }

    /// The bytes of the file.
    ///
    /// - Parameter path: where it will be; paths of media count from its folder.
    ///
    /// Throws `.editFlawed` if the file would be larger than one that is read.
    func bytes(at path: String) throws(ReelFailure) -> [UInt8] {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        let folder = url.deletingLastPathComponent().path
        let video = zip(sourcesOfItems, items).map { object(of: $1, $0, in: folder) }
        var tracks = [track("Video", video)]
        if hasSound {
            let heard = { (item: TimelineItem) in item.media != nil && item.isHeard && item.play != .freeze }
            tracks.append(track("Audio", zip(items, video).map { heard($0) ? $1 : gap($0.length) }))
        }
        let stack = object(.stack, ["name": .string("tracks"), "children": .array(tracks)])
        let timeline = object(
            .timeline,
            [
                "name": .string(url.deletingPathExtension().lastPathComponent), "global_start_time": start,
                "tracks": stack, TimelineSchema.metadata: .object([TimelineSchema.ownNotes: try notes()]),
            ])
        let bytes = try failing { try CanonicalJSON.bytes(of: timeline) }
        guard bytes.count <= SubmittedEdit.mostTimelineBytes else {
            throw ReelFailure(
                .editFlawed(path: path, place: "", flaw: .tooLong(bytes: SubmittedEdit.mostTimelineBytes)))
        }
        return bytes
    }

    private func notes() throws(ReelFailure) -> JSONValue {
        var own = edit
        // The reader numbers sources in the order in which items name them.
        let order = edit.shownSources
        for number in own.clips.indices {
            own.clips[number].source = own.clips[number].source.flatMap(order.firstIndex(of:))
        }
        let notes = TimelineNotes(edit: own, items: items.digest)
        return try failing { try CanonicalJSON.value(JSONValue.self, from: CanonicalJSON.bytes(of: notes)) }
    }

    private func failing<Value>(_ body: () throws -> Value) throws(ReelFailure) -> Value {
        do { return try body() } catch { throw ReelFailure(.notEncodable(said: "\(error)")) }
    }

    private var start: JSONValue {
        guard let text = plan.timecode else { return .null }
        let own = media[plan.mainSource].frameRate.map { [$0] } ?? []
        let usual = [24, 25, 30, 50, 60].map { Rational($0) } + [30, 60].map { Rational($0 * 1000, 1001) }
        let timecodes = (own + usual).lazy.compactMap { StartTimecode(text, rate: $0) }
        return timecodes.first { $0.text == text }.map { time($0.frames, $0.rate) } ?? .null
    }

    // MARK: Objects

    private func object(_ schema: TimelineSchema, _ values: [String: JSONValue]) -> JSONValue {
        var all: [String: JSONValue] = [TimelineSchema.key: .string(schema.rawValue)]
        if ![.time, .range].contains(schema) { all[TimelineSchema.metadata] = .object([:]) }
        if [.stack, .track, .clip2, .gap].contains(schema) {
            (all["effects"], all["markers"], all["source_range"], all["enabled"]) =
                (.array([]), .array([]), .null, .bool(true))
        }
        return .object(all.merging(values) { $1 })
    }

    private func track(_ kind: String, _ children: [JSONValue]) -> JSONValue {
        object(.track, ["name": .string(kind), "kind": .string(kind), "children": .array(children)])
    }

    private func gap(_ length: Rational) -> JSONValue {
        object(.gap, ["name": .string(""), "source_range": range(Rational(0), length, [plan.video.format.frameRate])])
    }

    private func object(of item: TimelineItem, _ source: Int, in folder: String) -> JSONValue {
        guard item.media != nil else { return gap(item.length) }
        let media = media[source]
        let reference = object(
            .externalReference,
            [
                "name": .string(media.title), "target_url": .string(media.address(from: folder)),
                "available_range": range(media.start, media.length, media.rates), "available_image_bounds": .null,
            ])
        let name = "DEFAULT_MEDIA"
        return object(
            .clip2,
            [
                "name": .string(media.title), "effects": .array(effects(of: item)),
                "source_range": range(media.start + item.start, item.length, media.rates),
                "media_references": .object([name: reference]), "active_media_reference_key": .string(name),
            ])
    }

    private func effects(of item: TimelineItem) -> [JSONValue] {
        let (schema, name, scalar): (TimelineSchema, String, Decimal)
        switch item.play {
        case .forward: return []
        case .reverse: (schema, name, scalar) = (.linearTimeWarp, "LinearTimeWarp", -1)
        case .freeze: (schema, name, scalar) = (.freezeFrame, "FreezeFrame", 0)
        }
        let values: [String: JSONValue] = [
            "name": .string(""), "effect_name": .string(name), "time_scalar": .number(scalar), "enabled": .bool(true),
        ]
        return [object(schema, values)]
    }

    // MARK: Times

    /// A range in seconds, counted in whole units of the first rate that can, else of the least such rate.
    private func range(_ start: Rational, _ length: Rational, _ rates: [Rational]) -> JSONValue {
        let common = Rational.leastCommonMultiple(start.denominator, length.denominator) ?? 1_000_000
        let rate =
            rates.first { rate in
                TimelineTime.rate(rate.approximate) == rate
                    && [start, length].allSatisfy { ($0 * rate).denominator == 1 }
            } ?? Rational(common)
        let units = { (time: Rational) in TimeBase(1, 1).ticks(in: time * rate, rounding: .nearest) }
        return object(.range, ["start_time": time(units(start), rate), "duration": time(units(length), rate)])
    }

    private func time(_ units: Int64, _ rate: Rational) -> JSONValue {
        object(.time, ["value": .number(Decimal(units)), "rate": .number(Decimal(string: "\(rate.approximate)") ?? 1)])
    }
}

extension Edit {
    /// What a timeline has one item for: a clip of a plan, or the frames that a still has become.
    fileprivate struct Span {
        /// The first of them.
        var clip: Clip
        var length: Rational
        var isStill: Bool
    }

    /// The spans of a plan that shows this edit.
    fileprivate func spans(in shown: [Clip]) -> [Span] {
        var spans: [Span] = []
        var rest = shown[...]
        for clip in clips {
            for _ in 0..<clip.times {
                guard let first = rest.popFirst() else { return spans }
                var length = first.map.duration
                if let still = clip.still {
                    while length < still, let next = rest.popFirst() { length = length + next.map.duration }
                }
                spans.append(Span(clip: first, length: length, isStill: clip.still != nil))
                // Of one or two frames, a clip that is played forth and back may have nothing to show on its way back.
                guard clip.play == .pingPong, clip.still == nil, let next = rest.first, next.direction == .backwards,
                    case .turn = next.joint
                else { continue }
                rest.removeFirst()
                spans.append(Span(clip: next, length: next.map.duration, isStill: false))
            }
        }
        return spans
    }
}

struct TimelineMedia {
    private let path: String
    /// The frames of its video in a second, if all last equally long.
    let frameRate: Rational?
    /// Rates in which its ranges may be counted, the best first: frames, then ticks of its clock.
    let rates: [Rational]
    /// The moment that its own clock shows at the file's start, in seconds: its start timecode, if it has one.
    let start: Rational
    /// For how long its video lasts, in seconds from the file's start.
    let length: Rational

    init(path: String, index: SourceIndex) {
        self.path = path
        let clock = index.video.stream.timeBase
        frameRate = index.video.frameRate
        rates = (frameRate.map { [$0] } ?? []) + [Rational(1) / clock.secondsPerTick]
        let label = index.metadata.first { $0.name.lowercased() == "timecode" }?.value
        let timecode = frameRate.flatMap { rate in label.flatMap { StartTimecode($0, rate: rate) } }
        start = timecode.map { Rational($0.frames) / $0.rate } ?? Rational(0)
        length = TimelineMedia.whole(clock.seconds(index.video.end) - index.startTime, frameRate)
    }

    /// A time in seconds from the file's start, as a timeline has it: a time within a microsecond of a whole frame
    /// becomes that frame's, since the file's start is known only to a microsecond.
    func place(_ time: Rational) -> Rational { TimelineMedia.whole(time, frameRate) }

    private static func whole(_ time: Rational, _ rate: Rational?) -> Rational {
        guard let rate else { return time }
        let frame = Rational(TimeBase(1, 1).ticks(in: time * rate, rounding: .nearest)) / rate
        return max(frame, time) - min(frame, time) <= Rational(1, 1_000_000) ? frame : time
    }

    var title: String { SubmittedEdit.title(of: path) }

    /// Its path from a folder if it lies in it, else a URL.
    func address(from folder: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let inside = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
        // A colon could be taken for the end of a URL's scheme.
        guard inside.isEmpty || inside.contains(":") else { return inside }
        return WebAddress.isWritten(path) ? path : URL(fileURLWithPath: path).absoluteString
    }
}

extension VideoTrack {
    /// Frames per second, if all frames last equally long and follow one another.
    fileprivate var frameRate: Rational? {
        guard let first = frames.first?.interval, first.duration > .zero else { return nil }
        let isEven = frames.enumerated().allSatisfy { number, frame in
            frame.interval.duration == first.duration
                && frame.interval.start.ticks == first.start.ticks + Int64(number) * first.duration.count
        }
        return isEven ? Rational(1) / stream.timeBase.seconds(first.duration) : nil
    }
}

/// What is wrong with a place in an edit's file.
package enum EditFlaw: Hashable, Codable, Sendable {
    case notJSON(said: String)
    case tooLong(bytes: Int64)
    case unknownKey(known: [String])
    case missing
    case malformed(wanted: EditForm)
    case excludes(key: String)
    case rangeEmpty(from: Position, to: Position)
    case clipCount(found: Int)
    case onlyGaps
    case sourceMissing(path: String)
    /// A timeline has a part that an edit cannot show; `name` is the part's own, which may be empty.
    case notTaken(part: TimelinePart, name: String)
    /// A clip of a timeline has a time scalar other than −1, 0 and 1; `name` is the clip's.
    case timeScalar(scalar: String, name: String)
    /// An object without which a timeline cannot be read has a schema that reel does not know.
    case unknownSchema(schema: String)
    case noVideoTrack
    /// The file has this many timelines, tracks or clips at its top, and reel cannot know which one is meant.
    case timelineCount(found: Int)

    package enum CodingKeys: String, CodeKey {
        case notJSON, tooLong, unknownKey, missing, malformed, excludes, rangeEmpty, clipCount, onlyGaps, sourceMissing,
            notTaken, timeScalar, unknownSchema, noVideoTrack, timelineCount
    }
}

/// What belongs at a place in an edit's file.
package enum EditForm: Hashable, Codable, Sendable {
    case object, list, text, flag
    /// Seconds as a number, a ratio in a string, or a time as clocks show it.
    case time
    case duration
    /// A moment of a video, as `--from` takes it, or seconds as a number.
    case position
    /// A position that is not 0.
    case length
    case count(least: Int, most: Int)
    case ratio(least: Rational, most: Rational)
    case word(words: [String])
    case number, rate, moment
    case schema(names: [String])
}

/// A part of a timeline that an edit cannot show as it is. Keys are stored: never change one.
package enum TimelinePart: Hashable, Codable, Sendable {
    /// A dissolve or another transition between two items.
    case transition
    /// A stack or a track among the items of a track, or an item beside the tracks.
    case nested
    /// An object of a schema that reel does not know, such as "Sequence.1".
    case schema(name: String)
    /// Media that a program makes, such as a title or bars.
    case generator
    case imageSequence, noMedia
    case remoteMedia(url: String)
    case missingFile(path: String)
    /// An effect that is not a change of time.
    case effect(name: String)
    /// An audio track that places other media than the video track, or the same at other times.
    case otherSound
    case trimmedTrack, videoTrack
    case otherTrack(kind: String)
    /// A start time whose rate counts no frames.
    case startTime

    package enum CodingKeys: String, CodeKey {
        case transition, nested, schema, generator, imageSequence, noMedia, remoteMedia, missingFile, effect,
            otherSound, trimmedTrack, videoTrack, otherTrack, startTime
    }
}

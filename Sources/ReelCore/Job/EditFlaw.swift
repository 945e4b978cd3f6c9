/// What is wrong with a place in an edit's file.
package enum EditFlaw: Hashable, Codable, Sendable {
    /// The file is not JSON; quotes the parser.
    case notJSON(said: String)
    /// The file has more bytes than an edit may have.
    case tooLong(bytes: Int64)
    /// An edit has no such key; `known` are the possible ones.
    case unknownKey(known: [String])
    case missing
    /// The value is not what belongs here.
    case malformed(wanted: EditForm)
    /// It excludes another key of the same object.
    case excludes(key: String)
    /// The start of the range is not before its end.
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
    /// A time that is not 0.
    case duration
    /// A moment of a video, as `--from` takes it, or seconds as a number.
    case position
    /// A position that is not 0.
    case length
    /// A whole number in a range.
    case count(least: Int, most: Int)
    /// A number or ratio in a range.
    case ratio(least: Rational, most: Rational)
    /// One of these words.
    case word(words: [String])
    case number
    /// Units per second, above 0.
    case rate
    /// A time within a billion seconds.
    case moment
    /// An object of one of these schemas of OpenTimelineIO.
    case schema(names: [String])

    package enum CodingKeys: String, CodeKey {
        case object, list, text, flag, time, duration, position, length, count, ratio, word, number, rate, moment,
            schema
    }
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
    /// A numbered file for each frame.
    case imageSequence
    /// A clip that names no media.
    case noMedia
    /// Media at an address that is no file.
    case remoteMedia(url: String)
    /// A file that is not there.
    case missingFile(path: String)
    /// An effect that is not a change of time.
    case effect(name: String)
    /// An audio track that places other media than the video track, or the same at other times.
    case otherSound
    /// A track or stack of which only a range is shown.
    case trimmedTrack
    /// A video track beside the first.
    case videoTrack
    /// A track of another kind than video and audio.
    case otherTrack(kind: String)
    /// A start time whose rate counts no frames.
    case startTime

    package enum CodingKeys: String, CodeKey {
        case transition, nested, schema, generator, imageSequence, noMedia, remoteMedia, missingFile, effect,
            otherSound, trimmedTrack, videoTrack, otherTrack, startTime
    }
}

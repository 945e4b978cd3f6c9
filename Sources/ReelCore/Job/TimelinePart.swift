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

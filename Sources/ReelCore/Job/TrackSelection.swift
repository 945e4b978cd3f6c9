/// Which of the sources' tracks the output has. The video is always among them.
public struct TrackSelection: Hashable, Codable, Sendable {
    /// Places among the audio tracks, ascending; nil for all.
    public var audio: [Int]?
    /// Places among the text subtitles, ascending; nil for all.
    public var subtitles: [Int]?

    /// A selection; nil selects all tracks of a kind.
    public init(audio: [Int]?, subtitles: [Int]?) {
        (self.audio, self.subtitles) = (audio, subtitles)
    }

    /// A kind of tracks that can be selected.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        case audio, subtitles
    }

    package enum CodingKeys: String, CodingKey {
        case audio, subtitles
    }
}

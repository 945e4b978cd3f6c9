/// Which of the sources' tracks the output has. The video is always among them.
package struct TrackSelection: Hashable, Codable, Sendable {
    /// Places among the audio tracks, ascending; nil for all.
    package var audio: [Int]?
    /// Places among the text subtitles, ascending; nil for all.
    package var subtitles: [Int]?

    /// A selection; nil selects all tracks of a kind.
    package init(audio: [Int]?, subtitles: [Int]?) {
        (self.audio, self.subtitles) = (audio, subtitles)
    }

    /// A kind of tracks that can be selected.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        case audio, subtitles
    }
}

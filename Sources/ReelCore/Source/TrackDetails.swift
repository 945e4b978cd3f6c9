/// Descriptions of a track for people and players.
package struct TrackDetails: Hashable, Codable, Sendable {
    /// ISO 639-2 code; nil if unspecified.
    package var language: String?
    /// The title; nil if there is none.
    package var title: String?
    /// FFmpeg's AV_DISPOSITION_* names, for example "default".
    package var dispositions: [String]

    package init(language: String? = nil, title: String? = nil, dispositions: [String] = []) {
        self.language = language
        self.title = title
        self.dispositions = dispositions
    }
}

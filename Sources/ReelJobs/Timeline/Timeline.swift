internal import ReelCore
internal import ReelStore

/// A timeline: what an editing program shows, one item after the other.
struct Timeline {
    /// The items of its video, in their order.
    var items: [TimelineItem]
    var timecode: StartTimecode?
    /// What reel noted about it when it wrote it; nil if it did not.
    var notes: TimelineNotes?
}

/// An item of a track. Times are in seconds.
struct TimelineItem {
    /// How the media of an item are played.
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
    /// Whether its sound is heard.
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

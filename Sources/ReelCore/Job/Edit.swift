/// What a job shows if it does more than reverse one range of its source once: clips, one after the other.
package struct Edit: Hashable, Codable, Sendable {
    /// The clips in the order of the output; at least one has a source.
    package var clips: [EditClip]
    package var turn: Turn
    /// The length of the crossfade of the sound where clips or their repeats meet, in seconds; 0 for hard cuts. Nil for
    /// half a frame, at least 10 ms.
    package var crossfade: Rational?
    package var trim: Trim
    /// The start timecode of the output, as "01:00:00:00", with ";" before the frames if it drops frames; nil for that
    /// of the first clip's source.
    package var timecode: String?
    package var soundtrack: Soundtrack?

    /// The most clips of an edit, each counted as often as it is played.
    package static let mostClips = 100_000

    package init(
        clips: [EditClip], turn: Turn = .once, crossfade: Rational? = nil, trim: Trim = .none, timecode: String? = nil,
        soundtrack: Soundtrack? = nil
    ) {
        self.clips = clips
        self.turn = turn
        self.crossfade = crossfade
        self.trim = trim
        self.timecode = timecode
        self.soundtrack = soundtrack
    }

    /// Whether all numbers are within range, for a job of this many sources: another user may have written the record.
    package func isSound(sources count: Int) -> Bool {
        let sources = 0..<count
        let areSound = clips.allSatisfy { clip in
            EditClip.timesAllowed.contains(clip.times) && EditClip.speedsAllowed.contains(clip.speed)
                && clip.still ?? Rational(1) > Rational(0) && clip.source.map(sources.contains) ?? (clip.still != nil)
        }
        return areSound && (1...Edit.mostClips).contains(repeats) && clips.contains { $0.source != nil }
            && crossfade ?? Rational(0) >= Rational(0) && timecode.map(Edit.isTimecode) ?? true
            && soundtrack.map { sources.contains($0.source) && $0.from >= Rational(0) } ?? true
    }

    private static func isTimecode(_ text: String) -> Bool {
        text.utf8.count <= 16 && text.allSatisfy { "0123456789:;".contains($0) }
    }

    package var repeats: Int { clips.reduce(0) { $0 + $1.times } }

    /// The indexes of the sources whose pictures are shown, each once, in the order of the output.
    package var shownSources: [Int] {
        var known: Set<Int> = []
        return clips.compactMap(\.source).filter { known.insert($0).inserted }
    }

    /// The index of the source that is shown first: the output has its format, and its frames carry black pictures.
    package var firstSource: Int { clips.lazy.compactMap(\.source).first ?? 0 }
}

/// Sound that runs forwards over a whole edit, from a moment of a source on, and fades out at the end. It is silent
/// after the source's sound has ended.
package struct Soundtrack: Hashable, Codable, Sendable {
    /// The index of its source among the job's sources. Its first audio track is heard.
    package var source: Int
    /// The moment that is heard first, in seconds from the file's start; not negative.
    package var from: Rational

    package init(source: Int, from: Rational = Rational(0)) {
        self.source = source
        self.from = from
    }

    /// The length of its fade at the end, in seconds.
    static let fade = Rational(1, 2)
}

/// A range of a source, how it is played, and how often; or a still picture.
package struct EditClip: Hashable, Codable, Sendable {
    /// The index of its source among the job's sources; nil for a black picture, which is a still.
    package var source: Int?
    /// The start of the range: frames with from ≤ t < to are shown, where t is what `rule` says. Nil for no limit.
    package var from: Position?
    package var to: Position?
    /// How much of the source the range has, instead of `to`; nil for no limit.
    package var duration: Position?
    /// Which moment of a frame decides whether a range in seconds has it; nil for its start.
    package var rule: RangeRule?
    package var play: Play
    package var times: Int
    package static let timesAllowed = 1...10_000
    /// Seconds of the source in a second of the output; within `speedsAllowed`.
    package var speed: Rational
    package static let speedsAllowed = Rational(1, 16)...Rational(16)
    package var sound: Bool
    /// Shows the range's first frame for this many seconds, without sound, instead of playing the range; nil to play
    /// it.
    package var still: Rational?
    /// The fewest frames that its range may have, if it has pictures; nil for one.
    package var leastFrames: Int?
    package var title: String?

    package init(
        source: Int? = 0, from: Position? = nil, to: Position? = nil, duration: Position? = nil,
        rule: RangeRule? = nil, play: Play, times: Int = 1,
        speed: Rational = Rational(1), sound: Bool = true, still: Rational? = nil, leastFrames: Int? = nil,
        title: String? = nil
    ) {
        self.source = source
        self.from = from
        self.to = to
        self.duration = duration
        self.rule = rule
        self.play = play
        self.times = times
        self.speed = speed
        self.sound = sound
        self.still = still
        self.leastFrames = leastFrames
        self.title = title
    }

    package static func gap(_ seconds: Rational) -> EditClip {
        EditClip(source: nil, play: .forward, sound: false, still: seconds)
    }

    package var directions: [Direction] { still == nil ? play.directions : [.forwards] }
}

/// Which moment of a frame decides whether a range has it.
package enum RangeRule: String, Codable, CaseIterable, Sendable {
    /// Its middle: the bounds of ranges that editing programs write are rounded, to less than half a frame.
    case middle
}

package enum Play: String, Codable, CaseIterable, Sendable {
    case reverse, forward
    case pingPong = "ping-pong"

    package var directions: [Direction] {
        switch self {
        case .reverse: [.backwards]
        case .forward: [.forwards]
        case .pingPong: [.forwards, .backwards]
        }
    }
}

/// How a clip that is played forth and back turns round.
package enum Turn: String, Codable, CaseIterable, Sendable {
    /// The frames at which it turns are shown once: of n frames, n forward and n − 2 back.
    case once
    case twice
}

/// Which frames of its range a clip shows.
package enum Trim: String, Codable, CaseIterable, Sendable {
    case none
    /// Only frames with sound, and with the sound around them that crossfades need.
    case shared
}

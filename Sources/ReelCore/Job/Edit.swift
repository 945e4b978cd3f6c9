/// What a job shows if it does more than reverse one range of its source once: clips, one after the other.
public struct Edit: Hashable, Codable, Sendable {
    /// The clips in the order of the output; at least one.
    public var clips: [EditClip]
    /// How clips that are played forth and back turn round.
    public var turn: Turn
    /// The length of the crossfade of the sound where clips or their repeats meet, in seconds; 0 for hard cuts. Nil for
    /// half a frame, at least 10 ms.
    public var crossfade: Rational?

    /// Clips, one after the other; `crossfade` is in seconds.
    public init(clips: [EditClip], turn: Turn = .once, crossfade: Rational? = nil) {
        self.clips = clips
        self.turn = turn
        self.crossfade = crossfade
    }

    /// The directions in which frames run.
    public var directions: Set<Direction> { Set(clips.flatMap(\.play.directions)) }

    package enum CodingKeys: String, CodingKey {
        case clips = "clips"
        case turn = "turn"
        case crossfade = "crossfade"
    }
}

/// A range of a source, how it is played, and how often.
public struct EditClip: Hashable, Codable, Sendable {
    /// The start of the range, in seconds from the file's start: frames with from ≤ t < to are shown. Nil for no limit.
    public var from: Rational?
    /// The end of the range, in seconds from the file's start; nil for no limit.
    public var to: Rational?
    /// In which directions the range is played.
    public var play: Play
    /// How often the clip is played; within `timesAllowed`.
    public var times: Int
    /// The valid values of `times`.
    public static let timesAllowed = 1...10_000

    /// A range in seconds from the file's start.
    public init(from: Rational? = nil, to: Rational? = nil, play: Play, times: Int = 1) {
        self.from = from
        self.to = to
        self.play = play
        self.times = times
    }

    package enum CodingKeys: String, CodingKey {
        case from = "from"
        case to = "to"
        case play = "play"
        case times = "times"
    }
}

/// The directions in which a clip is played.
public enum Play: String, Codable, CaseIterable, Sendable {
    case reverse, forward
    /// Forward, then back.
    case pingPong = "ping-pong"

    /// One for each span of the clip, in the order of the output.
    public var directions: [Direction] {
        switch self {
        case .reverse: [.backwards]
        case .forward: [.forwards]
        case .pingPong: [.forwards, .backwards]
        }
    }
}

/// How a clip that is played forth and back turns round.
public enum Turn: String, Codable, CaseIterable, Sendable {
    /// The frames at which it turns are shown once: of n frames, n forward and n − 2 back.
    case once
    /// All frames are shown in both directions.
    case twice
}

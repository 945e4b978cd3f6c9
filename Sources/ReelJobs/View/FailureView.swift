public import ReelCore
public import ReelQueue
internal import ReelWords

/// Attempts that failed at one pass, as `--json` shows them. Documented in docs/json.md; names only ever get added.
public struct FailureView: Codable, Hashable, Sendable {
    /// The pass's place in the plan.
    public var index: Int
    /// "video", "audio", "probe" or "assembly"; missing where the board does not know the pass.
    public var kind: String?
    /// Frames of the source in presentation order, from and up to but not including; missing for anything but video.
    public var firstFrame: Int?
    public var endFrame: Int?
    /// Seconds from the source's start; missing where no store tells them.
    public var from: Double?
    public var to: Double?
    /// Attempts by cause.
    public var attempts: [String: Int]
    public var lastMessage: String
    /// The last attempts, the oldest first.
    public var recent: [AttemptView]

    public struct AttemptView: Codable, Hashable, Sendable {
        public var cause: String
        public var code: String
        public var owner: ReelFailure.Owner
        public var facts: JSONValue
        public var message: String
        public var host: String
        public var worker: String
        /// Seconds since 1970.
        public var time: Double
        /// The engine's last lines; missing where it said nothing, or no store tells.
        public var log: [String]?
    }

    /// - Parameters:
    ///   - pass: nil where it is not known.
    ///   - index: what tells the times of the pass's frames.
    ///   - logs: what engines said in the end, by token.
    public init(_ failure: PassFailure, pass: Pass? = nil, index: SourceIndex? = nil, logs: [String: String] = [:]) {
        self.index = failure.index
        attempts = failure.attempts
        lastMessage = failure.recent.last?.reason.words ?? ""
        recent = failure.recent.map { attempt in
            let log = logs[attempt.token].map(FailureView.lastLines) ?? []
            return AttemptView(
                cause: attempt.cause, code: attempt.reason.reason.code, owner: attempt.reason.owner,
                facts: attempt.reason.reason.facts, message: attempt.reason.words, host: attempt.host,
                worker: attempt.worker,
                time: attempt.time, log: log.isEmpty ? nil : log)
        }
        switch pass {
        case nil: break
        case .assembly: kind = "assembly"
        case .probe: kind = "probe"
        case .audio: kind = "audio"
        case .video(let video):
            kind = "video"
            (firstFrame, endFrame) = (video.frames.lowerBound, video.frames.upperBound)
            guard let index, index.video.frames.indices.contains(video.frames.upperBound - 1) else { break }
            let (track, start) = (index.video, index.startTime)
            func seconds(_ time: Timestamp) -> Double {
                (track.stream.timeBase.seconds(time) - start).approximate
            }
            from = seconds(track.frames[video.frames.lowerBound].interval.start)
            to = seconds(track.frames[video.frames.upperBound - 1].interval.end)
        }
    }

    /// The last ten, or the first ten of the report of a crash, which ends with registers and addresses.
    private static func lastLines(_ text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let crash = lines.firstIndex(where: { $0.hasPrefix("*** Program crashed") }) else {
            return lines.suffix(10).map(String.init)
        }
        return lines[crash...].prefix(10).map(String.init)
    }
}

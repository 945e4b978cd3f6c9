package import ReelCore
package import ReelQueue
internal import ReelWords

/// The failed attempts at one pass, as `--json` shows them. Documented in docs/json.md; names only ever get added.
package struct FailureView: Codable, Hashable, Sendable {
    /// The pass's place in the plan.
    package var index: Int
    /// "video", "audio", "probe" or "assembly"; missing if the board does not know the pass.
    package var kind: String?
    /// Its first frame of the source in presentation order, counted from 0; missing for anything but video.
    package var firstFrame: Int?
    /// The frame after its last; missing for anything but video.
    package var endFrame: Int?
    /// When its first frame is shown, in seconds from the source's start; missing without a store.
    package var from: Double?
    /// When its last frame ends, in seconds from the source's start; missing without a store.
    package var to: Double?
    /// How many attempts failed, by cause.
    package var attempts: [String: Int]
    /// Why the last attempt failed, in words.
    package var lastMessage: String
    /// The last attempts, the oldest first.
    package var recent: [AttemptView]

    /// A failed attempt.
    package struct AttemptView: Codable, Hashable, Sendable {
        /// What kind of failure it was, which decides about another attempt.
        package var cause: String
        /// The failure's code.
        package var code: String
        /// The owner of the failure.
        package var owner: ReelFailure.Owner
        /// What the code is about, by name.
        package var facts: JSONValue
        /// The failure in words.
        package var message: String
        /// The name of the worker's host.
        package var host: String
        /// The id of the worker that made the attempt.
        package var worker: String
        /// Seconds since 1970.
        package var time: Double
        /// The engine's last lines; missing if it said nothing, and without a store.
        package var log: [String]?
    }

    /// - Parameters:
    ///   - work: what failed; nil if it is not known.
    ///   - index: has the times of the pass's frames.
    ///   - logs: the end of what engines wrote on standard error, by the token of the attempt.
    package init(_ failure: PassFailure, work: Work? = nil, index: SourceIndex? = nil, logs: [String: String] = [:]) {
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
        switch work {
        case nil: break
        case .assembly: kind = "assembly"
        case .planning: kind = "probe"
        case .pass(.audio): kind = "audio"
        case .pass(.video(let video)):
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

    /// The last ten lines; of the report of a crash the first ten, since it ends with registers and addresses.
    private static func lastLines(_ text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let crash = lines.firstIndex(where: { $0.hasPrefix("*** Program crashed") }) else {
            return lines.suffix(10).map(String.init)
        }
        return lines[crash...].prefix(10).map(String.init)
    }
}

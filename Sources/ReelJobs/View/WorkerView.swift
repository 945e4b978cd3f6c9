internal import ReelCore
public import ReelQueue

/// A worker as `--json` shows it. Documented in docs/json.md; names only ever get added.
public struct WorkerView: Codable, Hashable, Sendable {
    public var id: String
    public var host: String
    public var slots: Int
    /// Of these, how many claim no more, since engines kept crashing there.
    public var slotsOut: Int
    /// Bytes that its passes may take together.
    public var memoryTotal: Int64
    /// Seconds since its last beat.
    public var beatAge: Double
    /// Its beats have stopped for longer than a lease.
    public var gone: Bool
    public var draining: Bool
    /// Why it does less than it could.
    public var notes: [String]
    /// The same as codes with their facts.
    public var diagnostics: [DiagnosticView]
    public var passes: [PassView]

    /// A pass that it works on.
    public struct PassView: Codable, Hashable, Sendable {
        public var job: String
        public var pass: Int
        public var framesDecoded: Int
        public var framesEncoded: Int
        /// Frames of video that the pass makes; missing for anything but video.
        public var frames: Int?
        /// "video", "audio", "probe" or "assembly"; missing until the board has it.
        public var kind: String?
        /// Since it was claimed.
        public var seconds: Double?
        /// Frames encoded since then; missing where some were whole before.
        public var framesPerSecond: Double?

        init(_ held: WorkerReport.Held, _ hold: WorkerStatus.Hold?) {
            (job, pass) = (held.job.text, held.index)
            (framesDecoded, framesEncoded) = (held.decoded, held.encoded)
            seconds = hold?.seconds
            switch hold?.pass {
            case nil: break
            case .assembly: kind = "assembly"
            case .probe: kind = "probe"
            case .audio: kind = "audio"
            case .video(let video):
                kind = "video"
                frames = video.frames.count
                if let seconds, seconds > 0, held.encoded > 0, held.wholeChunks == 0 {
                    framesPerSecond = Double(held.encoded) / seconds
                }
            }
        }
    }

    public init(_ status: WorkerStatus) {
        id = status.report.worker.text
        host = status.report.host
        slots = status.report.slots
        slotsOut = status.report.slotsOut
        memoryTotal = status.report.memoryTotal
        beatAge = status.beatAge
        gone = status.isGone
        draining = status.draining
        diagnostics = status.report.notes.map(DiagnosticView.init)
        notes = diagnostics.map(\.message)
        passes = status.report.held.sorted { ($0.job.text, $0.index) < ($1.job.text, $1.index) }
            .map { PassView($0, status.holds[$0.token]) }
    }
}

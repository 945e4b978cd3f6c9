internal import ReelCore
public import ReelQueue

/// A worker as `--json` shows it. Documented in docs/json.md; names only ever get added.
public struct WorkerView: Codable, Hashable, Sendable {
    public var id: String
    public var host: String
    public var slots: Int
    /// Bytes that its passes may take together.
    public var memoryTotal: Int64
    /// Seconds since its last beat.
    public var beatAge: Double
    public var draining: Bool
    public var passes: [PassView]

    /// A pass that it works on.
    public struct PassView: Codable, Hashable, Sendable {
        public var job: String
        public var pass: Int
        public var framesDecoded: Int
        public var framesEncoded: Int
    }

    public init(_ status: WorkerStatus) {
        id = status.report.worker.text
        host = status.report.host
        slots = status.report.slots
        memoryTotal = status.report.memoryTotal
        beatAge = status.beatAge
        draining = status.draining
        passes = status.report.held.map {
            PassView(job: $0.job.text, pass: $0.index, framesDecoded: $0.decoded, framesEncoded: $0.encoded)
        }
    }
}

/// The most that a job may ask of a machine. What has no limit is not listed.
public struct Quotas: Hashable, Codable, Sendable {
    /// What is limited.
    public enum Quota: String, Codable, CaseIterable, Sendable {
        /// Pixels of a picture, of a source or of the output.
        case pixels
        /// Seconds of the output, rounded up.
        case duration
        /// Frames of the output.
        case frames
        /// Tracks of video and sound of the output.
        case tracks
        /// Bytes of a file that an engine writes: a segment, or the output.
        case output
        /// Seconds that a pass takes.
        case passTime = "pass-time"
        /// Seconds of CPU time, of all threads, that a pass takes.
        case passCPU = "pass-cpu"
    }

    private var limits: [Quota: Int64] = [:]

    /// No limits.
    public init() {}

    /// The limit; nil for none.
    public subscript(quota: Quota) -> Int64? {
        get { limits[quota] }
        set { limits[quota] = newValue }
    }

    /// How much a plan asks of each quota that can be known before any work.
    public static func asked(by plan: Plan, of indexes: [SourceIndex] = []) -> [(quota: Quota, amount: Int64)] {
        let format = plan.video.format
        let pictures = [(format.width, format.height)] + indexes.map { ($0.video.stream.width, $0.video.stream.height) }
        let end = plan.clips.reduce(Rational(0)) { max($0, $1.map.offset + $1.map.duration) }
        return [
            (.pixels, pictures.map { Int64($0) * Int64($1) }.max() ?? 0),
            (.duration, TimeBase(1, 1).ticks(in: end, rounding: .up)),
            (.frames, Int64(plan.frameCount)),
            (.tracks, Int64(1 + plan.audio.count)),
        ]
    }

    /// Throws `.quotaExceeded` if a plan asks for more than is allowed.
    ///
    /// - Parameter indexes: those of the sources whose pictures count, too.
    public func check(_ plan: Plan, of indexes: [SourceIndex] = []) throws(ReelFailure) {
        for (quota, amount) in Quotas.asked(by: plan, of: indexes) {
            guard let most = self[quota], amount > most else { continue }
            throw ReelFailure(.quotaExceeded(quota: quota, asked: amount, most: most))
        }
    }

    /// The failure of a pass in the words of the quota that ended it; other failures as they are.
    public func explained(_ failure: ReelFailure) -> ReelFailure {
        switch failure.reason {
        case .fileFailed(_, _, errno: Quotas.fileTooLarge, _):
            self[.output].map { ReelFailure(.quotaExceeded(quota: .output, asked: nil, most: $0)) } ?? failure
        case .engineDied(_, .signalled(Quotas.timeIsUp), _):
            self[.passCPU].map { ReelFailure(.quotaExceeded(quota: .passCPU, asked: nil, most: $0)) } ?? failure
        default: failure
        }
    }

    /// EFBIG, and SIGXCPU.
    private static let (fileTooLarge, timeIsUp) = (Int32(27), Int32(24))
}

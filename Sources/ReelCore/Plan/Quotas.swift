/// The most that a job may ask of a machine. A quota that is not listed has no limit.
package struct Quotas: Hashable, Codable, Sendable {
    package enum Quota: String, Codable, CaseIterable, Sendable {
        /// Pixels of a picture, of a source or of the output.
        case pixels
        /// Seconds of the output, rounded up.
        case duration
        case frames
        case tracks
        /// Bytes of a file that an engine writes: a segment, or the output.
        case output
        case passTime = "pass-time"
        /// Seconds of CPU time, of all threads, that a pass takes.
        case passCPU = "pass-cpu"
        /// Seconds from a job's first pass on.
        case jobTime = "job-time"
        /// Seconds of CPU time that all finished passes of a job take together.
        case jobCPU = "job-cpu"
    }

    private var limits: [Quota: Int64] = [:]

    package init() {}

    package subscript(quota: Quota) -> Int64? {
        get { limits[quota] }
        set { limits[quota] = newValue }
    }

    /// The amount that a plan takes of each quota, as far as it is known before any work.
    package static func asked(by plan: Plan, of indexes: [SourceIndex] = []) -> [(quota: Quota, amount: Int64)] {
        let format = plan.video.format
        let pictures = [(format.width, format.height)] + indexes.map { ($0.video.stream.width, $0.video.stream.height) }
        return [
            (.pixels, pictures.map { Int64($0) * Int64($1) }.max() ?? 0),
            (.duration, TimeBase(1, 1).ticks(in: plan.duration, rounding: .up)), (.frames, Int64(plan.frameCount)),
            (.tracks, Int64(1 + plan.audio.count)),
        ]
    }

    /// Throws `.quotaExceeded` if a plan asks for more than is allowed; `indexes` are those of the sources whose
    /// pictures count, too.
    package func check(_ plan: Plan, of indexes: [SourceIndex] = []) throws(ReelFailure) {
        for (quota, amount) in Quotas.asked(by: plan, of: indexes) {
            guard let most = self[quota], amount > most else { continue }
            throw ReelFailure(.quotaExceeded(quota: quota, asked: amount, most: most))
        }
    }

    /// Whether nothing is limited.
    package var isEmpty: Bool { limits.isEmpty }

    package var countsJobs: Bool { self[.jobTime] != nil || self[.jobCPU] != nil }

    /// What is left for a pass, `elapsed` seconds after its job's first pass was given out; the job's finished passes
    /// took `cpu` seconds of CPU time. Throws `.quotaExceeded` if the job has nothing left.
    package func allowance(elapsed: Double = 0, cpu: Double = 0) throws(ReelFailure) -> PassAllowance {
        PassAllowance(
            time: try limit(.passTime, .jobTime, taken: elapsed), cpu: try limit(.passCPU, .jobCPU, taken: cpu),
            output: self[.output])
    }

    /// The smaller one of the pass's own limit and the rest of its job's limit.
    private func limit(_ pass: Quota, _ job: Quota, taken: Double) throws(ReelFailure) -> PassAllowance.Limit? {
        let own = self[pass].map { PassAllowance.Limit(seconds: $0, quota: pass, most: $0) }
        guard let most = self[job] else { return own }
        let rest = PassAllowance.Limit(seconds: most - Int64(min(taken, 0x1p60)), quota: job, most: most)
        guard rest.seconds > 0 else { throw rest.exceeded }
        return own.map { $0.seconds <= rest.seconds ? $0 : rest } ?? rest
    }
}

/// The most that a pass may take: time from its start to its end, CPU time of its engine, and bytes of each file that it
/// writes; nil for no limit.
package struct PassAllowance: Hashable, Sendable {
    /// Time, and the quota that allows no more.
    package struct Limit: Hashable, Sendable {
        package var seconds: Int64
        let quota: Quotas.Quota
        let most: Int64

        package var exceeded: ReelFailure { ReelFailure(.quotaExceeded(quota: quota, asked: nil, most: most)) }
    }

    package var time: Limit?
    package var cpu: Limit?
    package var output: Int64?

    /// The failure of a pass in the words of the quota that ended it; other failures as they are.
    package func explained(_ failure: ReelFailure) -> ReelFailure {
        switch failure.reason {
        case .fileFailed(_, _, errno: PassAllowance.fileTooLarge, _):
            output.map { ReelFailure(.quotaExceeded(quota: .output, asked: nil, most: $0)) } ?? failure
        case .engineDied(_, .signalled(PassAllowance.timeIsUp), _): cpu?.exceeded ?? failure
        default: failure
        }
    }

    /// EFBIG, and SIGXCPU.
    private static let (fileTooLarge, timeIsUp) = (Int32(27), Int32(24))
}

internal import ReelCore
internal import ReelQueue

/// Jobs, passes and results of the size that real ones have.
enum SampleJob {
    static let encoders = ["libx264 164 a1b2c3d4e5f60718", "aac 59.37.100"]

    static func published(_ name: String, passes: Int) -> BoardJob {
        BoardJob(
            id: JobID(name), source: "/srv/films/\(name).mkv", frames: 240 * passes, passCount: passes,
            audioPasses: min(1, passes), need: 1 << 30, encoders: encoders, protocolVersion: 1, plan: 1,
            planHash: String(repeating: "5a", count: 32))
    }

    static func offer(_ worker: WorkerID) -> WorkerOffer {
        WorkerOffer(worker: worker, memoryFree: 2 << 30, encoders: encoders, protocolVersion: 1)
    }

    /// The report of a worker with one slot.
    static func report(_ worker: WorkerID, holding claim: Claim?, encoded: Int) -> WorkerReport {
        let held = claim.map {
            WorkerReport.Held(
                job: $0.job, index: $0.index, token: $0.token, plan: $0.plan, decoded: encoded + 12, encoded: encoded,
                wholeChunks: 0)
        }
        return WorkerReport(
            worker: worker, host: worker.text, slots: 1, memoryTotal: 2 << 30, encoders: encoders, protocolVersion: 1,
            held: [held].compactMap(\.self))
    }

    static func result(of claim: Claim) -> PassResult {
        let hash = claim.token + claim.token
        let record = SegmentRecord(
            content: SegmentContent(
                part: .video(frames: claim.index * 240..<claim.index * 240 + 240), times: hash, target: hash),
            clip: 0, token: claim.token, frames: 240, packets: 240, bytes: 2_345_678, checksum: hash,
            timeBase: TimeBase(1, 12_800), reorderDepth: 2,
            extradataHash: hash)
        return PassResult(
            segments: [record],
            statistics: PassStatistics(
                framesDecoded: 252, framesEncoded: 240, decodeSeconds: 1.234567, encodeSeconds: 8.765432,
                waitSeconds: 0.012345, peakRSS: 812_345_678),
            diagnostics: [])
    }
}

extension RedisBoard {
    /// Begins a job and publishes it at once.
    func put(_ job: BoardJob) throws(ReelFailure) {
        guard case .begun(let claim) = try begin(job, holder: WorkerID("coordinator"), submission: nil) else { return }
        _ = try publish(job, finished: [:], claim: claim, paused: false)
    }
}

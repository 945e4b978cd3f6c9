internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelStore

/// What a sleeping engine does for each request of a job, as files in a folder that `Benchmarks/sleeping-engine` reads:
/// `pass-N` for each pass, and `assembly`. A line is a step and what it needs:
///
///     progress MILLISECONDS JSON   after this time since the request, says that
///     segment BYTES NAME           writes as many zeros
///     record NAME JSON             writes that into a file
///     join MICROSECONDS SUBJECT    of the assembly: joining this segment takes so long
///     rest MILLISECONDS BYTES      of the assembly: after the last segment; then the output is written
///     answer MILLISECONDS JSON     after this time since the request, says that
///
/// `token` stands for the attempt's own token in all of them.
struct SleepingScript {
    let plan: CostedPlan
    let indexes: [SourceIndex]
    let costs: CurveCosts

    static let token = String(repeating: "0f", count: 16)
    /// The output stands for one of gigabytes: delivery is not what the benchmark is about.
    private static let outputBytes = 1 << 20
    /// Seconds between two reports of an engine.
    private static let reportInterval = 2.0

    func write(to folder: String) throws {
        let planned = PlannedSegments(plan: plan.plan, indexes: indexes)
        var checksums: [Int: String] = [:]
        for (number, pass) in plan.plan.passes.enumerated() {
            let records = records(of: pass, number, planned, &checksums)
            try write(lines(of: pass, number, records), to: "\(folder)/pass-\(number)")
        }
        try write(assembly(), to: "\(folder)/assembly")
    }

    /// An engine that waits for the file must not see half of it.
    private func write(_ lines: [String], to path: String) throws {
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func records(
        of pass: Pass, _ number: Int, _ planned: PlannedSegments, _ checksums: inout [Int: String]
    ) -> [SegmentRecord] {
        let subjects = plan.plan.subjects(of: pass)
        return zip(subjects, planned.contents(of: pass)).map { subject, content in
            let frames: Int
            let clock: TimeBase
            let bytes: Int
            if case .video(let chunk) = content.part {
                frames = plan.plan.clips[subject.clip].places(showing: chunk).count
                clock = plan.plan.video.format.timeBase
                bytes = Int(Double(frames) * costs.frameBytes)
            } else {
                // All tracks of the films here have the same rate.
                clock = TimeBase(1, Int64(plan.plan.audio.first?.sampleRate ?? 48_000))
                frames = 1
                bytes = Int(plan.bytes[number]) / max(subjects.count, 1)
            }
            let checksum = checksums[bytes] ?? SleepingScript.checksum(ofZeros: bytes)
            checksums[bytes] = checksum
            return SegmentRecord(
                content: content, clip: subject.clip, token: SleepingScript.token, frames: frames, packets: frames,
                bytes: Int64(bytes), checksum: checksum, timeBase: clock, reorderDepth: 0, extradataHash: "")
        }
    }

    private static func checksum(ofZeros bytes: Int) -> String {
        Fingerprint.sha256Hex([UInt8](repeating: 0, count: bytes))
    }

    private func lines(of pass: Pass, _ number: Int, _ records: [SegmentRecord]) throws -> [String] {
        let seconds = plan.seconds[number]
        let reports = Int(seconds / SleepingScript.reportInterval)
        var lines = try (0..<reports).map { report in
            let after = Double(report + 1) * SleepingScript.reportInterval
            return try line("progress", after, EngineEvent.progress(progress(of: pass, share: after / seconds)))
        }
        for record in records {
            lines.append("segment \(record.bytes) \(record.name.text)")
            lines.append("record \(record.name.recordName) \(try CanonicalJSON.text(of: record))")
        }
        let frames = plan.plan.frames(of: pass)
        let statistics = PassStatistics(framesDecoded: frames, framesEncoded: frames, peakRSS: 1 << 20)
        let result = PassResult(segments: records, statistics: statistics, diagnostics: [])
        lines.append(try line("answer", seconds, EngineEvent.result(.pass(result))))
        return lines
    }

    /// Frames are decoded somewhat before they are encoded.
    private func progress(of pass: Pass, share: Double) -> EngineProgress {
        guard case .video(let video) = pass else { return .sound }
        let frames = Double(plan.plan.frames(of: pass))
        let encoded = Int(frames * min(share, 1))
        return .video(decoded: min(encoded + 48, Int(frames)), encoded: encoded, frames: video.frames)
    }

    private func assembly() throws -> [String] {
        let bytes = plan.bytes.reduce(0, +)
        var lines = zip(plan.plan.passes, plan.bytes).flatMap { pass, bytes in
            let subjects = plan.plan.subjects(of: pass)
            let each = Int(1e6 * costs.join * bytes / Double(max(subjects.count, 1)))
            return subjects.map { "join \(each) \($0)" }
        }
        lines.append(
            "rest \(Int(1000 * (costs.afterLast + costs.verify * bytes))) \(SleepingScript.outputBytes)")
        let result = AssemblyResult(
            bytes: Int64(SleepingScript.outputBytes),
            checksum: SleepingScript.checksum(ofZeros: SleepingScript.outputBytes), packets: plan.plan.frameCount,
            peakRSS: 1 << 20, diagnostics: [])
        lines.append(try line("answer", 0, EngineEvent.result(.assembly(result))))
        return lines
    }

    private func line(_ step: String, _ seconds: Double, _ event: EngineEvent) throws -> String {
        "\(step) \(Int(1000 * seconds)) \(try CanonicalJSON.text(of: event))"
    }
}

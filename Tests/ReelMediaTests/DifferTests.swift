import Foundation
import ReelCore
import ReelMedia
import ReelTestSupport
import ReelWords
import Testing

/// Sources by every encoder and muxer, reversed without loss and compared with a decoder that reads them from their
/// start to their end. `REEL_DIFFER=SEED..SEED` gives the seeds; `scripts/differ` sets it. `REEL_DIFFER_KEEP` is a
/// folder for sources that differ.
@Suite("Whatever FFmpeg makes")
struct DifferTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let chosen = environment["REEL_DIFFER"]
    private static let seeds: [UInt64] = {
        let bounds = (chosen ?? "1..\(Thoroughness.seeds)").split(separator: ".").compactMap { UInt64($0) }
        return bounds.count == 2 && bounds[0] <= bounds[1] ? Array(bounds[0]...bounds[1]) : []
    }()

    @Test("is reversed as a decoder shows it", arguments: seeds)
    func exact(seed: UInt64) throws {
        let folder = ScratchFolder()
        var made = DifferSource(seed: seed, in: folder.path)
        let source = try made.make()
        tell(
            "made \(seed) \(made.kind.encoder) \(made.container) \(made.sound ?? "-") \(source == nil ? "not" : "well")"
        )
        guard let source, let judge = try DifferJudge(source, made) else { return }
        do {
            let job = try reversed(source, made, folder)
            let complaints = try judge.complaints(about: job)
            if !complaints.isEmpty { try record(complaints + job.warnings.map { "it says: \($0)" }, made, source) }
        } catch let failure as ReelFailure { try record(["refused: \(failure.words)"], made, source) }
    }

    private func reversed(_ source: String, _ made: DifferSource, _ folder: ScratchFolder) throws -> MediaJob {
        var spec = JobSpec(
            container: .mkv, lossless: true, audio: made.sound == nil ? .none : .reverse, passFrames: 12)
        do {
            return try MediaJob(source, spec: spec, folder: folder.path)
        } catch let failure as ReelFailure {
            // Matroska counts in milliseconds: the failure tells a user to choose another container.
            guard case .framesTooClose = failure.reason else { throw failure }
            spec.container = .nut
            return try MediaJob(source, spec: spec, folder: folder.path)
        }
    }

    private func record(_ complaints: [String], _ made: DifferSource, _ source: String) throws {
        let lines = ["seed \(made.seed): \(complaints.joined(separator: "\n  "))", "  \(made.description)"]
        Issue.record("\(lines.joined(separator: "\n"))")
        guard let folder = Self.environment["REEL_DIFFER_KEEP"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let kept = "\(folder)/\(made.seed).\(made.container)"
        try? FileManager.default.removeItem(atPath: kept)
        try FileManager.default.copyItem(atPath: source, toPath: kept)
    }

    private func tell(_ line: String) { if Self.chosen != nil { print(line) } }
}

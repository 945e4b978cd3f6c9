import Foundation
import ReelTestSupport
import Subprocess
import Testing

extension EndToEnd {
    /// Damaged files. Each ends in a verified output or in a reason, on one line and with the right code; nothing
    /// but the engine crashes, which is reported; nothing hangs, and nothing stays behind.
    @Suite struct MutationTests {
        private let fixture: ProcessFixture
        private let settings = Settings()

        init() throws { fixture = try ProcessFixture() }

        /// `scripts/mutate` sets them; without it a few mutants of files made by ffmpeg are tried.
        private struct Settings {
            private let environment = ProcessInfo.processInfo.environment

            var isLarge: Bool { environment["REEL_MUTATIONS"] != nil }
            var count: Int { environment["REEL_MUTATIONS"].flatMap { Int($0) } ?? Int(Thoroughness.seeds) }
            var seed: UInt64 { environment["REEL_MUTATION_SEED"].flatMap { UInt64($0) } ?? 1 }
            /// Folder for mutants that broke a rule.
            var keep: String? { environment["REEL_MUTATION_KEEP"] }
            var corpus: String? { isLarge ? environment["REEL_CORPUS"] : nil }
        }

        /// Small ones of the corpus, each of another container and codec.
        private static let corpus = [
            "h264_two_edits_end_on_b.mp4", "mkv_h264_444_chapters_negative_start.mkv", "vp9_alpha_vorbis_200x200.webm",
            "ts_mpeg2_422_1080i_5f_dts51_pts4200.ts", "sony_a7m3_avchd_paff_opengop.mts", "truncated_divx4_mp3.avi",
            "flv_h264_bframes_videoonly_start84ms.flv", "theora_vorbis.ogv", "wmv9_irregular_wmav2.wmv",
            "prores_hq_interlaced_2f.mov", "imx_mpeg2_intra_720x608_8ch.mxf", "phone_mpeg4_sp_amr.3gp",
        ]

        @Test func damagedFiles() async throws {
            let made = try await Clips.shared.kinds()
            let sources = settings.corpus.map { folder in Self.corpus.map { "\(folder)/\($0)" } } ?? made
            let files = try sources.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) }
            var table = OutcomeTable()
            for number in 0..<settings.count {
                let place = number % sources.count
                var mutator = Mutator(seed: settings.seed &* 1_000_003 &+ UInt64(number))
                let donor = files[(place + 1 + number / sources.count) % files.count]
                let name = "mutant.\(URL(fileURLWithPath: sources[place]).pathExtension)"
                let mutant = mutator.damage(files[place], with: donor)
                // Every fourth round runs without options.
                let isPlain = number / sources.count % 4 == 3
                let result = try await reverse(mutant, as: name, isPlain ? [] : ["-o", "out.mkv", "--lossless"])
                table.add(result.outcome, of: sources[place])
                guard !result.faults.isEmpty else { continue }
                let story = "mutant \(number) of seed \(settings.seed), \(sources[place]): \(mutator.report)"
                Issue.record("\(story): \(result.faults.joined(separator: "; "))\n\(result.said)")
                try keep(mutant, as: "\(settings.seed).\(number).\(name)")
            }
            if settings.isLarge { print(table.text) }
        }

        private func keep(_ mutant: [UInt8], as name: String) throws {
            guard let folder = settings.keep else { return }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(mutant).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }

        private struct Result {
            var outcome: OutcomeTable.Outcome
            /// Broken rules, a sentence each.
            var faults: [String]
            /// Standard error.
            var said: String
        }

        /// Runs a mutant and checks every rule.
        private func reverse(_ mutant: [UInt8], as name: String, _ options: [String]) async throws -> Result {
            try Data(mutant).write(to: URL(fileURLWithPath: fixture.path(name)))
            let outcome = try await fixture.run(.coordinator, ["run", name, "--json"] + options) { running in
                if try await !running.ends() { try running.send(.kill) }
            }
            var faults: [String] = []
            var outputs: [String] = []
            let end: OutcomeTable.Outcome
            switch outcome.code {
            case 0:
                let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
                let output = try #require(view.output)
                outputs = [URL(fileURLWithPath: output).lastPathComponent]
                faults += try await judge(output, of: name, frames: view.frames)
                end = .verified
            case 1, 3:
                faults += judge(reason: outcome)
                end = outcome.code == 3 ? .refused : Self.tellsOfCrash(outcome) ? .crashed : .failed
            default:
                faults.append(outcome.code == 128 + 9 ? "did not end within two minutes" : "exit \(outcome.code)")
                end = .wrong
            }
            if try await !fixture.isQuiet() { faults.append("left running: \(fixture.processes)") }
            let left = fixture.names.filter { $0 != name && !outputs.contains($0) } + Self.sharedMemory
            if !left.isEmpty { faults.append("left behind: \(left)") }
            for leftover in fixture.names where leftover != "tmp" {
                try FileManager.default.removeItem(atPath: fixture.path(leftover))
            }
            return Result(outcome: faults.isEmpty ? end : .wrong, faults: faults, said: outcome.error)
        }

        private static var sharedMemory: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []).filter { $0.contains("reel") }
                .map { "/dev/shm/\($0)" }
        }

        /// An output decodes without a word from ffmpeg, to as many frames as were planned. Packets that were copied are
        /// the mutant's, with their damage: what decoders show instead of it depends on the picture before.
        private func judge(_ output: String, of mutant: String, frames: Int) async throws -> [String] {
            let decoded = try await decode(output)
            var faults: [String] = []
            if decoded.said.code != 0 || !decoded.said.error.isEmpty {
                faults.append("ffmpeg of the output: \(decoded.said.error)")
            }
            if decoded.pictures.count != frames {
                faults.append("the output has \(decoded.pictures.count) frames of \(frames)")
            }
            guard !faults.isEmpty else { return [] }
            let (copied, damaged) = (try await packets(output), try await packets(mutant))
            return copied.count == frames && copied.sorted() == damaged.sorted() ? [] : faults
        }

        /// The hash of each packet of a file's video.
        private func packets(_ file: String) async throws -> [String] {
            try await hashes(of: file, ["-map", "0:v:0", "-c", "copy"]).pictures
        }

        /// What ffmpeg says of a file, and the hash of each picture.
        private func decode(_ file: String) async throws -> (said: Outcome, pictures: [String]) {
            try await hashes(of: file, ["-map", "0:v:0", "-map", "0:a?", "-fps_mode", "passthrough"])
        }

        private func hashes(of file: String, _ options: [String]) async throws -> (said: Outcome, pictures: [String]) {
            let said = try await fixture.run(
                .ffmpeg, ["-v", "error", "-i", file] + options + ["-f", "framehash", "-hash", "crc32", "-"])
            let pictures = said.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("0,") }
            return (said, pictures.compactMap { $0.split(separator: ",").last.map(String.init) })
        }

        /// The last line says what is wrong; a crash is the engine's, and no trap of Swift's.
        private func judge(reason outcome: Outcome) -> [String] {
            var faults: [String] = []
            let last = outcome.errorLines.last ?? ""
            if !last.hasPrefix("reel-coordinator: ") || last.count < 30 { faults.append("gives no reason") }
            if !outcome.errorLines.allSatisfy({ $0.hasPrefix("reel-coordinator: ") }) {
                faults.append("lines of another program on standard error")
            }
            let traps = ["SIGILL", "SIGTRAP", "Fatal error", "ReelFailure(", "hung"]
            faults += traps.filter { outcome.error.contains($0) }.map { "tells of \($0)" }
            let object = try? JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            if object?["error"] == nil { faults.append("standard output: \(outcome.output)") }
            return faults
        }

        private static func tellsOfCrash(_ outcome: Outcome) -> Bool { outcome.error.contains("engine died of signal") }
    }
}

/// How the mutants of each file ended.
private struct OutcomeTable {
    enum Outcome: String, CaseIterable { case verified, refused, failed, crashed, wrong }

    private var counts: [String: [Outcome: Int]] = [:]

    mutating func add(_ outcome: Outcome, of source: String) {
        counts[URL(fileURLWithPath: source).lastPathComponent, default: [:]][outcome, default: 0] += 1
    }

    var text: String {
        let titles = ["file", "verified", "exit 3", "exit 1", "engine crash told", "wrong"]
        let rows = counts.sorted { $0.key < $1.key }.map { name, outcomes in
            [name] + Outcome.allCases.map { "\(outcomes[$0] ?? 0)" }
        }
        let total = Outcome.allCases.map { outcome in counts.values.reduce(0) { $0 + ($1[outcome] ?? 0) } }
        return ([titles] + rows + [["all"] + total.map(String.init)]).map { row in
            row.enumerated().map { column, text in
                text.padding(toLength: column == 0 ? 48 : 18, withPad: " ", startingAt: 0)
            }.joined()
        }.joined(separator: "\n")
    }
}

import Foundation
import ReelCore
import ReelTerminal
import Testing

@Suite struct HelpTextTests {
    @Test func encodersAndContainers() {
        let lines = HelpText.encoders.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { $0.hasPrefix("  lib") } == [
                "  libx264     h264, x264", "  libx265     hevc, h265, x265", "  libsvtav1   av1", "  libvpx-vp9  vp9",
                "  libvpx      vp8", "  libopus     opus", "  libvorbis   vorbis", "  libmp3lame  mp3",
            ])
        // Each is an extension that an output may have.
        let containers = HelpText.containers.split(separator: "\n").dropFirst().joined().split { ", ".contains($0) }
        #expect(containers.compactMap { Container(exactExtension: String($0)) } == Container.allCases)
    }

    @Test func exitCodesAreThoseOfFailures() {
        let reasons: [FailureReason] = [
            .engineEnded, .workerUnknown(name: "w"), .noStart, .redisNotInstalled, .outputExists(path: "o.mp4"),
            .interrupted,
        ]
        let codes = HelpText.exitCodes.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
        #expect(codes.map(String.init) == ["0"] + reasons.map { "\(ReelFailure($0).exitCode)" })
    }

    @Test("help names each environment variable that the programs read")
    func variables() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
        var read: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
            ?? .init()
        {
            guard file.pathExtension == "swift", file.lastPathComponent != "HelpText.swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            read.formUnion(text.matches(of: /environment\["([A-Z_]+)"/).map { String($0.1) })
        }
        // What shells, terminals and service managers set is not for users to choose; the lease is for tests.
        read.subtract(["PATH", "TERM", "NOTIFY_SOCKET", "JOURNAL_STREAM", "REEL_TEST_LEASE"])
        #expect(read == Set(HelpText.Variable.allCases.map(\.rawValue)))
    }

    @Test func linesAreShort() {
        let text = HelpText.text(
            HelpText.encoders, HelpText.containers, HelpText.exitCodes, HelpText.environment(HelpText.Variable.allCases)
        )
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}

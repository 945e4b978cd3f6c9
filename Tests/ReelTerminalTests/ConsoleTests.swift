import Foundation
import Logging
import ReelCore
import ReelTerminal
import Synchronization
import Testing

@Suite struct ExitCodeTests {
    @Test func usageIsTwo() {
        #expect(ExitCodes.mapped(argumentParser: 64) == 2)
        #expect(ExitCodes.mapped(argumentParser: 0) == 0)
        #expect(ExitCodes.mapped(argumentParser: 1) == 1)
    }

    @Test(
        arguments: zip(
            [
                FailureReason.engineEnded, .workerUnknown(name: "w"), .noStart, .redisNotInstalled,
                .outputExists(path: "o.mp4"),
                .interrupted,
            ],
            [1, 2, 3, 4, 5, 130] as [Int32]))
    func kinds(reason: FailureReason, code: Int32) {
        #expect(ReelFailure(reason).exitCode == code)
    }

    @Test func oneLine() {
        #expect(ExitCodes.line(of: "Error: Missing argument\nUsage: reel\n  See help") == "Missing argument")
        #expect(ExitCodes.line(of: "Error: Choose one of:\n  - a\n  - b\nUsage: reel") == "Choose one of: a, b")
        #expect(ExitCodes.line(of: "plain") == "plain")
        #expect(ExitCodes.line(of: "") == "")
    }
}

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
            read.formUnion(text.matches(of: /environment\["([A-Z0-9_]+)"/).map { String($0.1) })
        }
        // What shells, terminals, desktops and service managers set is not for users to choose; the lease is for tests.
        read.subtract([
            "PATH", "HOME", "TERM", "NOTIFY_SOCKET", "JOURNAL_STREAM", "STATE_DIRECTORY", "REEL_TEST_LEASE", "DISPLAY",
            "WAYLAND_DISPLAY", "XDG_DATA_HOME",
        ])
        // Of the variables of all programs for S3, help has the most usual ones.
        let named = Set(HelpText.Variable.allCases.map(\.rawValue))
        #expect(named.isSubset(of: read))
        #expect(read.subtracting(named).allSatisfy { $0.hasPrefix("AWS_") })
    }

    @Test func linesAreShort() {
        let text = HelpText.text(
            HelpText.encoders, HelpText.containers, HelpText.exitCodes, HelpText.environment(HelpText.Variable.allCases)
        )
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}

/// Lines of the log.
struct LogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock(\.self) }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func lines(_ form: LineLogHandler.Form, hasPriorities: Bool) -> [String] {
        let lines = Lines()
        var handler = LineLogHandler(form, label: "reel-worker", hasPriorities: hasPriorities) { lines.add($0) }
        handler.logLevel = .trace
        let log = Logger(label: "reel-worker") { [handler] _ in handler }
        for level in Logger.Level.allCases { log.log(level: level, "a\nb") }
        return lines.all
    }

    @Test func aServiceManagerGetsThePriorityOfEachLine() {
        let text = lines(.text, hasPriorities: true)
        #expect(text.map { String($0.prefix(3)) } == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
        #expect(text.allSatisfy { $0.hasSuffix(" reel-worker: a\\nb\n") })
        let json = lines(.json, hasPriorities: true)
        #expect(json.map { String($0.prefix(4)) } == ["<7>{", "<7>{", "<6>{", "<5>{", "<4>{", "<3>{", "<2>{"])
    }

    @Test func peopleGetNone() {
        #expect(lines(.text, hasPriorities: false).allSatisfy { $0.first?.isNumber == true })
        #expect(lines(.json, hasPriorities: false).allSatisfy { $0.hasPrefix("{") })
    }
}

/// The configuration file: a JSON object of settings, which go after options and environment.
@Suite(.serialized) struct SettingsTests {
    private func load(_ text: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("reel-\(UUID()).json")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Settings.load(["REEL_CONFIG": file.path])
    }

    private func refusal(_ text: String) async -> String {
        do {
            try await load(text)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func values() async throws {
        try await load(#"{"store": "/srv/reel", "slots": 3, "memoryTotal": "2GiB", "sourceRoots": ["/a", "/b"]}"#)
        #expect(Settings.text(.store) == "/srv/reel")
        #expect(try Settings.value(.slots) == 3)
        #expect(Settings.list(.sourceRoots) == ["/a", "/b"])
        #expect(Settings.text(.redis) == nil)
        #expect(throws: (any Error).self) { try Settings.value(.store) as Int? }
    }

    @Test func refusals() async {
        #expect(
            await refusal(#"{"stor": "/srv"}"#).contains("there is no setting \"stor\"; there are redis, redisFile"))
        #expect(await refusal("[]").hasSuffix("it is no JSON object of settings"))
        #expect(await refusal("{").hasSuffix("it is no JSON object of settings"))
        await #expect(throws: (any Error).self) { try await Settings.load(["REEL_CONFIG": "/nowhere/reel.json"]) }
    }

    @Test(
        "a value of another type is refused, and is not taken for none",
        arguments: [
            #"{"sourceRoots": "/a"}"#, #"{"sourceRoots": [7]}"#, #"{"sourceRoots": []}"#, #"{"maxFrames": 10.5}"#,
            #"{"maxFrames": true}"#, #"{"slots": null}"#, #"{"store": {}}"#, #"{"store": ["/a"]}"#,
            #"{"store": 5}"#, #"{"redis": 6379}"#,
        ])
    func types(_ text: String) async {
        let name = text.split(separator: "\"")[1]
        let forms = ["sourceRoots": "a list of one or more texts", "store": "a text", "redis": "a text"]
        let form = forms[String(name)] ?? "a text or a whole number"
        #expect(await refusal(text).hasSuffix(".json: \(name) must be \(form)"))
    }

    @Test func noFileIsNoError() async throws {
        try await Settings.load(["REEL_CONFIG": ""])
    }
}

import Foundation
import ReelTerminal
import Testing

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
        #expect(try Settings.value(.slots, as: Int.self) == 3)
        #expect(Settings.list(.sourceRoots) == ["/a", "/b"])
        #expect(Settings.text(.redis) == nil)
        #expect(throws: (any Error).self) { try Settings.value(.store, as: Int.self) }
    }

    @Test func refusals() async {
        #expect(
            await refusal(#"{"stor": "/srv"}"#).contains("there is no setting \"stor\"; there are redis, redisFile"))
        #expect(await refusal("[]").contains("cannot be read as a JSON object of settings"))
        #expect(await refusal("{").contains("cannot be read as a JSON object of settings"))
        await #expect(throws: (any Error).self) { try await Settings.load(["REEL_CONFIG": "/nowhere/reel.json"]) }
    }

    @Test func noFileIsNoError() async throws {
        try await Settings.load(["REEL_CONFIG": ""])
    }
}

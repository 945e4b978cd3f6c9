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

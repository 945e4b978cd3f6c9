import Foundation
import ReelCore
import Testing

extension EndToEnd {
    /// All programs are of one release, the newest that CHANGELOG.md dates.
    @Suite struct VersionTests {
        @Test(arguments: ["reel-coordinator", "reel-worker", "reel-engine"])
        func everyProgramPrintsIt(program: String) async throws {
            let fixture = try ProcessFixture()
            let outcome = try await fixture.run(.at("\(Program.folder)/\(program)"), ["--version"])
            #expect(outcome.code == 0)
            #expect(outcome.output == Release.version + "\n")
            #expect(outcome.error.isEmpty)
        }

        @Test func theChangelogHasTheRelease() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let text = try String(contentsOf: root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
            let newest = try #require(text.firstMatch(of: /## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}/))
            #expect(newest.1 == Release.version)
        }
    }
}

import Foundation
import ReelCore
import ReelTestSupport
import ReelWords
import Testing

/// `docs/diagnostics.md` is made from the codes. REEL_WRITE_DOCS=1 rewrites it.
@Suite("The page of diagnostics")
struct DiagnosticsPageTests {
    @Test("docs/diagnostics.md is up to date")
    func page() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/diagnostics.md").standardizedFileURL
        try Golden.expect(Self.text, is: url, rewriteIf: "REEL_WRITE_DOCS")
    }

    private static var text: String {
        """
        # Diagnostics and failures

        reel tells what it finds in a source, what will differ in the output and why something fails by stable codes with
        facts. They are stored and sent as JSON: an object with the code for its only key and the facts under it. A code
        never changes its meaning. The sentences that people read are made where they are shown, and may change.

        This page is made from the codes: `REEL_WRITE_DOCS=1 swift test --filter DiagnosticsPageTests` rewrites it.

        ## Diagnostics

        They do not stop a job. Times in their facts are in seconds, as fractions; tracks are counted from 0.

        | code | what it means | what to do |
        | --- | --- | --- |
        \(diagnostics)

        ## Failures

        *Owner* is what has to be put right: the `source`, the `request`, the `job` (its files and its state), this
        `host`, this `worker` (a process), or nothing, since the failure is `passing`. *Exit* is the code with which a
        command ends. *Follows* is what the board does when an attempt at a pass fails so; [board.md](board.md) has the
        details. If a failure carries another one as its last, all three are that one's. If facts decide, all values are
        listed.

        | code | what it means | what to do | owner | exit | follows |
        | --- | --- | --- | --- | --- | --- |
        \(failures)

        | follows | what |
        | --- | --- |
        \(FailureCause.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }.joined(separator: "\n"))

        """
    }

    private static var diagnostics: String {
        Diagnostic.CodingKeys.allCases.map { code in
            let text = Diagnostic.samples.first { $0.code == code.stringValue }?.text
            return "| `\(code.stringValue)` | \(text?.meaning ?? "") | \(text?.remedy ?? "") |"
        }.joined(separator: "\n")
    }

    private static var failures: String {
        FailureReason.CodingKeys.allCases.map { code in
            let examples = FailureReason.samples.filter { $0.code == code.stringValue }
            let text = examples.first?.text
            let natures = examples.map(\.nature)
            let columns =
                Set(natures).count > 1 && examples.contains(where: \.hasLast)
                ? Array(repeating: "as its last", count: 3)
                : [
                    choice(natures.map { "`\($0.owner.rawValue)`" }), choice(natures.map { "\($0.kind.rawValue)" }),
                    choice(natures.map { "`\($0.cause.rawValue)`" }),
                ]
            let cells = ["`\(code.stringValue)`", text?.meaning ?? "", text?.remedy ?? ""] + columns
            return "| \(cells.joined(separator: " | ")) |"
        }.joined(separator: "\n")
    }

    /// Each value once.
    private static func choice(_ values: [String]) -> String { Set(values).sorted().joined(separator: " or ") }
}

extension FailureReason {
    /// Whether it carries another failure as its last.
    fileprivate var hasLast: Bool {
        guard let bytes = try? JSONEncoder().encode(self) else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("\"last\":")
    }
}

import Foundation
import ReelCore
import ReelTestSupport
import ReelWords
import Testing

@Suite("Codes")
struct CodeTests {
    @Test("Every code has an example")
    func complete() {
        let failures = Set(FailureReason.samples.map(\.code))
        #expect(failures == Set(FailureReason.CodingKeys.allCases.map(\.stringValue)))
        let diagnostics = Set(Diagnostic.samples.map(\.code))
        #expect(diagnostics == Set(Diagnostic.CodingKeys.allCases.map(\.stringValue)))
        #expect(Set(FailureReason.samples).count == FailureReason.samples.count)
        #expect(Set(Diagnostic.samples).count == Diagnostic.samples.count)
    }

    @Test("Every case has its name among the codes, without which it could not be stored")
    func named() throws {
        #expect(try Self.cases(of: "FailureReason") == Set(FailureReason.CodingKeys.allCases.map(\.rawValue)))
        #expect(try Self.cases(of: "Diagnostic") == Set(Diagnostic.CodingKeys.allCases.map(\.rawValue)))
    }

    /// As the source has them: the compiler does not ask for the name, and a case without an example would be overlooked.
    private static func cases(of type: String) throws -> Set<String> {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/ReelCore/Job/\(type).swift").standardizedFileURL
        let text = try String(contentsOf: file, encoding: .utf8)
        return Set(text.matches(of: /\n {4}case (\w+)/).map { String($0.output.1) })
    }

    @Test("Stored JSON has the code as its only key, and the facts under it by name")
    func facts() throws {
        let failure = FailureReason.engineDied(
            place: .pass(number: 7, frames: 240..<480), end: .signalled(signal: 11), lastWords: nil)
        #expect(failure.code == "engine-died")
        #expect(
            failure.facts
                == .object([
                    "place": .object([
                        "pass": .object(["number": .number(7), "frames": .array([.number(240), .number(480)])])
                    ]),
                    "end": .object(["signalled": .object(["signal": .number(11)])]),
                ]))
        let diagnostic = Diagnostic.soundTrimmed(track: 1, length: Rational(3, 100))
        #expect(diagnostic.code == "sound-trimmed")
        #expect(diagnostic.facts == .object(["track": .number(1), "length": .string("3/100")]))
        #expect(Diagnostic.noTimestamps.facts == .object([:]))
    }

    @Test("Failures are stored as the golden file says, and read back")
    func failures() throws {
        let reasons = FailureReason.samples
        try Golden.expect(Golden.lines(reasons), is: "failures.json")
        #expect(try JSONDecoder().decode([FailureReason].self, from: JSONEncoder().encode(reasons)) == reasons)
        let failures = reasons.map { ReelFailure($0) }
        #expect(try Golden.lines(failures) == Golden.lines(reasons))
        #expect(try JSONDecoder().decode([ReelFailure].self, from: JSONEncoder().encode(failures)) == failures)
    }

    @Test("Diagnostics are stored as the golden file says, and read back")
    func diagnostics() throws {
        let diagnostics = Diagnostic.samples
        try Golden.expect(Golden.lines(diagnostics), is: "diagnostics.json")
        #expect(try JSONDecoder().decode([Diagnostic].self, from: JSONEncoder().encode(diagnostics)) == diagnostics)
    }

    @Test("Names in facts are stored as the golden file says")
    func names() throws {
        func row<Fact: CaseIterable & Encodable>(_ fact: Fact.Type) throws -> String {
            let names = try Fact.allCases.map { try CanonicalJSON.text(of: $0).dropFirst().dropLast() }
            return "\(Fact.self): \(names.joined(separator: " "))\n"
        }
        let rows = try [
            row(CodecRole.self), row(EngineHang.self), row(EngineTask.self), row(FileStep.self), row(FirstField.self),
            row(FrameDamage.self),
            row(IndexFlaw.self), row(JobSpec.Option.self), row(MediaStep.self), row(OutputPart.self),
            row(PacketFault.self), row(PictureExtra.self), row(PictureLoss.self), row(PlanPart.self),
            row(ReelFailure.Owner.self), row(FailureCause.self), row(SourceChange.self), row(StoreStep.self),
        ]
        try Golden.expect(rows.joined(), is: "names.txt")
    }
}

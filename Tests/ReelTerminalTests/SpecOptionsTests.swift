import ArgumentParser
import Foundation
import ReelCore
import ReelJobs
import ReelStore
import ReelTerminal
import Testing

/// The options of the command line, which are those of a request.
@Suite struct SpecOptionsTests {
    /// Of options that mean something only beside another: the other, as its argument and in JSON.
    private static let companions: [OutputRequest.Field: (argument: String, json: String)] = [
        .turn: ("--play=ping-pong", #""play": "ping-pong""#), .crossfade: ("--times=2", #""times": 2"#),
        .soundtrackFrom: ("--soundtrack=a.wav", #""soundtrack": "a.wav""#),
    ]

    private func json(_ text: String) throws -> OutputRequest {
        let place = JSONPlace(try JSONValue(Data(text.utf8), within: .file))
        return try OutputRequest(place, knows: OutputRequest.Field.allCases)
    }

    @Test(
        "the command line and JSON take the same for each option",
        arguments: OutputRequest.Field.allCases.filter { ![.container, .retain, .keepSegments].contains($0) })
    func examples(_ field: OutputRequest.Field) throws {
        let (option, companion) = (field.option, SpecOptionsTests.companions[field])
        let name = RequestNames.commandLine.write(field, nil)
        var isFlag = false
        if case .flag = option.form { isFlag = true }
        let arguments = [companion?.argument, isFlag ? name : "\(name)=\(option.example)"].compactMap { $0 }
        let value = isFlag ? option.example : "\"\(option.example)\""
        let members = [companion?.json, "\"\(field.rawValue)\": \(value)"].compactMap { $0 }
        let request = try SpecOptions.parse(arguments).request
        #expect(try request == json("{\(members.joined(separator: ", "))}"))
        #expect(try request != SpecOptions.parse(companion.map { [$0.argument] } ?? []).request)
    }

    @Test("without options the request is a plain one, and the terms of a job are the usual")
    func usual() throws {
        #expect(try SpecOptions.parse([]).request == OutputRequest())
        #expect(try TermsOptions.parse([]).terms == JobTerms())
        #expect(
            try TermsOptions.parse(["--retain=12h", "--keep-segments", "--weight=1000"]).terms
                == JobTerms(weight: 1000, retain: 12 * 3600, keepsSegments: true))
    }

    @Test(
        "a fault is told with the options as they are typed",
        arguments: [
            (["--pass-frames=0"], "--pass-frames must be 1 or more"),
            (["--lossless", "--crf=20"], "--lossless keeps pictures and sound as they are; leave out --crf"),
            (["--turn=twice"], "--turn needs --play ping-pong"),
            (["--crossfade=1"], "--crossfade needs --stitch, or --times 2 or more with --play reverse or forward"),
            (["--soundtrack=a.wav", "--audio=none"], "--audio none and --soundtrack exclude each other"),
            (["--sample-rate=5"], "--sample-rate must be 1000 to 768000"),
        ])
    func faults(_ arguments: [String], _ said: String) throws {
        let error = try #require(throws: (any Error).self) { try SpecOptions.parse(arguments) }
        #expect(ExitCodes.line(of: SpecOptions.message(for: error)) == said)
    }

    @Test("help says what is taken if an option is not given")
    func help() {
        #expect(ArgumentHelp.of(.colors).abstract == "gif: the most colours, 2 to 256. Default: 256.")
        #expect(ArgumentHelp.of(.times, usual: nil).abstract == "How often to play it.")
        #expect(ArgumentHelp.of(.size).valueName == "WxH")
    }
}

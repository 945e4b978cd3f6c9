import ReelCore
import ReelTerminal
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

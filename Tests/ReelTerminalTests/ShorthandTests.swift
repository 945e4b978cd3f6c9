import ReelTerminal
import Testing

/// Command lines without a command.
@Suite struct ShorthandTests {
    @Test(arguments: [
        (["clip.mp4"], true), (["-o", "out.mp4", "clip.mp4"], true), (["--lossless", "clip"], true),
        (["shots/"], true), (["s3://footage/a.mov"], true), (["run", "clip.mp4"], false),
        (["status", "clip"], false), (["help", "run"], false), (["--help"], false), (["--version"], false),
        (["statsu"], false), (["statsu", "3f2a"], false), (["submti", "clip.mp4"], false), ([], false),
        (["---completion", "status", "--", "./reel"], false), (["--generate-completion-script", "clip"], false),
    ])
    func aVideoWithoutACommandIsReversed(_ arguments: [String], _ isExpanded: Bool) {
        let expanded = Shorthand.expanded(arguments, commands: ["run", "status"]) { ["clip", "shots/"].contains($0) }
        #expect(expanded == (isExpanded ? ["run"] + arguments : arguments))
    }
}

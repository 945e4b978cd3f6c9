import Foundation
import Logging
import ReelTerminal
import Synchronization
import Testing

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

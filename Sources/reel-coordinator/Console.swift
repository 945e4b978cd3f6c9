internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelWords

/// Standard output is for machines, standard error for people.
enum Console {
    static let name = "reel-coordinator"

    /// A line on standard output. What came from elsewhere may be part of it.
    static func result(_ line: String) { print(Legible.line(line) + "\n") }

    /// On standard output, as it is: for what was made legible before. Where the reader has gone, as behind `| head`, the
    /// program ends as by SIGPIPE, which libraries have it ignore; any other trouble is an error.
    static func print(_ text: String) {
        let code = write(text, to: STDOUT_FILENO)
        guard code != 0 else { return }
        guard code != EPIPE else { Foundation.exit(128 + SIGPIPE) }
        let failure = ReelFailure(.outputUnwritable(path: "standard output", errno: code))
        say(failure)
        Foundation.exit(failure.exitCode)
    }

    /// A line of JSON on standard output. The values that are printed hold nothing that JSON could not.
    static func json(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(value) else { return say("cannot print a \(type(of: value)) as JSON") }
        print(Legible.json(String(decoding: line, as: UTF8.self)) + "\n")
    }

    /// What went wrong, where, and what to do about it.
    static func words(_ failure: ReelFailure) -> String {
        ([failure.words] + [Advice.text(for: failure.reason)].compactMap(\.self)).joined(separator: "; ")
    }

    static func say(_ failure: ReelFailure) { say(words(failure)) }

    static func warn(_ diagnostic: Diagnostic) { say("warning: \(diagnostic.words)") }

    static func say(_ line: String) { write("\(name): \(Legible.line(line))\n") }

    /// On standard error; that nobody reads it changes nothing.
    static func write(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// 0, or the `errno` that says why it cannot be written.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return errno }
            rest = rest.dropFirst(max(count, 0))
        }
        return 0
    }

    /// Width of the terminal that standard error is; nil where it is none.
    static var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// What standard output can show.
    static var canvas: Canvas {
        guard let size = resultSize else { return .plain }
        return .terminal(columns: size.columns, environment: ProcessInfo.processInfo.environment)
    }

    /// The same while something is redrawn on it, where it has an end.
    static var screen: Canvas {
        var canvas = canvas
        canvas.rows = resultSize?.rows
        return canvas
    }

    /// Whether standard output is a terminal whose cursor moves.
    static var canRedraw: Bool {
        resultSize != nil && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
    }

    private static var resultSize: (columns: Int, rows: Int)? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Ends the program: help on standard output, an error as one line on standard error.
    static func exit(_ command: any ParsableCommand.Type, with error: any Error) -> Never {
        if let failure = error as? ReelFailure {
            say(failure)
            Foundation.exit(failure.exitCode)
        }
        let code = ExitCodes.mapped(argumentParser: command.exitCode(for: error).rawValue)
        if code == 0 {
            print(command.message(for: error) + "\n")
        } else {
            say("\(ExitCodes.line(of: command.message(for: error))); see \(name) --help")
        }
        Foundation.exit(code)
    }
}

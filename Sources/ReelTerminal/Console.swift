public import ArgumentParser
internal import Foundation
public import ReelCore
internal import ReelWords

/// The terminal, or the files, that a program was started on: standard output is for machines, standard error for people.
public struct Console: Sendable {
    /// The program's.
    private let name: String
    private let advice: @Sendable (FailureReason) -> String?

    /// - Parameters:
    ///   - name: the program's, before each line on standard error.
    ///   - advice: what a person at that program's command line can do about a failure; nil where its words say it all.
    public init(name: String, advice: @escaping @Sendable (FailureReason) -> String?) {
        self.name = name
        self.advice = advice
    }

    /// A line on standard output. What came from elsewhere may be part of it.
    public func result(_ line: String) { print(Legible.line(line) + "\n") }

    /// On standard output, as it is: for what was made legible before. Where the reader has gone, as behind `| head`, the
    /// program ends as by SIGPIPE, which libraries have it ignore; any other trouble is an error.
    public func print(_ text: String) {
        let code = write(text, to: STDOUT_FILENO)
        guard code != 0 else { return }
        guard code != EPIPE else { Foundation.exit(128 + SIGPIPE) }
        let failure = ReelFailure(.outputUnwritable(path: "standard output", errno: code))
        say(failure)
        Foundation.exit(failure.exitCode)
    }

    /// A line of JSON on standard output. The values that are printed hold nothing that JSON could not.
    public func json(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(value) else { return say("cannot print a \(type(of: value)) as JSON") }
        print(Legible.json(String(decoding: line, as: UTF8.self)) + "\n")
    }

    /// What went wrong, where, and what to do about it.
    public func words(_ failure: ReelFailure) -> String {
        ([failure.words] + [advice(failure.reason)].compactMap(\.self)).joined(separator: "; ")
    }

    public func say(_ failure: ReelFailure) { say(words(failure)) }

    public func warn(_ diagnostic: Diagnostic) { say("warning: \(diagnostic.words)") }

    /// A line on standard error, after the program's name.
    public func say(_ line: String) { write("\(name): \(Legible.line(line))\n") }

    /// On standard error; that nobody reads it changes nothing.
    func write(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// 0, or the `errno` that says why it cannot be written.
    private func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return errno }
            rest = rest.dropFirst(max(count, 0))
        }
        return 0
    }

    /// Width of the terminal that standard error is; nil where it is none.
    var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// What standard output can show.
    public var canvas: Canvas {
        guard let size = resultSize else { return .plain }
        return .terminal(columns: size.columns, environment: ProcessInfo.processInfo.environment)
    }

    /// The same while something is redrawn on it, where it has an end.
    var screen: Canvas {
        var canvas = canvas
        canvas.rows = resultSize?.rows
        return canvas
    }

    /// Whether standard output is a terminal whose cursor moves.
    var canRedraw: Bool {
        resultSize != nil && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
    }

    private var resultSize: (columns: Int, rows: Int)? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Parses the process's arguments, runs the command that they name, and ends the program with its exit code: help and
    /// results on standard output, an error as one line on standard error.
    public func run(_ program: (some ParsableCommand).Type) async -> Never {
        do {
            try CommandArguments.check()
            var command = try program.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(program, with: error)
        }
        Foundation.exit(0)
    }

    private func exit(_ command: (some ParsableCommand).Type, with error: any Error) -> Never {
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

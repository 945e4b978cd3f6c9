package import ArgumentParser
internal import Foundation
internal import Logging
package import ReelCore
internal import ReelJobs
internal import ReelWords

/// Standard output and standard error of a program: results go to the former, messages to people to the latter.
package struct Console: Sendable {
    private let name: String
    private let advice: @Sendable (FailureReason) -> String?

    /// - Parameters:
    ///   - name: the program's name, which begins each line on standard error.
    ///   - advice: a remedy on that program's command line for a failure; nil if its words say enough.
    package init(name: String, advice: @escaping @Sendable (FailureReason) -> String?) {
        (self.name, self.advice) = (name, advice)
    }

    /// Writes a line on standard output. Text from a file, an engine or Redis may be part of it: it is made legible.
    package func result(_ line: String) { print(Legible.line(line) + "\n") }

    /// Writes on standard output, unchanged: the text must be legible already. If the reader has gone, as with `|
    /// head`, the program exits with the code of SIGPIPE, which it ignores because of its libraries. Any other error
    /// ends it with a message.
    package func print(_ text: String) { print(Array(text.utf8)) }

    package func print(_ bytes: [UInt8]) {
        let code = write(bytes, to: STDOUT_FILENO)
        guard code != 0 else { return }
        guard code != EPIPE else { Foundation.exit(128 + SIGPIPE) }
        let failure = ReelFailure(.outputUnwritable(path: "standard output", errno: code))
        say(failure)
        Foundation.exit(failure.exitCode)
    }

    /// Writes a value as a line of JSON on standard output. The value must be encodable: it holds no NaN or infinity.
    package func json(_ value: some Encodable) {
        guard let line = try? CanonicalJSON.text(of: value) else {
            return say("cannot print a \(type(of: value)) as JSON")
        }
        print(Legible.json(line) + "\n")
    }

    /// What went wrong, where, and what to do about it.
    package func words(_ failure: ReelFailure) -> String {
        ([failure.words] + [advice(failure.reason)].compactMap(\.self)).joined(separator: "; ")
    }

    package func say(_ failure: ReelFailure) { say(words(failure)) }

    package func warn(_ diagnostic: Diagnostic, of subject: BatchPlace? = nil) { warn(diagnostic.words, of: subject) }

    func warn(_ words: String, of subject: BatchPlace?) {
        say("warning: \(subject.map { "\($0.name): " } ?? "")\(words)")
    }

    /// Writes a line on standard error, after the program's name.
    package func say(_ line: String) { write("\(name): \(Legible.line(line))\n") }

    /// Writes on standard error. Errors are ignored: the program goes on if its messages cannot be written.
    func write(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Returns 0, or the `errno` of a failed write.
    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return errno }
            rest = rest.dropFirst(max(count, 0))
        }
        return 0
    }

    var columns: Int? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// What standard output can show. On a terminal, lines that are too wide are wrapped, and there is room for any
    /// number.
    package var canvas: Canvas {
        guard let size = resultSize else { return .plain }
        return .terminal(columns: size.columns, environment: ProcessInfo.processInfo.environment).endless
    }

    /// What standard output can show while it is redrawn in place: the terminal's rows limit it.
    var screen: Canvas {
        var canvas = canvas
        canvas.rows = resultSize?.rows
        return canvas
    }

    /// Whether standard output is a terminal whose cursor moves.
    var canRedraw: Bool { resultSize != nil && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb" }

    private var resultSize: (columns: Int, rows: Int)? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The whole life of a program: parses the arguments, runs the command that they name, and ends the program with the
    /// command's exit code. Help and results go to standard output, an error as one line to standard error.
    ///
    /// - Parameter arguments: nil for those of the process.
    package func run(_ program: (some AsyncParsableCommand).Type, _ arguments: [String]? = nil) async -> Never {
        do {
            try checkArguments()
            try await Settings.load()
            var command = try await program.asyncParseAsRoot(
                (arguments ?? Array(CommandLine.arguments.dropFirst())).map { $0 == HelpText.allOption ? "--help" : $0 }
            )
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

    /// Throws `.argumentNotText` for the first argument of this process that is not UTF-8. It looks at the arguments as
    /// the kernel has them: `CommandLine.arguments` replaces other bytes by U+FFFD, so a path in it might name another
    /// file.
    private func checkArguments() throws(ReelFailure) {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/cmdline")) else { return }
        for argument in bytes.split(separator: 0) where String(validating: argument, as: UTF8.self) == nil {
            let text = argument.map { byte in
                byte < 0x80 ? String(Character(Unicode.Scalar(byte))) : "\\x" + String(byte, radix: 16, uppercase: true)
            }
            throw ReelFailure(.argumentNotText(text: text.joined()))
        }
    }

    /// Reports the failure of a job as a line on standard error and, with `--json`, as one of JSON on standard output.
    ///
    /// - Parameter subject: the video of a batch. Its path comes before the message, unless the message contains it.
    package func report(_ failure: ReelFailure, of job: JobID? = nil, _ subject: BatchPlace? = nil) {
        let words = words(failure)
        say(subject.map { words.contains($0.path) ? words : "\($0.path): \(words)" } ?? words)
        // If there is no such job, the name that was given is no job's id.
        let known = if case .jobUnknown = failure.reason { JobID?.none } else { job }
        if wantsJSON { json(ErrorView(failure, message: words, job: known, source: subject?.path)) }
    }

    /// Reports a failure that ends several jobs: a line on standard error and, with `--json`, a line of JSON for each.
    package func report(_ failure: ReelFailure, ofEach jobs: [JobID]) {
        let words = words(failure)
        say(words)
        guard wantsJSON else { return }
        for job in jobs { json(ErrorView(failure, message: words, job: job)) }
    }

    package func reporting<Result: Sendable>(
        of job: JobID, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result
    ) async throws -> Result {
        do { return try await work() } catch let failure as ReelFailure {
            report(failure, of: job)
            throw ReportedFailure(failure)
        }
    }

    /// Whether results are wanted as JSON, also if the arguments are wrong otherwise.
    private var wantsJSON: Bool { CommandLine.arguments.prefix { $0 != "--" }.contains("--json") }

    private func exit(_ command: (some ParsableCommand).Type, with error: any Error) -> Never {
        if let reported = error as? ReportedFailure { Foundation.exit(reported.failure.exitCode) }
        if let failure = error as? ReelFailure {
            if LogOptions.writesJSON {
                Logger(label: name).critical("\(words(failure))", metadata: ["code": "\(failure.reason.code)"])
            } else {
                report(failure)
            }
            Foundation.exit(failure.exitCode)
        }
        let code = ExitCodes.mapped(argumentParser: command.exitCode(for: error).rawValue)
        let message = command.message(for: error)
        if code == 0 {
            let isWhole = CommandLine.arguments.contains(HelpText.allOption)
            print((isWhole ? message : HelpText.brief(message)) + "\n")
        } else {
            let (parsers, help) = (ExitCodes.line(of: message), helpCommand(command, for: error))
            let line = FamiliarOption.line(insteadOf: parsers, CommandLine.arguments, of: help) ?? parsers
            say("\(line); see \(help)")
            if wantsJSON { json(ErrorView(usage: line, exit: code)) }
        }
        Foundation.exit(code)
    }

    /// The command that explains the arguments: that of the subcommand whose arguments are wrong.
    private func helpCommand(_ command: (some ParsableCommand).Type, for error: any Error) -> String {
        let usage = command.fullMessage(for: error).split(whereSeparator: \.isNewline).last { $0.hasPrefix("  See '") }
        let parts = usage?.split(separator: "'") ?? []
        return parts.count > 1 ? String(parts[1]) : "\(name) --help"
    }
}

/// A failure that was reported before it ends the program.
package struct ReportedFailure: Error {
    let failure: ReelFailure

    package init(_ failure: ReelFailure) { self.failure = failure }
}

extension Console {
    /// The remedies that all programs name for a failure; nil if its words say enough.
    package static func usualAdvice(for reason: FailureReason) -> String? {
        switch reason {
        case .storeMissing: "reel-coordinator init makes one"
        case .boardUnprepared: "reel-coordinator init --redis loads them, as a user that may"
        case .storeNotNamed, .storeNameEmpty: "name it with --store or REEL_STORE"
        case .namespaceInvalid: "REEL_NAMESPACE names it"
        case .sandboxIncomplete: "--sandbox try confines engines as far as the kernel can"
        case .addressUnusable: "choose another with --listen"
        default: nil
        }
    }
}

/// Exit codes and messages of errors that are not a `ReelFailure`.
package enum ExitCodes {
    /// Takes argument-parser's code for wrong usage (EX_USAGE, 64) to 2, and leaves every other code as it is.
    package static func mapped(argumentParser code: Int32) -> Int32 { code == 64 ? 2 : code }

    /// The first line of a message, with the list that follows if it announces one, and without the "Error: " that
    /// argument-parser puts before it: errors are one line.
    package static func line(of message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline)
        let first = lines.first.map(String.init) ?? message
        let line = first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first
        guard line.hasSuffix(":") else { return line }
        let items = lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        return line + " " + items.joined(separator: ", ")
    }
}

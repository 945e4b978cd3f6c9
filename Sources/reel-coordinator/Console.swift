internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelPipeline

/// Standard output is for machines, standard error for people.
enum Console {
    static let name = "reel-coordinator"

    static func result(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        result(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    static func say(_ line: String) { write("\(name): \(ExitCodes.oneLine(line))\n") }

    static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

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

    /// On standard output, as it is.
    static func print(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    /// Ends the program: help on standard output, an error as one line on standard error.
    static func exit(_ command: any ParsableCommand.Type, with error: any Error) -> Never {
        if let failure = error as? ReelFailure {
            say(failure.message)
            Foundation.exit(failure.exitCode)
        }
        let code = ExitCodes.mapped(argumentParser: command.exitCode(for: error).rawValue)
        if code == 0 {
            result(command.message(for: error))
        } else {
            say("\(ExitCodes.line(of: command.message(for: error))); see \(name) --help")
        }
        Foundation.exit(code)
    }
}

internal import Glibc

/// The keys of a terminal while a screen is watched: nothing is echoed, and no line end is awaited. Ctrl-C still
/// interrupts.
package final class Keyboard {
    package enum Key: Equatable {
        case quit, up, down, pageUp, pageDown, home, end, open, back, sort
    }

    private var before = termios()
    private var isOpen = true

    /// Nil if standard input is not a terminal, or belongs to another process group.
    init?() {
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &before) == 0
        else { return nil }
        var mode = before
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0 else { return nil }
    }

    deinit { leave() }

    /// The keys that were pressed since the last call, without waiting for one.
    func pressed() -> [Key] {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 0) == 1, descriptor.revents & Int16(POLLIN) != 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Keyboard.keys(bytes.prefix(count)) : []
    }

    /// Restores the terminal.
    func leave() {
        if isOpen { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        isOpen = false
    }

    /// The keys for which a terminal sends these bytes; unknown keys are left out.
    package static func keys(_ bytes: some Collection<UInt8>) -> [Key] {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        var keys: [Key] = []
        while !rest.isEmpty {
            guard let (sequence, key) = sequences.first(where: { rest.hasPrefix($0.sequence) }) else {
                // An escape sequence of another key ends with a letter or a tilde (ECMA-48 5.4).
                if rest.hasPrefix("\u{1B}[") || rest.hasPrefix("\u{1B}O") {
                    let end = rest.dropFirst(2).firstIndex { $0.isLetter || $0 == "~" } ?? rest.indices.last
                    rest = end.map { rest[rest.index(after: $0)...] } ?? ""
                } else if rest.removeFirst() == "\u{1B}" {
                    keys.append(.back)
                }
                continue
            }
            keys.append(key)
            rest.removeFirst(sequence.count)
        }
        return keys
    }

    private static let sequences: [(sequence: String, key: Key)] = [
        ("q", .quit), ("Q", .quit), ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down),
        ("\r", .open), ("\n", .open), ("s", .sort), ("S", .sort), ("\u{7F}", .back), ("k", .up), ("j", .down),
        ("\u{1B}[D", .back), ("\u{1B}OD", .back), ("\u{1B}[C", .open), ("\u{1B}OC", .open), ("\u{1B}[5~", .pageUp),
        ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[F", .end),
    ]
}

package struct ScrollPlace: Equatable {
    package private(set) var first = 0

    package init() {}

    /// - Parameters:
    ///   - count: the number of lines.
    ///   - rows: the number of lines that the screen can show.
    package mutating func heed(_ key: Keyboard.Key, count: Int, rows: Int) {
        let page = max(rows - 1, 1)
        let last = max(count - rows, 0)
        let wanted =
            switch key {
            case .quit, .open, .back, .sort: first
            case .up: first - 1
            case .down: first + 1
            case .pageUp: first - page
            case .pageDown: first + page
            case .home: 0
            case .end: last
            }
        first = min(max(wanted, 0), last)
    }

    /// Moves as little as is needed to show a line, with one above it if there is room.
    package mutating func reveal(_ line: Int, rows: Int) {
        if line < first + 1 { first = max(line - 1, 0) }
        // The last row may say how many lines more there are.
        if line > first + rows - 3 { first = max(line - rows + 3, 0) }
    }

    /// How far a key moves among the jobs of a list; nil if it does something else.
    package static func step(_ key: Keyboard.Key, page: Int, count: Int) -> Int? {
        switch key {
        case .up: -1
        case .down: 1
        case .pageUp: -page
        case .pageDown: page
        case .home: -count
        case .end: count
        case .quit, .open, .back, .sort: nil
        }
    }
}

internal import Glibc

/// The keys of a terminal while a screen is watched: nothing is echoed, and no line end is awaited. Ctrl-C still interrupts.
package final class Keyboard {
    /// A key that a screen heeds.
    package enum Key: Equatable {
        case quit, up, down, pageUp, pageDown, home, end
    }

    private var before = termios()
    private var isOpen = true

    /// Nil if standard input is no terminal, or belongs to another process group.
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

    /// Gives the terminal back as it was.
    func leave() {
        if isOpen { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        isOpen = false
    }

    /// The keys of which a terminal sends these bytes; others are left out.
    package static func keys(_ bytes: some Collection<UInt8>) -> [Key] {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        var keys: [Key] = []
        while !rest.isEmpty {
            guard let (sequence, key) = sequences.first(where: { rest.hasPrefix($0.sequence) }) else {
                rest.removeFirst()
                continue
            }
            keys.append(key)
            rest.removeFirst(sequence.count)
        }
        return keys
    }

    private static let sequences: [(sequence: String, key: Key)] = [
        ("q", .quit), ("Q", .quit), ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down),
        ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[F", .end),
    ]
}

/// The part of a list of lines that a screen shows.
package struct ScrollPlace: Equatable {
    /// The first line that is shown.
    package private(set) var first = 0

    package init() {}

    /// Moves as a key says.
    ///
    /// - Parameters:
    ///   - count: of lines that there are.
    ///   - rows: that the screen has.
    package mutating func heed(_ key: Keyboard.Key, count: Int, rows: Int) {
        let page = max(rows - 1, 1)
        let last = max(count - rows, 0)
        let wanted =
            switch key {
            case .quit: first
            case .up: first - 1
            case .down: first + 1
            case .pageUp: first - page
            case .pageDown: first + page
            case .home: 0
            case .end: last
            }
        first = min(max(wanted, 0), last)
    }
}

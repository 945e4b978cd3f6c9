internal import Glibc
package import ReelCore
package import ReelJobs

/// The part of a watched snapshot that the screen shows: some of its lines, a list in some order, or one job of it.
package struct ScreenView: Equatable {
    /// The job of the list that is shown alone; nil for the list, or for what is watched.
    package private(set) var opened: JobID?
    private var list = ListState()
    private var place = ScrollPlace()
    /// Where the list was when a job was opened.
    private var listPlace = ScrollPlace()

    package init() {}

    /// Handles a key. In a list, the arrow keys move the selection.
    package mutating func heed(_ key: Keyboard.Key, of snapshot: Snapshot, on canvas: Canvas) {
        guard let rows = canvas.rows else { return }
        guard let jobs = snapshot.jobs else {
            if key == .back, opened != nil {
                (opened, place) = (nil, listPlace)
            } else {
                place.heed(key, count: snapshot.lines(canvas.endless).count, rows: rows)
            }
            return
        }
        let ids = list.sorted(jobs).map(\.id)
        if let step = ScrollPlace.step(key, page: max(rows / 4, 1), count: ids.count) {
            list.move(step, among: ids)
        } else if key == .sort {
            list.order = list.order.next
        } else if key == .open, let chosen = list.chosen, ids.contains(chosen) {
            (opened, listPlace, place) = (JobID(chosen), place, ScrollPlace())
        }
        let lines = snapshot.lines(canvas.endless, as: list)
        if let line = lines.firstIndex(where: \.isChosen) { place.reveal(line, rows: rows) }
    }

    package func lines(of snapshot: Snapshot, on canvas: Canvas) -> [ScreenLine] {
        place.first == 0
            ? snapshot.lines(canvas, as: list) : Array(snapshot.lines(canvas.endless, as: list).dropFirst(place.first))
    }
}

/// How a watched screen shows a list of jobs: in which order, and which of them is chosen.
package struct ListState: Hashable, Sendable {
    package var order = SortOrder.board
    /// The id of the chosen job; nil for none.
    package var chosen: String?

    /// In the order in which a key brings them one after the other.
    package enum SortOrder: String, CaseIterable, Sendable {
        case board
        case name, state, progress, age

        var next: SortOrder {
            let all = SortOrder.allCases
            return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
        }
    }

    package init() {}

    /// Jobs in this order. Jobs that are equal in it keep their places.
    package func sorted(_ jobs: [JobView]) -> [JobView] {
        switch order {
        case .board: jobs
        case .name: jobs.stablySorted { $0.shownName.lowercased() < $1.shownName.lowercased() }
        case .state: jobs.stablySorted { $0.state.rawValue < $1.state.rawValue }
        case .progress: jobs.stablySorted { $0.share > $1.share }
        case .age: jobs.stablySorted { $0.created > $1.created }
        }
    }

    /// The line of a job, emphasised if it is the chosen one.
    func line(_ line: ScreenLine, of job: JobView) -> ScreenLine { job.id == chosen ? line.chosen : line }

    /// Chooses the job this many places below the chosen one, or the first if none is chosen.
    mutating func move(_ places: Int, among jobs: [String]) {
        guard let place = chosen.flatMap(jobs.firstIndex) else {
            chosen = jobs.first
            return
        }
        chosen = jobs[min(max(place + places, 0), jobs.count - 1)]
    }
}

extension JobView {
    var fileName: String { source.split(separator: "/").last.map(String.init) ?? source }

    /// The name that its user gave it, or the file's.
    var shownName: String { name ?? fileName }

    fileprivate var share: Double { frames > 0 ? Double(framesEncoded) / Double(frames) : 0 }
}

extension [JobView] {
    fileprivate func stablySorted(_ isBefore: (JobView, JobView) -> Bool) -> [JobView] {
        enumerated().sorted { left, right in
            if isBefore(left.element, right.element) { return true }
            return !isBefore(right.element, left.element) && left.offset < right.offset
        }.map(\.element)
    }
}

/// The keys of a terminal while a screen is watched: nothing is echoed, and no line end is awaited. Ctrl-C still
/// interrupts.
package final class Keyboard {
    package enum Key: Equatable { case quit, up, down, pageUp, pageDown, home, end, open, back, sort }

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
        let step = ScrollPlace.step(key, page: max(rows - 1, 1), count: count) ?? 0
        first = min(max(first + step, 0), max(count - rows, 0))
    }

    /// Moves as little as is needed to show a line, with one above it if there is room.
    package mutating func reveal(_ line: Int, rows: Int) {
        if line < first + 1 { first = max(line - 1, 0) }
        // The last row may say how many lines more there are.
        if line > first + rows - 3 { first = max(line - rows + 3, 0) }
    }

    /// How far a key moves among lines, or among the jobs of a list; nil if it does something else.
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

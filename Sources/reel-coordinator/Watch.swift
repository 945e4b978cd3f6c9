internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import Synchronization

/// Looks again every second and shows what it sees, until nothing of it will change any more.
///
/// Looking and showing are two tasks: while Redis does not answer, the screen says so, follows the terminal's size, and
/// ends at once when it is asked to.
struct Watch: Sendable {
    let address: String
    let output: Output
    let look: @Sendable () async throws(ReelFailure) -> Picture

    func run() async throws {
        let sight = Sight()
        let looker = Task { await watch(into: sight) }
        defer { looker.cancel() }
        if case .people = output, Console.canRedraw {
            try await redraw(sight)
        } else {
            try await print(sight)
        }
    }

    private func watch(into sight: Sight) async {
        while !Task.isCancelled {
            do {
                let picture = try await look()
                sight.see(.success(picture))
                if picture.isFinal { return }
            } catch {
                sight.see(.failure(error))
                guard error.isOutage else { return }
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// A terminal: one screen, in place.
    private func redraw(_ sight: Sight) async throws {
        let screen = TerminalScreen()
        var drawn: (looks: Int, canvas: Canvas, trouble: Int?)?
        var last: Picture?
        while true {
            let (looks, picture, trouble) = try sight.now()
            let canvas = Console.screen
            if let picture, drawn.map({ $0 != (looks, canvas, trouble) }) ?? true {
                let lines = Watch.trouble(trouble, address) + picture.lines(canvas)
                screen.show(lines, on: canvas)
                (drawn, last) = ((looks, canvas, trouble), picture)
            }
            if let last, last.isFinal { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        screen.leave()
        if let last { try output.write(last) }
    }

    /// A file, a pipe, or JSON: one after another.
    private func print(_ sight: Sight) async throws {
        var printed = 0
        var isToldOf = false
        while true {
            let (looks, picture, trouble) = try sight.now()
            if let picture, looks > printed {
                if printed > 0, case .people = output { Console.result("") }
                try output.write(picture)
                printed = looks
                if picture.isFinal { return }
            }
            if trouble != nil, !isToldOf { Watch.trouble(trouble, address).forEach { Console.say($0.text) } }
            isToldOf = trouble != nil
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private static func trouble(_ seconds: Int?, _ address: String) -> [ScreenLine] {
        guard let seconds else { return [] }
        return [ScreenLine("Redis at \(address) has not answered for \(seconds) s; below is what was seen last", .bad)]
    }
}

/// What was seen last, and when.
private final class Sight: Sendable {
    private struct State {
        var looks = 0
        var picture: Picture?
        var seen = ContinuousClock.now
        var failure: ReelFailure?
    }

    private let state = Mutex(State())

    func see(_ result: Result<Picture, ReelFailure>) {
        state.withLock { state in
            switch result {
            case .success(let picture):
                state.looks += 1
                (state.picture, state.seen, state.failure) = (picture, .now, nil)
            case .failure(let failure): state.failure = failure
            }
        }
    }

    /// How often something was seen, what, and for how many seconds nothing has been, where that is long. Throws what
    /// ends the watch.
    func now() throws(ReelFailure) -> (looks: Int, picture: Picture?, silence: Int?) {
        let state = state.withLock { $0 }
        if let failure = state.failure, !failure.isOutage { throw failure }
        let silence = ContinuousClock.now - state.seen
        return (state.looks, state.picture, silence >= .seconds(3) ? Int(silence.components.seconds) : nil)
    }
}

extension ReelFailure {
    /// The board cannot be reached, and may be again.
    fileprivate var isOutage: Bool { kind == .unreachable && cause == .transient }
}

/// The terminal while something is redrawn on it: a screen of its own without cursor, and the old one afterwards.
private final class TerminalScreen {
    private var isOpen = true

    init() { Console.print("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l") }
    deinit { leave() }

    func show(_ lines: [ScreenLine], on canvas: Canvas) { Console.print(lines.painted(on: canvas)) }

    func leave() {
        if isOpen { Console.print("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
        isOpen = false
    }
}

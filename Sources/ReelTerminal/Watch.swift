public import ReelCore
internal import Synchronization

/// Takes a snapshot whenever something has changed, and at least every two seconds, and shows it, until a snapshot is
/// final. The interval is needed because beats, which report the progress of passes, write no event.
///
/// Taking snapshots and showing them are two tasks: while Redis does not answer, the screen says so, follows the
/// terminal's size, and ends at once on a signal.
public struct Watch: Sendable {
    private let address: String
    private let output: Output
    private let console: Console
    private let look: @Sendable () async throws(ReelFailure) -> Snapshot
    private let change: @Sendable () async throws(ReelFailure) -> Void

    /// The longest time between two snapshots, if nothing changes.
    public static let slowest = Duration.seconds(2)
    /// The shortest time between two snapshots, if much changes.
    private static let quickest = Duration.milliseconds(250)

    /// - Parameters:
    ///   - address: Redis's address, for messages.
    ///   - change: returns when something may have changed, or after `slowest`.
    ///   - look: takes a snapshot.
    public init(
        address: String, output: Output, on console: Console,
        change: @escaping @Sendable () async throws(ReelFailure) -> Void,
        look: @escaping @Sendable () async throws(ReelFailure) -> Snapshot
    ) {
        self.address = address
        self.output = output
        self.console = console
        self.look = look
        self.change = change
    }

    /// Watches until a snapshot is final. Throws what `look` throws, except that it goes on while Redis cannot be reached.
    public func run() async throws {
        let latest = LatestSnapshot()
        let looker = Task { await watch(into: latest) }
        defer { looker.cancel() }
        if case .people = output, console.canRedraw {
            try await redraw(latest)
        } else {
            try await print(latest)
        }
    }

    private func watch(into latest: LatestSnapshot) async {
        while !Task.isCancelled {
            let looked = ContinuousClock.now
            do {
                let snapshot = try await look()
                latest.see(.success(snapshot))
                if snapshot.isFinal { return }
            } catch {
                latest.see(.failure(error))
                guard error.isOutage else { return }
            }
            // If this fails, the next snapshot fails, too, and reports it.
            do { try await change() } catch { try? await Task.sleep(for: .seconds(1)) }
            try? await Task.sleep(until: looked + Watch.quickest, clock: .continuous)
        }
    }

    /// On a terminal: redraws one screen in place, until a key quits. Other keys scroll through what has no room on it.
    private func redraw(_ latest: LatestSnapshot) async throws {
        let screen = TerminalScreen(console)
        let keyboard = Keyboard()
        defer { keyboard?.leave() }
        var drawn: (looks: Int, canvas: Canvas, trouble: Int?, place: ScrollPlace)?
        var place = ScrollPlace()
        var last: Snapshot?
        while true {
            let (looks, snapshot, trouble) = try latest.now()
            let canvas = console.screen
            for key in keyboard?.pressed() ?? [] {
                if key == .quit { return screen.leave() }
                guard let snapshot, let rows = canvas.rows else { continue }
                place.heed(key, count: snapshot.lines(canvas.endless).count, rows: rows)
            }
            if let snapshot, drawn.map({ $0 != (looks, canvas, trouble, place) }) ?? true {
                let lines =
                    place.first == 0
                    ? snapshot.lines(canvas) : Array(snapshot.lines(canvas.endless).dropFirst(place.first))
                screen.show(Watch.trouble(trouble, address) + lines, on: canvas)
                (drawn, last) = ((looks, canvas, trouble, place), snapshot)
            }
            if let last, last.isFinal { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        screen.leave()
        if let last { try output.write(last, on: console) }
    }

    /// To a file or pipe, or as JSON: prints one snapshot after another.
    private func print(_ latest: LatestSnapshot) async throws {
        var printed = 0
        var isReported = false
        while true {
            let (looks, snapshot, trouble) = try latest.now()
            if let snapshot, looks > printed {
                if printed > 0, case .people = output { console.result("") }
                try output.write(snapshot, on: console)
                printed = looks
                if snapshot.isFinal { return }
            }
            if trouble != nil, !isReported { Watch.trouble(trouble, address).forEach { console.say($0.text) } }
            isReported = trouble != nil
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private static func trouble(_ seconds: Int?, _ address: String) -> [ScreenLine] {
        guard let seconds else { return [] }
        let words = "Redis at \(address) has not answered for \(seconds) s; the last known state is below"
        return [ScreenLine(words, .bad)]
    }
}

/// The last snapshot, and when it was taken.
private final class LatestSnapshot: Sendable {
    private struct State {
        var looks = 0
        var snapshot: Snapshot?
        var seen = ContinuousClock.now
        var failure: ReelFailure?
    }

    private let state = Mutex(State())

    func see(_ result: Result<Snapshot, ReelFailure>) {
        state.withLock { state in
            switch result {
            case .success(let snapshot):
                state.looks += 1
                (state.snapshot, state.seen, state.failure) = (snapshot, .now, nil)
            case .failure(let failure): state.failure = failure
            }
        }
    }

    /// The number of snapshots so far, the last one, and the seconds since then if there are at least three. Throws the
    /// failure that ends the watch.
    func now() throws(ReelFailure) -> (looks: Int, snapshot: Snapshot?, silence: Int?) {
        let state = state.withLock { $0 }
        if let failure = state.failure, !failure.isOutage { throw failure }
        let silence = ContinuousClock.now - state.seen
        return (state.looks, state.snapshot, silence >= .seconds(3) ? Int(silence.components.seconds) : nil)
    }
}

extension ReelFailure {
    /// Whether the board cannot be reached now, but may be later.
    fileprivate var isOutage: Bool { kind == .unreachable && cause == .transient }
}

/// The terminal's alternate screen, without cursor, until `leave` restores the normal one.
private final class TerminalScreen {
    private let console: Console
    private var isOpen = true

    init(_ console: Console) {
        self.console = console
        console.print("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    deinit { leave() }

    func show(_ lines: [ScreenLine], on canvas: Canvas) { console.print(lines.painted(on: canvas)) }

    func leave() {
        if isOpen { console.print("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
        isOpen = false
    }
}

package import ReelCore
package import ReelJobs
internal import Synchronization

/// Takes a snapshot whenever something has changed, and at least every two seconds, and shows it, until a snapshot is
/// final. The interval is needed because beats, which report the progress of passes, write no event.
///
/// Taking snapshots and showing them are two tasks: while Redis does not answer, the screen says so, follows the
/// terminal's size, and ends at once on a signal.
package struct Watch: Sendable {
    private let address: String
    private let output: Output
    private let console: Console
    private let look: @Sendable (JobID?) async throws(ReelFailure) -> Snapshot
    private let change: @Sendable () async throws(ReelFailure) -> Void

    /// The longest time between two snapshots, if nothing changes.
    package static let slowest = Duration.seconds(2)
    /// The shortest time between two snapshots, if much changes.
    private static let quickest = Duration.milliseconds(250)

    /// - Parameters:
    ///   - address: Redis's address, for messages.
    ///   - change: returns when something may have changed, or after `slowest`.
    ///   - look: takes a snapshot of what is watched, or of a job that was chosen there.
    package init(
        address: String, output: Output, on console: Console,
        change: @escaping @Sendable () async throws(ReelFailure) -> Void,
        look: @escaping @Sendable (_ chosen: JobID?) async throws(ReelFailure) -> Snapshot
    ) {
        (self.address, self.output, self.console, self.look, self.change) = (address, output, console, look, change)
    }

    /// Watches until a snapshot is final. Throws what `look` throws, except that it goes on while Redis cannot be
    /// reached.
    package func run() async throws {
        let latest = LatestSnapshot()
        let looker = Task { await watch(into: latest) }
        defer { looker.cancel() }
        if case .people = output, console.canRedraw { try await redraw(latest) } else { try await print(latest) }
    }

    private func watch(into latest: LatestSnapshot) async {
        while !Task.isCancelled {
            let looked = ContinuousClock.now
            guard await glance(into: latest) else { return }
            // If this fails, the next snapshot fails, too, and reports it.
            do { try await change() } catch { try? await Task.sleep(for: .seconds(1)) }
            try? await Task.sleep(until: looked + Watch.quickest, clock: .continuous)
        }
    }

    /// Takes one snapshot. False if no other is to follow.
    private func glance(into latest: LatestSnapshot) async -> Bool {
        let chosen = latest.opened
        do {
            let snapshot = try await look(chosen)
            latest.see(.success(snapshot), of: chosen)
            return !snapshot.isFinal || chosen != nil
        } catch {
            latest.see(.failure(error), of: chosen)
            return error.isOutage
        }
    }

    /// On a terminal: redraws one screen in place, until a key quits. Other keys scroll through what has no room on it,
    /// or choose a job of a list, which is then shown alone.
    private func redraw(_ latest: LatestSnapshot) async throws {
        let screen = TerminalScreen(console)
        let keyboard = Keyboard()
        defer { keyboard?.leave() }
        var drawn: (looks: Int, canvas: Canvas, trouble: Int?, view: ScreenView)?
        var view = ScreenView()
        var last: Snapshot?
        while true {
            let (looks, found, trouble) = try latest.now()
            var snapshot = found
            let canvas = console.screen
            for key in keyboard?.pressed() ?? [] {
                if key == .quit { return screen.leave() }
                guard let shown = snapshot else { continue }
                view.heed(key, of: shown, on: canvas)
                guard view.opened != latest.opened else { continue }
                latest.open(view.opened)
                // What was shown so far says nothing of what is shown next.
                (snapshot, last) = (nil, nil)
                Task { _ = await glance(into: latest) }
            }
            if let snapshot, drawn.map({ $0 != (looks, canvas, trouble, view) }) ?? true {
                screen.show(Watch.trouble(trouble, address) + view.lines(of: snapshot, on: canvas), on: canvas)
                (drawn, last) = ((looks, canvas, trouble, view), snapshot)
            }
            if let last, last.isFinal, view.opened == nil { break }
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

private final class LatestSnapshot: Sendable {
    private struct State {
        var looks = 0
        var snapshot: Snapshot?
        var seen = ContinuousClock.now
        var failure: ReelFailure?
        var opened: JobID?
    }

    private let state = Mutex(State())

    /// The job of a list that is shown alone; nil if what is watched is shown.
    var opened: JobID? { state.withLock(\.opened) }

    func open(_ job: JobID?) { state.withLock { ($0.opened, $0.snapshot) = (job, nil) } }

    /// - Parameter chosen: the job of the result, which is dropped if another job is shown by now.
    func see(_ result: Result<Snapshot, ReelFailure>, of chosen: JobID?) {
        state.withLock { state in
            guard state.opened == chosen else { return }
            switch result {
            case .success(let snapshot):
                state.looks += 1
                (state.snapshot, state.seen, state.failure) = (snapshot, .now, nil)
            case .failure(let failure): state.failure = failure
            }
        }
    }

    /// The number of snapshots so far, the last one, and the seconds since then if there are three or more. Throws the
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

/// The answer of a reading command, as JSON and as lines of text.
package struct Snapshot: Sendable {
    let json: any Encodable & Sendable
    let isFinal: Bool
    let jobs: [JobView]?
    private let text: @Sendable (ListState, Canvas) -> [ScreenLine]

    /// - Parameters:
    ///   - json: what `--json` prints.
    ///   - isFinal: whether it will not change any more, which ends a watch.
    ///   - jobs: the jobs of a list, in the board's order; a watched screen lets one of them be chosen.
    ///   - lines: the lines of text on a given canvas; lines of a list in the given state.
    package init(
        json: any Encodable & Sendable, isFinal: Bool = false, jobs: [JobView]? = nil,
        lines: @escaping @Sendable (ListState, Canvas) -> [ScreenLine]
    ) {
        (self.json, self.isFinal, self.jobs, text) = (json, isFinal, jobs, lines)
    }

    func lines(_ canvas: Canvas, as list: ListState = ListState()) -> [ScreenLine] { text(list, canvas) }
}

package enum Output: Sendable {
    case json
    case people(Canvas)

    package func write(_ snapshot: Snapshot, on console: Console) throws {
        switch self {
        case .json: console.json(snapshot.json)
        case .people(let canvas): snapshot.lines(canvas).forEach { console.print($0.rendered(on: canvas) + "\n") }
        }
    }
}

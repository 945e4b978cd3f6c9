public import ReelJobs
internal import Synchronization

/// Shows on standard error how much of a source has been read, if reading takes longer than two seconds: redrawn in place
/// on a terminal, otherwise a line for each ten percent.
public final class ReadingDisplay: Sendable {
    private struct State {
        var begun: ContinuousClock.Instant?
        var step = 0
        var isShown = false
    }

    private let state = Mutex(State())
    private let console: Console

    /// A display that has shown nothing yet.
    public init(on console: Console) { self.console = console }

    /// How long reading may take before it is shown; most sources are read by then.
    private static let patience = Duration.seconds(2)

    /// The closure that `Submit` calls with the share it has read, 0 to 1.
    public var heard: Submit.Reading { { [self] share in show(Int(share * 100)) } }

    private func show(_ percent: Int) {
        state.withLock { state in
            let begun = state.begun ?? .now
            state.begun = begun
            guard .now - begun >= Self.patience else { return }
            if console.columns != nil {
                console.write("\r\u{1B}[Kreading the source, \(percent) %")
                state.isShown = true
            } else if percent / 10 > state.step {
                state.step = percent / 10
                console.say("reading the source, \(state.step * 10) %")
            }
        }
    }

    /// Removes the line, so that other lines can follow.
    public func clear() {
        state.withLock { state in
            if state.isShown { console.write("\r\u{1B}[K") }
            state = State()
        }
    }
}

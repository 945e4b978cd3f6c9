package import ReelJobs
internal import Synchronization

/// Shows on standard error how much of a source has been read, if that takes longer than a moment: redrawn in place on
/// a terminal, else a line per ten percent.
package final class ReadingDisplay: Sendable {
    private struct State {
        var begun: ContinuousClock.Instant?
        var step = 0
        var line: RedrawnLine
    }

    private let state: Mutex<State>
    private let console: Console

    /// A display that has not shown anything yet.
    package init(on console: Console) {
        self.console = console
        state = Mutex(State(line: RedrawnLine(on: console)))
    }

    /// Most sources are read by then.
    private static let patience = Duration.seconds(2)

    /// Hears how much has been read, from 0 to 1.
    package var heard: JobService.Reading { { [self] share in show(Int(share * 100)) } }

    private func show(_ percent: Int) {
        state.withLock { state in
            let begun = state.begun ?? .now
            state.begun = begun
            guard .now - begun >= Self.patience else { return }
            if let columns = console.columns {
                state.line.show("reading the source, \(percent) %", columns: columns)
            } else if percent / 10 > state.step {
                state.step = percent / 10
                console.say("reading the source, \(state.step * 10) %")
            }
        }
    }

    /// Takes the line away, so that other lines can be printed.
    package func clear() {
        state.withLock { state in
            state.line.clear()
            (state.begun, state.step) = (nil, 0)
        }
    }
}

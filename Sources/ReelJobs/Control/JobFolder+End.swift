package import ReelCore
package import ReelQueue
package import ReelStore

extension JobFolder {
    /// Writes an end into the store before anything relies on it; one that is there already stands. That it cannot be
    /// written costs no more than a second look: the board knows it, too.
    ///
    /// - Parameter board: whose clock says when that was.
    package func recordEnd(_ state: JobState, _ failure: ReelFailure?, on board: any Board) async {
        let now = await board.endOfNow()
        guard var record = try? read(), record.state == nil else { return }
        record.state = state
        record.failure = failure
        record.finished = now
        try? write(record)
    }
}

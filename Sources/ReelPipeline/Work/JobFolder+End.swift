internal import Foundation
internal import ReelCore
internal import ReelStore

extension JobFolder {
    /// The store learns of an end before anybody relies on it; one that is there already stands. That it cannot be written
    /// costs no more than a second look: the board knows it, too.
    func recordEnd(_ state: JobState, _ failure: ReelFailure?) {
        guard var record = try? read(), record.state == nil else { return }
        record.state = state
        record.failure = failure
        record.finished = Date().timeIntervalSince1970
        try? write(record)
    }
}

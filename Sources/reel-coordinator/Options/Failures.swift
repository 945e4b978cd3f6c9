internal import ReelCore
internal import ReelTerminal

/// The failures of a command that tries each of several things.
struct Failures {
    private var all: [ReelFailure] = []

    /// Does one of them. Its failure is printed, except that of the first, which is printed when the program ends.
    mutating func attempt(_ work: () async throws(ReelFailure) -> Void) async {
        do throws(ReelFailure) {
            try await work()
        } catch {
            if !all.isEmpty { console.say(error) }
            all.append(error)
        }
    }

    /// Throws the first failure.
    func end() throws(ReelFailure) {
        if let first = all.first { throw first }
    }
}

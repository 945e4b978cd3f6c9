import Foundation
import Glibc

/// A stopped engine, and the pass that it was working on.
struct Held: Sendable {
    var worker: Child
    var engine: pid_t
    var index: Int
    var token: String
}

extension Fleet {
    /// Stops an engine during a pass of video, though not the first that is given out: the engine of a pass or worker, if
    /// one is named. Its earlier results are on the board by then.
    func hold(_ id: String, index: Int? = nil, of slow: Child? = nil) async throws -> Held {
        let deadline = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
            let live = try sight(id).live.filter { slow == nil || $0.value.pid == slow?.pid }
            guard let (place, holder) = live.first(where: { $0.key == index ?? max($0.key, 1) }),
                let worker = workers.first(where: { $0.pid == holder.pid }),
                let engine = worker.children("reel-engine").first
            else { continue }
            Glibc.kill(engine, SIGSTOP)
            let held = Held(worker: worker, engine: engine, index: place, token: holder.token)
            // A segment under way is there as a part; otherwise the engine was not at it yet, or not any more.
            let isAtWork = segments(id).contains { $0.hasSuffix(".\(holder.token).nut.part") }
            if isAtWork, try sight(id).live[place] == holder { return held }
            Glibc.kill(engine, SIGCONT)
        }
        throw Running.Ended()
    }
}

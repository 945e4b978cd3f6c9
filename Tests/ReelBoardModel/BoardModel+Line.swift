internal import Foundation
internal import ReelCore
internal import ReelQueue

// Being in line.
extension BoardModel {
    /// One that is begun owes nothing, nor is owed; one that is not waits in the queue.
    package mutating func join(_ id: String) {
        guard begun[id] != nil else {
            if queue[id] == nil { enqueue(id) }
            return
        }
        guard run[id] == nil else { return }
        run[id] = timeInLine(id)
    }

    package func timeInLine(_ id: String) -> Double { max(jobs[id]?.virtual ?? 0, virtual) }

    /// Each owner has one job in each turn.
    package mutating func enqueue(_ id: String) {
        guard let job = jobs[id] else { return }
        if queue.isEmpty, begun.isEmpty { (turns, begunOf) = ([:], [:]) }
        struct Submission: Decodable { var submitter: String? }
        let said = job.submission.flatMap { try? JSONDecoder().decode(Submission.self, from: Data($0.utf8)) }
        let owner = said?.submitter.flatMap { $0.lastIndex(of: "@").map($0.prefix(upTo:)) }.map(String.init) ?? ""
        let weight = job.published.weight
        var all = turns[weight] ?? Turns()
        let turn = max(all.last[owner].map { $0 + 1 } ?? 0, all.now)
        all.last[owner] = turn
        turns[weight] = all
        jobs[id]?.owner = owner
        queue[id] = QueuePlace(weight: weight, turn: turn)
    }

    package mutating func beginJob(_ id: String) {
        guard begun[id] == nil, let job = jobs[id] else { return }
        if let place = queue[id] {
            let now = turns[place.weight]?.now ?? 0
            turns[place.weight]?.now = max(now, place.turn)
        }
        begunOf[job.owner, default: 0] += 1
        begun[id] = job.published.weight
        run[id] = run[id] ?? timeInLine(id)
        queue[id] = nil
    }

    /// The first of the queue begins if fewer jobs than slots at work have something to give out, if it is heavier than all
    /// that are begun, or if its owner has none that is begun.
    package mutating func beginNext() {
        guard let (id, place) = queue.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
        guard
            run.count <= leases.count || place.weight > begun.values.max() ?? 0
                || begunOf[jobs[id]?.owner ?? ""] ?? 0 == 0
        else { return }
        beginJob(id)
    }

    package mutating func leaveLine(_ id: String) {
        queue[id] = nil
        guard let time = run.removeValue(forKey: id) else { return }
        jobs[id]?.virtual = time
    }

    /// There is work of a job from then on.
    package mutating func offer(_ id: String, at due: Int) {
        guard let job = jobs[id], !job.isPaused else { return }
        if due > now { timer[id] = min(due, timer[id] ?? due) } else { join(id) }
    }
}

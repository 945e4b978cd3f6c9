package import ReelCore

/// The place of a job in the order of submission, from which `Board.jobs(before:count:)` goes on.
package struct JobPlace: Hashable, Sendable, CustomStringConvertible {
    /// When the job was begun, in milliseconds since 1970 by the board's clock.
    package var created: Int
    /// The job.
    package var id: JobID

    /// The place of a job that was begun at a time.
    package init(created: Int, id: JobID) {
        self.created = created
        self.id = id
    }

    /// The place that `description` gave. Nil if the text is no place.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let created = Int(parts[0]), created >= 0 else { return nil }
        self.init(created: created, id: JobID(String(parts[1])))
    }

    /// The place as text, from which another reader can go on.
    package var description: String { "\(created)-\(id)" }

    /// Whether this place comes after the other in Redis's order: by time, then by the bytes of the id.
    func isAfter(_ other: JobPlace) -> Bool {
        created != other.created ? created > other.created : other.id.text.utf8.lexicographicallyPrecedes(id.text.utf8)
    }
}

extension RedisBoard {
    /// Places of jobs in the order of their submission, the last first, `count` at most.
    package func jobs(before place: JobPlace?, count: Int) throws(ReelFailure) -> [JobPlace] {
        var found: [JobPlace] = []
        var skipped = 0
        // Jobs of the same millisecond as the place come first in the list, on whichever side of it they are.
        while found.count < count {
            let wanted = count - found.count
            let reply = try send([
                "ZRANGE", keys[.jobs], place.map { String($0.created) } ?? "+inf", "-inf", "BYSCORE", "REV", "LIMIT",
                String(skipped), String(wanted), "WITHSCORES",
            ])
            guard let entries = reply.array, entries.count.isMultiple(of: 2) else { throw reply.surprise }
            for index in stride(from: 0, to: entries.count, by: 2) {
                guard let created = Double(try entries[index + 1].text()), StatusReply.times.contains(created) else {
                    throw reply.surprise
                }
                let here = JobPlace(created: Int(created), id: JobID(try entries[index].text()))
                if let place, !place.isAfter(here) { continue }
                found.append(here)
            }
            skipped += entries.count / 2
            if entries.count < 2 * wanted { break }
        }
        return found
    }
}

package import ReelCore

/// Jobs of the board, with the unreadable ones apart.
package struct ListedJobs: Hashable, Sendable {
    package var jobs: [JobStatus] = []
    /// The failure of each job that cannot be read, by id. None of their passes is given out; the jobs can be
    /// cancelled and removed.
    package var unreadable: [JobID: ReelFailure] = [:]

    package init(jobs: [JobStatus] = []) { self.jobs = jobs }
}

/// The place of a job in the order of submission, from which `Board.jobs(before:count:unfinished:)` goes on.
package struct JobPlace: Hashable, Sendable, CustomStringConvertible {
    /// When the job was begun, in milliseconds since 1970 by the board's clock.
    package var created: Int
    package var id: JobID

    package init(created: Int, id: JobID) {
        self.created = created
        self.id = id
    }

    /// The place that `description` gave. Nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let created = Int(parts[0]), created >= 0 else { return nil }
        self.init(created: created, id: JobID(String(parts[1])))
    }

    package var description: String { "\(created)-\(id)" }

    /// Whether this place comes after the other in Redis's order: by time, then by the bytes of the id.
    func isAfter(_ other: JobPlace) -> Bool {
        created != other.created ? created > other.created : other.id.text.utf8.lexicographicallyPrecedes(id.text.utf8)
    }
}

extension RedisBoard {
    package func list(_ ids: [JobID]) throws(ReelFailure) -> ListedJobs {
        var list = ListedJobs()
        for id in try self.ids(in: .broken) { list.unreadable[id] = RedisBoard.setAside }
        for start in stride(from: 0, to: ids.count, by: RedisBoard.listedAtOnce) {
            let part = ids[start...].prefix(RedisBoard.listedAtOnce)
            let looks = try looks("status", part.map { [$0.text] })
            for (id, look) in zip(part, looks) where list.unreadable[id] == nil {
                do throws(ReelFailure) {
                    if let look = try look.get().present { list.jobs.append(try status(of: id, StatusReply(look))) }
                } catch {
                    guard error.isOfOneRecord else { throw error }
                    list.unreadable[id] = error
                }
            }
        }
        return list
    }

    /// How many jobs one exchange asks for. Redis carries out the calls of an exchange in a row, and all other programs
    /// wait meanwhile.
    private static let listedAtOnce = 25

    package func queue(count: Int) throws(ReelFailure) -> ListedJobs {
        let active = try ids(in: .active, to: count - 1)
        return try list(active + ids(in: .failed, to: count - 1, latestFirst: true))
    }

    package func latestJobs(ended: Int) throws(ReelFailure) -> ListedJobs {
        let running = try ids(in: .active)
        let known = Set(running)
        let latest = try ids(in: .jobs, to: known.count + ended - 1, latestFirst: true)
        var list = try list(running + latest.filter { !known.contains($0) }.prefix(ended))
        list.jobs.sort { ($0.created, $0.job.id.text) < ($1.created, $1.job.id.text) }
        return list
    }

    package func jobs() throws(ReelFailure) -> [JobID] { try ids(in: .jobs) }

    /// The ids in one of the board's sorted sets in its order, or in the reverse one, from the first to the place
    /// `last`; -1 is the last of all.
    func ids(in set: BoardKey, to last: Int = -1, latestFirst: Bool = false) throws(ReelFailure) -> [JobID] {
        try send(["ZRANGE", keys[set], "0", String(last)] + (latestFirst ? ["REV"] : [])).texts().map { JobID($0) }
    }

    package func jobCounts() throws(ReelFailure) -> (active: Int, failed: Int, all: Int) {
        let counts = try exchange([BoardKey.active, .failed, .jobs].map { ["ZCARD", keys[$0]] })
        return (try accept(counts[0]).count(), try accept(counts[1]).count(), try accept(counts[2]).count())
    }

    package func jobs(of submitter: String) throws(ReelFailure) -> Int { try look("owned", [submitter]).count() }

    package func jobs(
        before place: JobPlace?, count: Int, unfinished: Bool
    ) throws(ReelFailure) -> [JobPlace] {
        let list = keys[unfinished ? .active : .jobs]
        var found: [JobPlace] = []
        var skipped = 0
        // Jobs of the same millisecond as the place come first in the list, on whichever side of it they are.
        while found.count < count {
            let wanted = count - found.count
            let reply = try send([
                "ZRANGE", list, place.map { String($0.created) } ?? "+inf", "-inf", "BYSCORE", "REV", "LIMIT",
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

    /// Why a job that was set aside is unreadable.
    static let setAside = ReelFailure(.boardUnreadable(said: "a field of the job has an invalid value"))

    package func state(of job: JobID) throws(ReelFailure) -> JobState? {
        do throws(ReelFailure) {
            if let state = try send(["HGET", keys.job(job), "state"]).string {
                return JobState(rawValue: state) ?? .running
            }
            return try send(["EXISTS", keys.job(job)]) == .integer(1) ? .running : nil
        } catch {
            guard error.isOfOneRecord else { throw error }
            return .running
        }
    }
}

extension ReelFailure {
    /// Whether the failure concerns what one job's keys hold, and not Redis itself or what its user may do.
    var isOfOneRecord: Bool {
        switch reason {
        case .boardUnreadable: true
        case .redisRefused(_, let said, false): said.hasPrefix("WRONGTYPE") || said.hasPrefix("ERR")
        default: false
        }
    }
}

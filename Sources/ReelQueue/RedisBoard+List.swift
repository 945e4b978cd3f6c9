package import ReelCore

extension RedisBoard {
    /// The jobs of these ids, and the jobs that a function has set aside.
    package func list(_ ids: [JobID]) throws(ReelFailure) -> JobList {
        var list = JobList()
        for id in try aside() { list.unreadable[JobID(id)] = RedisBoard.setAside }
        for start in stride(from: 0, to: ids.count, by: RedisBoard.listedAtOnce) {
            let part = ids[start...].prefix(RedisBoard.listedAtOnce)
            for (id, look) in zip(part, try call(part.map { Command.Status(job: $0) })) where list.unreadable[id] == nil
            {
                do throws(ReelFailure) {
                    if let look = try look.get() { list.jobs.append(try status(of: id, look)) }
                } catch {
                    guard error.isOfOneRecord else { throw error }
                    list.unreadable[id] = error
                }
            }
        }
        return list
    }

    /// How many jobs one exchange asks for. Redis carries out the calls of an exchange in a row, and all other programs wait
    /// meanwhile.
    private static let listedAtOnce = 25

    /// The ids of all jobs, the one that was submitted first first.
    package func jobs() throws(ReelFailure) -> [JobID] {
        let reply = try send(["ZRANGE", keys[.jobs], "0", "-1"])
        guard let ids = reply.array?.compactMap(\.string) else { throw reply.surprise }
        return ids.map(JobID.init)
    }

    /// The ids of jobs that a function has set aside.
    func aside() throws(ReelFailure) -> [String] {
        let reply = try send(["ZRANGE", keys[.broken], "0", "-1"])
        guard let ids = reply.array?.compactMap(\.string) else { throw reply.surprise }
        return ids
    }

    /// Why a job that was set aside is unreadable.
    static let setAside = ReelFailure(.boardUnreadable(said: "a field of the job has an invalid value"))

    /// The state of a job, even if the rest of it cannot be read; `.running` if the state cannot be read, either. Nil
    /// if there is no such job.
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

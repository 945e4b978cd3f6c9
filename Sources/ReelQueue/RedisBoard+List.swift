public import ReelCore

/// Jobs of the board, those apart of which it holds something that this version cannot read.
public struct JobList: Hashable, Sendable {
    public var jobs: [JobStatus] = []
    /// What is wrong with each, by id. Nothing of them is given out; they can be cancelled and removed.
    public var unreadable: [JobID: ReelFailure] = [:]

    public init(jobs: [JobStatus] = [], unreadable: [JobID: ReelFailure] = [:]) {
        self.jobs = jobs
        self.unreadable = unreadable
    }
}

extension RedisBoard {
    /// The jobs of these ids, and those that a script has set aside.
    func list(_ ids: [String]) throws(ReelFailure) -> JobList {
        var list = JobList()
        for id in try aside() { list.unreadable[JobID(id)] = RedisBoard.setAside }
        for id in ids {
            do throws(ReelFailure) {
                guard let status = try status(JobID(id)) else { continue }
                if list.unreadable[JobID(id)] == nil { list.jobs.append(status) }
            } catch {
                guard error.isOfOneRecord else { throw error }
                list.unreadable[JobID(id)] = error
            }
        }
        return list
    }

    /// Jobs that a script has set aside.
    func aside() throws(ReelFailure) -> [String] {
        let reply = try send(["ZRANGE", BoardKey.broken.name, "0", "-1"])
        guard let ids = reply.array?.compactMap(\.string) else { throw reply.surprise }
        return ids
    }

    /// Why nothing of such a job is given out.
    static let setAside = ReelFailure(.boardUnreadable(said: "a script found a field that is none"))

    /// The state of a job, also of one of which more than that cannot be read; `.running` where not even that can. Nil
    /// where there is no such job.
    public func state(of job: JobID) throws(ReelFailure) -> JobState? {
        do throws(ReelFailure) {
            if let state = try send(["HGET", RedisBoard.key(job), "state"]).string {
                return JobState(rawValue: state) ?? .running
            }
            return try send(["EXISTS", RedisBoard.key(job)]) == .integer(1) ? .running : nil
        } catch {
            guard error.isOfOneRecord else { throw error }
            return .running
        }
    }
}

extension ReelFailure {
    /// Whether it tells of what one job's keys hold, and nothing of Redis or of what its user may do.
    var isOfOneRecord: Bool {
        switch reason {
        case .boardUnreadable: true
        case .redisRefused(_, let said, false): said.hasPrefix("WRONGTYPE") || said.hasPrefix("ERR")
        default: false
        }
    }
}

package import ReelCore

extension RedisBoard {
    /// The passes of a job in a range of the plan's order, one by one; nil if there is no such job. The cost grows with the
    /// range alone. Throws `.boardUnreadable` if a value cannot be read.
    package func passes(_ job: JobID, in range: Range<Int>) throws(ReelFailure) -> [PassLook]? {
        guard !range.isEmpty else { return [] }
        guard let look = try call(Command.Passes(job: job, range: range)) else { return nil }
        var found: [PassLook] = []
        for (index, row) in zip(range, look.rows) {
            let holder = try row.holder.map { entry throws(ReelFailure) in
                guard let holder = Holder(entry) else { throw JSON.unreadable(entry) }
                return holder
            }
            let failures = try row.failures.map(FailRecord.decoded)
            found.append(
                PassLook(
                    pass: try row.pass.map(RedisBoard.pass), isFinished: row.isFinished, worker: holder?.worker,
                    framesEncoded: holder?.encoded, attempts: failures?.attempts ?? [:],
                    isWaiting: row.isWaiting && failures != nil, isExhausted: look.exhausted == index))
        }
        return found
    }

    /// How many jobs of a submitter have not ended. The cost grows with the jobs that have not ended.
    ///
    /// - Parameter submitter: its name, without the host.
    package func jobs(of submitter: String) throws(ReelFailure) -> Int { try call(Command.Owned(submitter: submitter)) }

    /// Reads a pass as it was published: its kind, a space, its facts.
    static func pass(_ text: String) throws(ReelFailure) -> Pass {
        guard let space = text.firstIndex(of: " "), let kind = WorkKind(rawValue: String(text[..<space])),
            let pass = try kind.work(String(text[text.index(after: space)...])).pass
        else {
            throw JSON.unreadable(text)
        }
        return pass
    }
}

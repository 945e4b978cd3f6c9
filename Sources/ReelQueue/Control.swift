package import ReelCore

extension RedisBoard {
    package func cancel(_ job: JobID) throws(ReelFailure) -> Bool {
        try transition("cancel", [job.text, timing.retentionText]).flag()
    }

    package func pause(_ job: JobID) throws(ReelFailure) -> JobState? { try setPause(job, "1") }

    package func resume(_ job: JobID) throws(ReelFailure) -> JobState? { try setPause(job, "0") }

    private func setPause(_ job: JobID, _ pauses: String) throws(ReelFailure) -> JobState? {
        try transition("pause", [job.text, pauses, timing.retentionText]).present?.value()
    }

    package func weigh(_ job: JobID, _ weight: Double) throws(ReelFailure) -> JobState? {
        try BoardJob.check(weight, of: job)
        return try transition("weigh", [job.text, String(weight)]).present?.value()
    }

    @discardableResult
    package func describe(_ job: JobID, _ submission: String) throws(ReelFailure) -> Bool {
        try transition("describe", [job.text, submission]).flag()
    }

    package func retry(_ job: JobID) throws(ReelFailure) -> JobState? {
        let reply = try transition("retry", [job.text, timing.retentionText])
        return try reply == .string("ok") ? .failed : reply.present?.value()
    }

    package func forget(_ job: JobID, removal: Removal?) throws(ReelFailure) {
        let reply = try transition("forget", [job.text, removal?.holder ?? ""])
        if reply != .string("ok") { throw ReelFailure(.jobNotEnded(job: job, state: try reply.value())) }
    }
}

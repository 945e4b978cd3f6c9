package import ReelCore
package import ReelStore

extension Store {
    /// Jobs that have not ended, as far as the store knows.
    package func unfinishedJobs() throws(ReelFailure) -> [JobID] {
        try jobs().filter { job in
            guard let record = try? self.job(job).read() else { return false }
            return record.state == nil
        }
    }
}

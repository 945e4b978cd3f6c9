package import ReelCore
package import ReelStore

extension Store {
    /// Jobs whose records can be read and name no end.
    package func unfinishedJobs() throws(ReelFailure) -> [JobID] {
        try jobs().filter { job in
            guard let record = try? self.job(job).read() else { return false }
            return record.state == nil
        }
    }
}

package import ReelCore
package import ReelStore

extension JobStore {
    /// Jobs whose records can be read and name no end.
    package func unfinishedJobs() async throws(ReelFailure) -> [JobID] {
        var unfinished: [JobID] = []
        for id in try await jobs() {
            if let record = try? await job(id).read(), record.state == nil { unfinished.append(id) }
        }
        return unfinished
    }
}

internal import Foundation
internal import ReelCore
internal import ReelStore

/// What interrupted runs leave for the same command: finished passes, in the hidden folder beside the outputs.
extension LocalRun {
    /// The folder beside an output that keeps them, and its size in bytes; nil if there is none.
    package static func kept(beside output: String) -> (folder: String, bytes: Int64)? {
        guard let workspace = try? Workspace.existing(beside: output), workspace.size > 0 else { return nil }
        return (workspace.path, workspace.size)
    }

    /// After this many days without a run of the same job, its files are removed.
    package static let daysKept = 7

    /// Removes the files of jobs that no run has worked on for `daysKept`. Files that cannot be removed stay.
    static func removeOld(in store: FolderStore, butNot jobs: [JobID]) {
        let limit = Int(Date().timeIntervalSince1970) - daysKept * 86_400
        for id in (try? store.jobs()) ?? [] where !jobs.contains(id) {
            let folder = store.job(id)
            guard let used = folder.lastUse, used < limit, let lock = try? folder.lock() else { continue }
            withExtendedLifetime(lock) { try? folder.remove() }
        }
    }
}

package import ReelCore
internal import ReelQueue
internal import ReelSandbox
package import ReelStore

extension JobService {
    /// Opens the first source of a job, as it is now: its copy in the store, or the file at its path if that lies below one of
    /// the folders.
    ///
    /// Throws `.jobUnknown` if the store does not have the job, `.sourceOutside` if the file lies elsewhere, and
    /// `.sourceInaccessible` if it cannot be opened.
    package func source(
        of id: JobID, within roots: SourceRoots?
    ) async throws(ReelFailure) -> (file: OpenFile, name: String) {
        let entry = try requiredStore().job(id)
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
        let source = try await entry.read().source
        let name = source.path.split(separator: "/").last.map(String.init) ?? source.path
        if await entry.hasCopy(of: source) {
            return (try OpenFile(inStore: entry.locator(of: source)), name)
        }
        let file = try (roots ?? SourceRoots([])).withName(of: source.path) { place throws(ReelFailure) in
            try OpenFile.named(by: place, path: source.path)
        }
        return (file, name)
    }
}

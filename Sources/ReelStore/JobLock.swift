internal import Glibc
internal import ReelCore

/// The right to work on a job folder alone, until its last holder lets go of it or its process ends.
public final class JobLock: Sendable {
    private let file: FileLock

    private init(_ file: FileLock) { self.file = file }

    /// Nil where the folder was removed meanwhile.
    static func take(in folder: JobFolder) throws(ReelFailure) -> JobLock? {
        let path = folder.path + "/lock"
        let file: FileLock?
        do {
            file = try FileLock(path)
        } catch {
            if error.value == ENOENT { return nil }
            throw SystemError.store("lock", path, error.value)
        }
        if let file { return JobLock(file) }
        throw ReelFailure(
            .unreachable, "another run of this job is under way: \(holder(path)) holds \(folder.path); wait for it")
    }

    private static func holder(_ path: String) -> String {
        let text = (try? AtomicFile.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let parts = text.split(whereSeparator: \.isWhitespace)
        return parts.count == 2 ? "pid \(parts[0]) on \(parts[1])" : "another process"
    }
}

internal import Glibc
internal import ReelCore

/// The exclusive right to work on a job folder, until the last reference to it is released or its process ends.
package final class JobLock: Sendable {
    private let file: FileLock

    private init(_ file: FileLock) { self.file = file }

    /// Nil if the folder has been removed meanwhile.
    static func take(in folder: JobFolder) throws(ReelFailure) -> JobLock? {
        let path = folder.path(.lock)
        let file: FileLock?
        do {
            file = try FileLock(path)
        } catch {
            if error.value == ENOENT { return nil }
            throw SystemError.store(.lock, path, error.value)
        }
        if let file { return JobLock(file) }
        throw ReelFailure(held(folder.path, holder: path))
    }

    /// The text that the holder wrote into its lock: "PID HOST".
    private static func held(_ folder: String, holder path: String) -> FailureReason {
        let text = (try? AtomicFile.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let parts = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard parts.count == 2 else { return .jobHeld(path: folder, pid: nil, host: nil) }
        return .jobHeld(path: folder, pid: Int(parts[0]), host: parts[1])
    }
}

internal import Synchronization

/// The results whose bytes this server has compared with their hashes, each until its file changes. Hashing a file takes longer
/// than sending it, so a file is not hashed for every download.
final class ComparedFiles: Sendable {
    private let marks = Mutex<Set<String>>([])
    private static let most = 10_000

    func has(_ mark: String) -> Bool { marks.withLock { $0.contains(mark) } }

    /// Forgets all others when there are too many.
    func insert(_ mark: String) {
        marks.withLock {
            if $0.count >= ComparedFiles.most { $0 = [] }
            $0.insert(mark)
        }
    }
}

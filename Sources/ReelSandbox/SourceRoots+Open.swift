internal import CSandbox
internal import Glibc
public import ReelCore

extension SourceRoots {
    /// Throws `.sourceOutside` if a file lies outside all roots, also by a link on the way to it. One that does not exist
    /// is nowhere, and passes.
    public func check(_ path: String) throws(ReelFailure) {
        if let place = try name(path) { close(place) }
    }

    /// Calls the body with a descriptor that names a file below the roots without opening it, as O_PATH does.
    ///
    /// Throws `.sourceOutside` as `check` does, and `.sourceInaccessible` if the file does not exist.
    package func withName<Result>(
        of path: String, _ body: (CInt) throws(ReelFailure) -> Result
    ) throws(ReelFailure) -> Result {
        guard let place = try name(path) else { throw ReelFailure(.sourceInaccessible(path: path, errno: ENOENT)) }
        defer { close(place) }
        return try body(place)
    }

    /// Opens a file with O_PATH, so that what it names cannot be exchanged any more; nil if it does not exist.
    ///
    /// Throws `.sourceOutside` as `check` does.
    func name(_ path: String) throws(ReelFailure) -> Int32? {
        for (root, rest) in places(of: path) {
            let folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { continue }
            defer { close(folder) }
            let place = reel_name_beneath(folder, rest)
            if place >= 0 { return place }
            if errno == ENOENT || errno == ENOTDIR || errno == EACCES { return nil }
        }
        throw ReelFailure(.sourceOutside(path: path))
    }
}

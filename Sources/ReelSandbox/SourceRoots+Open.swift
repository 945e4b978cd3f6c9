internal import Glibc
package import ReelCore

extension SourceRoots {
    /// Throws `.sourceOutside` if a file lies outside all roots, also through a link on the way to it, and
    /// `.sourceInaccessible` if the kernel does not say where it lies. A file that does not exist passes.
    package func check(_ path: String) throws(ReelFailure) {
        if let place = try name(path) { close(place) }
    }

    /// Calls the body with a descriptor that names a file below the roots without opening it, as O_PATH does.
    ///
    /// Throws as `check` does, and `.sourceInaccessible` if the file does not exist, too.
    package func withName<Result>(
        of path: String, _ body: (CInt) throws(ReelFailure) -> Result
    ) throws(ReelFailure) -> Result {
        guard let place = try name(path) else { throw ReelFailure(.sourceInaccessible(path: path, errno: ENOENT)) }
        defer { close(place) }
        return try body(place)
    }

    /// Opens a file with O_PATH, so that the named file cannot be exchanged any more; nil if it does not exist.
    ///
    /// Throws as `check` does.
    func name(_ path: String) throws(ReelFailure) -> Int32? {
        for (root, rest) in places(of: path) {
            guard var walk = WalkBeneath(root) else { continue }
            switch walk.name(rest) {
            case .named(let place): return place
            case .outside: continue
            case .refused(ENOENT), .refused(ENOTDIR), .refused(EACCES): return nil
            case .refused(let error): throw ReelFailure(.sourceInaccessible(path: path, errno: error))
            }
        }
        throw ReelFailure(.sourceOutside(path: path))
    }
}

/// A walk from a folder to a file below it, one name after the other, that follows relative links and never leaves the
/// folder. Every step starts at a descriptor that the walk holds, so nothing that is renamed or exchanged meanwhile
/// leads it out.
///
/// `openat2` does the same in one call. But systemd answers that call with ENOSYS in a unit with `RestrictSUIDSGID=`,
/// since it cannot look at the mode that the call's structure may hold.
private struct WalkBeneath: ~Copyable {
    enum Outcome {
        case named(Int32)
        case outside
        /// By the kernel, with an error number.
        case refused(Int32)
    }

    /// The kernel's limit, too: a path with more links counts as a loop.
    private static let mostLinks = 40
    /// O_PATH, which Swift does not import.
    private static let naming = 0x200000 | O_NOFOLLOW | O_CLOEXEC

    /// Descriptors of the folders on the way, the outermost first.
    private var folders: [Int32]

    /// Nil if the folder cannot be opened.
    init?(_ folder: String) {
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        folders = [opened]
    }

    deinit { for folder in folders { close(folder) } }

    /// Names what lies at a path in the folder. The caller closes the descriptor.
    mutating func name(_ path: String) -> Outcome {
        guard !path.isEmpty else { return .refused(ENOENT) }
        // The next name is the last.
        var names = Array(path.split(separator: "/", omittingEmptySubsequences: false).map(String.init).reversed())
        var links = 0
        while let name = names.popLast() {
            if name == ".." {
                guard folders.count > 1 else { return .outside }
                close(folders.removeLast())
            }
            if ["", ".", ".."].contains(name) {
                guard names.isEmpty else { continue }
                let place = openat(folders[folders.count - 1], ".", Self.naming)
                return place >= 0 ? .named(place) : .refused(errno)
            }
            let place = openat(folders[folders.count - 1], name, Self.naming)
            guard place >= 0 else { return .refused(errno) }
            if let target = Self.target(of: place) {
                close(place)
                links += 1
                guard links <= Self.mostLinks else { return .refused(ELOOP) }
                guard !target.isEmpty, !target.hasPrefix("/") else { return .outside }
                names += target.split(separator: "/", omittingEmptySubsequences: false).map(String.init).reversed()
            } else if names.isEmpty {
                return .named(place)
            } else {
                folders.append(place)
            }
        }
        return .refused(ENOENT)
    }

    /// The target of a link; nil if this is not a link, and empty if the target cannot be read.
    private static func target(of place: Int32) -> String? {
        var status = stat()
        guard fstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        let bytes = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> [UInt8] in
            guard let start = buffer.baseAddress else { return [] }
            let count = readlinkat(place, "", start, buffer.count)
            return buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
        }
        return String(validating: bytes, as: UTF8.self) ?? ""
    }
}

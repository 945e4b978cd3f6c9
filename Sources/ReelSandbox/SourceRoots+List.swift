internal import Glibc
package import ReelCore

/// What a folder has: folders and regular files, without links and without names that begin with a dot.
package struct FolderListing: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        package var name: String
        package var bytes: Int64
    }

    /// By name.
    package var folders: [String] = []
    /// By name.
    package var files: [File] = []
    /// Whether the folder has more than was looked at.
    package var isCut = false
}

extension SourceRoots {
    /// Lists a folder at or below the roots. Blocks.
    ///
    /// Throws as `check` does, and `.sourceInaccessible` if there is no such folder.
    ///
    /// - Parameters:
    ///   - most: names that are looked at.
    ///   - takes: whether a file of that name is listed.
    package func list(
        _ path: String, most: Int, takes: (String) -> Bool
    ) throws(ReelFailure) -> FolderListing {
        try withName(of: path + "/.") { (place) throws(ReelFailure) in
            let opened = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { throw ReelFailure(.sourceInaccessible(path: path, errno: errno)) }
            guard let stream = fdopendir(opened) else {
                let code = errno
                close(opened)
                throw ReelFailure(.sourceInaccessible(path: path, errno: code))
            }
            defer { closedir(stream) }
            return FolderListing(of: stream, opened, most: most, takes: takes)
        }
    }
}

extension FolderListing {
    fileprivate init(of stream: OpaquePointer, _ folder: Int32, most: Int, takes: (String) -> Bool) {
        var seen = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            guard let name, !name.hasPrefix(".") else { continue }
            seen += 1
            guard seen <= most else {
                isCut = true
                break
            }
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(name)
            case S_IFREG where takes(name): files.append(File(name: name, bytes: Int64(status.st_size)))
            default: continue
            }
        }
        folders.sort()
        files.sort { $0.name < $1.name }
    }
}

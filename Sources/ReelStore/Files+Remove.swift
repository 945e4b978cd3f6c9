internal import Glibc

/// Removal of folders in which others may write meanwhile: it goes from one open folder to the next, so that a folder
/// that is swapped for a link in between leads nowhere else.
extension Files {
    /// Removes a file, a link, or a folder with its contents; it is no error if there is nothing to remove.
    ///
    /// - Parameter root: a folder above it, whose path is a prefix of its own. Links below that folder are not
    ///   followed.
    static func removeTree(_ path: String, beneath root: String) throws(SystemCode) {
        let steps = path.utf8.dropFirst(root.utf8.count).split(separator: UInt8(ascii: "/"))
            .map { $0.map { CChar(bitPattern: $0) } + [0] }
        guard path.hasPrefix(root), let name = steps.last else { throw SystemCode(EINVAL) }
        do {
            var folder = try Descriptor(open: root, O_RDONLY | O_DIRECTORY)
            for step in steps.dropLast() { folder = try Descriptor(folder: step, in: folder) }
            try remove(name, in: folder)
        } catch {
            guard error.value == ENOENT else { throw error }
        }
    }

    private static func remove(_ name: [CChar], in folder: borrowing Descriptor) throws(SystemCode) {
        guard let inner = try contents(removing: name, in: folder) else { return }
        while try removeContents(of: inner, depth: 1, below: inner) {}
        try removeEmpty(name, in: folder)
    }

    /// Removes the contents of a folder, `depth` levels below the folder that contains `top`. An engine can nest
    /// folders as deeply as the disk holds, and each level takes a descriptor. So folders that lie too deep are moved
    /// into `top`.
    ///
    /// Returns whether there were any: then `top` is not empty yet.
    private static func removeContents(
        of folder: borrowing Descriptor, depth: Int, below top: borrowing Descriptor
    ) throws(SystemCode) -> Bool {
        var hasMoved = false
        var names: [[CChar]]
        repeat {
            names = try someNames(in: folder)
            for entry in names {
                guard let inner = try contents(removing: entry, in: folder) else { continue }
                if depth == mostDepth {
                    let place = bytes(temporaryPrefix + randomName())
                    guard renameat(folder.number, entry, top.number, place) == 0 else { throw SystemCode(errno) }
                    hasMoved = true
                } else {
                    if try removeContents(of: inner, depth: depth + 1, below: top) { hasMoved = true }
                    try removeEmpty(entry, in: folder)
                }
            }
        } while names.count == mostNames
        return hasMoved
    }

    private static let mostDepth = 64
    /// As many as are in memory at once: an engine can make millions.
    private static let mostNames = 1000

    /// Removes a file or a link. If it is a folder, that is returned open, and nothing is removed.
    private static func contents(
        removing name: [CChar], in folder: borrowing Descriptor
    ) throws(SystemCode) -> Descriptor? {
        if unlinkat(folder.number, name, 0) == 0 || errno == ENOENT { return nil }
        // For a folder Linux reports EISDIR, other systems EPERM.
        let code = errno
        guard code == EISDIR || code == EPERM else { throw SystemCode(code) }
        do {
            return try Descriptor(folder: name, in: folder)
        } catch {
            // Not a folder: then removing it was not permitted.
            throw [ENOTDIR, ELOOP].contains(error.value) ? SystemCode(code) : error
        }
    }

    private static func removeEmpty(_ name: [CChar], in folder: borrowing Descriptor) throws(SystemCode) {
        guard unlinkat(folder.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw SystemCode(errno) }
    }

    /// The first names in an open folder, byte by byte as they are, without "." and "..".
    private static func someNames(in folder: borrowing Descriptor) throws(SystemCode) -> [[CChar]] {
        let copy = fcntl(folder.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCode(errno) }
        guard let directory = fdopendir(copy) else {
            close(copy)
            throw SystemCode(errno)
        }
        defer { closedir(directory) }
        // The copy of the descriptor shares its place in the folder.
        rewinddir(directory)
        var names: [[CChar]] = []
        errno = 0
        while names.count < mostNames, let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if name != bytes(".") && name != bytes("..") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw SystemCode(errno) }
        return names
    }

    private static func bytes(_ name: String) -> [CChar] { Array(name.utf8CString) }
}

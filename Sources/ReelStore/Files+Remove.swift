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
        if unlinkat(folder.number, name, 0) == 0 || errno == ENOENT { return }
        // For a folder Linux reports EISDIR, other systems EPERM.
        let code = errno
        guard code == EISDIR || code == EPERM else { throw SystemCode(code) }
        let inner: Descriptor
        do {
            inner = try Descriptor(folder: name, in: folder)
        } catch {
            // Not a folder: then removing it was not permitted.
            throw [ENOTDIR, ELOOP].contains(error.value) ? SystemCode(code) : error
        }
        for entry in try rawNames(in: inner) { try remove(entry, in: inner) }
        guard unlinkat(folder.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw SystemCode(errno) }
    }

    /// Names in an open folder, byte by byte as they are, without "." and "..".
    private static func rawNames(in folder: borrowing Descriptor) throws(SystemCode) -> [[CChar]] {
        let copy = fcntl(folder.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCode(errno) }
        guard let directory = fdopendir(copy) else {
            close(copy)
            throw SystemCode(errno)
        }
        defer { closedir(directory) }
        var names: [[CChar]] = []
        errno = 0
        while let entry = readdir(directory) {
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

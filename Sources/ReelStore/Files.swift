internal import Glibc
internal import ReelCore

/// File operations on paths, with `errno` thrown.
enum Files {
    /// The entry at the path itself, links not followed; nil if nothing is there.
    static func entry(_ path: String) throws(SystemCode) -> stat? { try status { lstat(path, $0) } }

    /// The entry that the path leads to, links followed; nil if nothing is there.
    static func target(_ path: String) throws(SystemCode) -> stat? { try status { stat(path, $0) } }

    private static func status(_ ask: (UnsafeMutablePointer<stat>) -> CInt) throws(SystemCode) -> stat? {
        var status = stat()
        if ask(&status) == 0 { return status }
        guard errno == ENOENT else { throw SystemCode(errno) }
        return nil
    }

    static func same(_ a: stat, _ b: stat) -> Bool { a.st_dev == b.st_dev && a.st_ino == b.st_ino }

    /// Renames a file; if it may not overwrite, only if the new name is free (EEXIST if not).
    ///
    /// - Parameter folder: descriptor of the folder from which `source` is looked up, if that is a relative path.
    static func rename(
        _ source: String, in folder: CInt = AT_FDCWD, to target: String, overwrite: Bool = true
    ) throws(SystemCode) {
        guard overwrite else { return try renameExclusively(source, in: folder, to: target) }
        guard renameat(folder, source, AT_FDCWD, target) == 0 else { throw SystemCode(errno) }
    }

    private static func renameExclusively(_ source: String, in folder: CInt, to target: String) throws(SystemCode) {
        // Linking is the portable way not to overwrite: Swift's Glibc module does not import renameat2.
        if linkat(folder, source, AT_FDCWD, target, 0) == 0 {
            unlinkat(folder, source, 0)
            return
        }
        let code = errno
        if code == EEXIST, isLinked(source, in: folder, target) {
            unlinkat(folder, source, 0)
            return
        }
        // File systems without hard links: there is a race between looking and renaming, but nothing better exists.
        guard [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(code) else { throw SystemCode(code) }
        guard try entry(target) == nil else { throw SystemCode(EEXIST) }
        guard renameat(folder, source, AT_FDCWD, target) == 0 else { throw SystemCode(errno) }
    }

    /// Whether both names belong to one file: NFS repeats a request if its reply was lost, and then reports the name as
    /// taken because the first request succeeded.
    private static func isLinked(_ source: String, in folder: CInt, _ target: String) -> Bool {
        var (first, second) = (stat(), stat())
        return fstatat(folder, source, &first, AT_SYMLINK_NOFOLLOW) == 0 && lstat(target, &second) == 0
            && same(first, second)
    }

    /// Makes the names in a folder durable. It is no error if the file system cannot sync a folder, or if the folder
    /// may be written but not read.
    static func syncFolder(_ path: String) throws(SystemCode) {
        do {
            try Descriptor(open: path, O_RDONLY | O_DIRECTORY).sync()
        } catch {
            guard [EINVAL, ENOTSUP, EACCES, EBADF].contains(error.value) else { throw error }
        }
    }

    /// Makes a folder and the ones above it that are missing. Returns whether there were any.
    @discardableResult
    static func makeFolders(_ path: String) throws(SystemCode) -> Bool {
        var tries = 0
        while mkdir(path, 0o777) != 0 {
            if errno == EEXIST { return tries > 0 }
            // Another process may remove the parent as soon as it is made, while it is empty.
            guard errno == ENOENT, tries < 100, let parent = parent(of: path), parent != path else {
                throw SystemCode(errno)
            }
            tries += 1
            try makeFolders(parent)
        }
        return true
    }

    /// Names in a folder without "." and "..", sorted; an empty list if there is no folder.
    static func names(in folder: String) throws(SystemCode) -> [String] {
        var names: [String] = []
        try forEachName(in: folder) { names.append($0) }
        return names.sorted()
    }

    /// Calls `body` with each name in a folder without "." and "..", in any order, so that not all names are in memory
    /// at once; not at all if there is no folder.
    static func forEachName(in folder: String, _ body: (String) -> Void) throws(SystemCode) {
        guard let directory = opendir(folder) else {
            if errno == ENOENT { return }
            throw SystemCode(errno)
        }
        defer { closedir(directory) }
        // Only errno distinguishes a read error from the end of the folder.
        errno = 0
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { body(name) }
            errno = 0
        }
        guard errno == 0 else { throw SystemCode(errno) }
    }

    /// Bytes that the files of a folder and of the folders in it take on the disk. Unreadable ones count as nothing.
    static func size(ofTree folder: String) -> Int64 {
        let names = (try? names(in: folder)) ?? []
        return names.reduce(0) { sum, name in
            let path = "\(folder)/\(name)"
            guard let entry = try? entry(path) else { return sum }
            // st_blocks counts 512 bytes (POSIX, sys/stat.h).
            return sum + (entry.st_mode & S_IFMT == S_IFDIR ? size(ofTree: path) : Int64(entry.st_blocks) * 512)
        }
    }

    /// The folder a path stands in, as the path spells it: "." for a bare name.
    static func folder(of path: String) -> String { parent(of: path) ?? "." }

    static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

    private static func parent(of path: String) -> String? {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return nil }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// A name beside `path` that no other process uses: hidden, so that it is not mistaken for a finished file. It does
    /// not contain the final name, which may be as long as a name can be.
    static func temporaryName(beside path: String) -> String { "\(folder(of: path))/\(temporaryPrefix)\(randomName())" }

    /// Makes a file that is whole or not there: `make` makes it under a temporary name beside `path`, and it gets its
    /// own name after that. Nothing remains if a step fails.
    static func place(
        at path: String, overwrite: Bool = true, _ make: (_ temporary: String) throws(SystemCode) -> Void
    ) throws(SystemCode) {
        let temporary = temporaryName(beside: path)
        do {
            try make(temporary)
            try rename(temporary, to: path, overwrite: overwrite)
            try syncFolder(folder(of: path))
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Gives a regular file that was written elsewhere on the same file system its final name, durably.
    static func adopt(_ file: String, as path: String) throws(SystemCode) {
        try Descriptor(regular: file).sync()
        try rename(file, to: path)
        try syncFolder(folder(of: path))
    }

    static let temporaryPrefix = ".reel-"

    /// 16 hexadecimal digits.
    static func randomName() -> String { Hexadecimal.text((0..<8).map { _ in UInt8.random(in: .min ... .max) }) }
}

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

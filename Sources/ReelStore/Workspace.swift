internal import Glibc
package import ReelCore

/// The folder beside an output in which `run` keeps its store: accessible to this user alone, wherever the output goes.
///
/// Others may write in the folder around it. So it is held open: a result is delivered from the folder that was
/// checked, even if another folder has its name by then.
package final class Workspace: Sendable {
    /// Path of the folder.
    package let path: String
    let folder: Descriptor

    private init(path: String, folder: consuming Descriptor) {
        self.path = path
        self.folder = folder
    }

    /// The folder of this user beside an output, made if there is none. It is `.reel`; if another user has that one, or
    /// may write in it, `.reel-UID`.
    ///
    /// Throws `.workspaceForeign` if neither belongs to this user alone, `.storeUnusable` if neither can be made.
    package static func beside(_ output: String) throws(ReelFailure) -> Workspace {
        if let workspace = try existing(beside: output) { return workspace }
        let names = names(beside: output)
        for path in names {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw SystemError.store(.open, path, errno)
            }
            if let workspace = try open(path) { return workspace }
        }
        throw ReelFailure(.workspaceForeign(path: names[1]))
    }

    /// The same if it is there; an earlier run may have had to take the second name. Nil if there is none.
    package static func existing(beside output: String) throws(ReelFailure) -> Workspace? {
        for path in names(beside: output) {
            if let workspace = try open(path) { return workspace }
        }
        return nil
    }

    private static func names(beside output: String) -> [String] {
        [".reel", ".reel-\(geteuid())"].map { "\(Files.folder(of: output))/\($0)" }
    }

    /// Bytes that its files take on the disk.
    package var size: Int64 { Files.size(ofTree: path) }

    /// Nil if there is no folder of that name that is accessible to this user alone. If others may only read it, it is
    /// closed to them.
    private static func open(_ path: String) throws(ReelFailure) -> Workspace? {
        do throws(SystemCode) {
            guard let entry = try Files.entry(path), isOwn(entry) else { return nil }
            let folder = try Descriptor(open: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard isOwn(try folder.status()) else { return nil }
            guard fchmod(folder.number, 0o700) == 0 else { throw SystemCode(errno) }
            return Workspace(path: path, folder: folder)
        } catch {
            throw SystemError.store(.open, path, error.value)
        }
    }

    private static func isOwn(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// A path in the folder, as it is looked up from there.
    func relative(_ path: String) -> String {
        let slash = UInt8(ascii: "/")
        return String(decoding: path.utf8.dropFirst(self.path.utf8.count).drop { $0 == slash }, as: UTF8.self)
    }
}

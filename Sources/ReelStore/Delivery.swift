internal import Glibc
package import ReelCore

/// Places on the network to which results are delivered.
package protocol RemoteOutputs: Sendable {
    /// Checks, before any work is done, that a result may be written to an address. Throws `.output` if not.
    func check(_ output: String, overwrite: Bool) async throws(ReelFailure)

    /// Writes a result to an address: whole, or not at all. The store keeps it as well.
    ///
    /// Throws `.output`, also if something has appeared there and `overwrite` is false; and `.resultDiffers` if the bytes
    /// are not those recorded.
    func deliver(_ result: StoredResult, to output: String, overwrite: Bool) async throws(ReelFailure)

    /// Does the same as `StoredResult.verify` with what is at an address. Throws `.resultDiffers`, and `.input` if it
    /// cannot be read.
    func verify(_ result: StoredResult, copy: String) async throws(ReelFailure)
}

/// Brings a result to the path that its owner requested: whole, or not at all.
package enum Delivery {
    /// Checks, before any work is done, that a result may be written to `output`.
    ///
    /// Throws a failure of the output if something is there and `overwrite` is false, if it is not a regular file, if
    /// its folder is missing or not writable, and, with any `overwrite`, if it is the file that `source` names.
    package static func check(_ output: String, source: String?, overwrite: Bool) throws(ReelFailure) {
        let (target, original, entry): (stat?, stat?, stat?)
        do {
            (target, entry) = (try Files.target(output), try Files.entry(output))
            original = if let source { try Files.target(source) } else { nil }
        } catch {
            throw SystemError.output(output, error.value)
        }
        if let target {
            if let original, Files.same(target, original) { throw ReelFailure(.outputIsSource(path: output)) }
            if target.st_mode & S_IFMT == S_IFDIR { throw ReelFailure(.outputIsFolder(path: output)) }
            if target.st_mode & S_IFMT != S_IFREG { throw ReelFailure(.outputNotAFile(path: output)) }
        }
        if entry != nil, !overwrite { throw ReelFailure(.outputExists(path: output)) }
        let folder = Files.folder(of: output)
        guard access(folder, W_OK | X_OK) == 0 else {
            let code = errno
            if code == ENOENT { throw ReelFailure(.outputFolderMissing(path: output, folder: folder)) }
            throw SystemError.output(output, code)
        }
        guard !Files.name(of: output).isEmpty, !output.hasSuffix("/") else {
            throw ReelFailure(.outputUnnamed(path: output))
        }
    }

    /// Writes a file of these bytes. Throws a failure of the output; nothing half-written remains.
    package static func write(_ bytes: [UInt8], to output: String, overwrite: Bool) throws(ReelFailure) {
        do throws(SystemCode) {
            try Files.place(at: output, overwrite: overwrite) { temporary throws(SystemCode) in
                try AtomicFile.writeDurably(bytes, to: temporary)
            }
        } catch {
            throw error.value == EEXIST
                ? ReelFailure(.outputExists(path: output))
                : SystemError.output(output, error.value, needed: Int64(bytes.count))
        }
    }

    /// Moves a result out of a workspace that is not needed any more: by renaming if it and the output share a file
    /// system, otherwise by copying. Its mode becomes that of a new file of this user.
    ///
    /// Throws a failure of the output, and `.resultDiffers` if a copy is not the verified file; nothing half-written
    /// remains, and the result stays where it was.
    package static func move(
        _ result: StoredResult, outOf workspace: Workspace, to output: String, overwrite: Bool
    ) throws(ReelFailure) {
        let path = workspace.relative(result.locator.path)
        do throws(SystemCode) {
            try makeOwn(path, in: workspace)
            try Files.rename(path, in: workspace.folder.number, to: output, overwrite: overwrite)
            try Files.syncFolder(Files.folder(of: output))
        } catch {
            guard error.value == EXDEV else { throw failure(error, result, output) }
            try copy(result, to: output, overwrite: overwrite)
            unlinkat(workspace.folder.number, path, 0)
        }
    }

    /// Gives a file the mode of a new file of this user, and makes it durable. Only if the file belongs to this user
    /// and has no other name: this program must not make files accessible that another user owns or has linked
    /// elsewhere.
    private static func makeOwn(_ path: String, in workspace: Workspace) throws(SystemCode) {
        let file = try Descriptor(regular: path, in: workspace.folder.number)
        let status = try file.status()
        guard status.st_uid == geteuid(), status.st_nlink == 1 else { throw SystemCode(EPERM) }
        guard fchmod(file.number, FileCopy.newFileMode) == 0 else { throw SystemCode(errno) }
        try file.sync()
    }

    /// Copies a result that stays in its store: as a clone that shares its blocks if the file system can do that, never
    /// as a hard link. Stops when the task is cancelled.
    ///
    /// Throws a failure of the output, naming the room needed if the disk is full, `.copyInterrupted` if the task was
    /// cancelled, and `.resultDiffers` if the copy is not the verified file; nothing half-written remains.
    package static func copy(_ result: StoredResult, to output: String, overwrite: Bool) throws(ReelFailure) {
        let path = result.locator.path
        let input = try SystemError.inStore(.read, path, Descriptor(regular: path))
        var difference: ReelFailure?
        do throws(SystemCode) {
            try Files.place(at: output, overwrite: overwrite) { temporary throws(SystemCode) in
                let copy = try FileCopy.write(input, to: temporary, mode: FileCopy.newFileMode, isHashed: true)
                let found = JobResult(name: result.recorded.name, bytes: copy.bytes, sha256: copy.sha256)
                difference = result.difference(of: found, at: path)
                if difference != nil { throw SystemCode(EBADMSG) }
            }
        } catch {
            throw difference ?? failure(error, result, output)
        }
    }

    private static func failure(_ error: SystemCode, _ result: StoredResult, _ output: String) -> ReelFailure {
        switch error.value {
        case EEXIST: ReelFailure(.outputExists(path: output))
        case SystemCode.notRegular.value: ReelFailure(.storeFileForeign(path: result.locator.path))
        case ECANCELED: ReelFailure(.copyInterrupted(path: output))
        default:
            SystemError.output(
                output, error.value, needed: ((try? Files.entry(result.locator.path)) ?? nil).map { Int64($0.st_size) })
        }
    }
}

/// The hidden folder, inside the folder of an output, in which `run` keeps its store. This user alone has access to it,
/// wherever the output goes.
///
/// Others may write in the folder around it. So it stays open: a result is delivered from the folder that was checked,
/// even if another folder has its name by then.
package final class Workspace: Sendable {
    package let path: String
    let folder: Descriptor

    private init(path: String, folder: consuming Descriptor) {
        self.path = path
        self.folder = folder
    }

    /// This user's hidden folder inside the folder of an output, made if it is missing. It is `.reel`; if that one
    /// belongs to another user, or others may write in it, `.reel-UID`.
    ///
    /// Throws `.workspaceForeign` if neither belongs to this user alone, `.storeUnusable` if neither can be made.
    package static func within(_ folder: String) throws(ReelFailure) -> Workspace {
        if let workspace = try existing(within: folder) { return workspace }
        let names = names(within: folder)
        for path in names {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError.store(.open, path, errno) }
            if let workspace = try open(path) { return workspace }
        }
        throw ReelFailure(.workspaceForeign(path: names[1]))
    }

    /// The same if it exists, under either name; nil if not.
    package static func existing(within folder: String) throws(ReelFailure) -> Workspace? {
        for path in names(within: folder) {
            if let workspace = try open(path) { return workspace }
        }
        return nil
    }

    private static func names(within folder: String) -> [String] {
        [".reel", ".reel-\(geteuid())"].map { "\(folder)/\($0)" }
    }

    /// Bytes that its files take on the disk.
    package var size: Int64 { Files.size(ofTree: path) }

    /// Nil unless the folder exists, belongs to this user, and no other user may write in it. Closes it to other
    /// readers.
    private static func open(_ path: String) throws(ReelFailure) -> Workspace? {
        try SystemError.inStore(.open, path) { () throws(SystemCode) in
            guard let entry = try Files.entry(path), isOwn(entry) else { return nil }
            let folder = try Descriptor(open: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard isOwn(try folder.status()) else { return nil }
            guard fchmod(folder.number, 0o700) == 0 else { throw SystemCode(errno) }
            return Workspace(path: path, folder: folder)
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

internal import Glibc
package import ReelCore

/// Brings a result to the path that its owner asked for: whole, or not at all.
package enum Delivery {
    /// Checks, before any work is done, that a result may be written to `output`.
    ///
    /// Throws `.output` if something is there and `overwrite` is false, if it is no regular file, if its folder is
    /// missing or not writable, and, whatever `overwrite` says, if it is the file that `source` names.
    package static func check(_ output: String, source: String?, overwrite: Bool) throws(ReelFailure) {
        let (target, original, entry): (stat?, stat?, stat?)
        do {
            (target, entry) = (try Files.target(output), try Files.entry(output))
            original = if let source { try Files.target(source) } else { nil }
        } catch {
            throw SystemError.output(output, error.value)
        }
        if let target, let original, Files.same(target, original) {
            throw ReelFailure(.outputIsSource(path: output))
        }
        if let target, target.st_mode & S_IFMT == S_IFDIR {
            throw ReelFailure(.outputIsFolder(path: output))
        }
        if let target, target.st_mode & S_IFMT != S_IFREG {
            throw ReelFailure(.outputNotAFile(path: output))
        }
        if entry != nil, !overwrite { throw ReelFailure(.outputExists(path: output)) }
        try checkFolder(Files.folder(of: output), of: output)
    }

    private static func checkFolder(_ folder: String, of output: String) throws(ReelFailure) {
        guard access(folder, W_OK | X_OK) == 0 else {
            let code = errno
            if code == ENOENT { throw ReelFailure(.outputFolderMissing(path: output, folder: folder)) }
            throw SystemError.output(output, code)
        }
        guard !Files.name(of: output).isEmpty, !output.hasSuffix("/") else {
            throw ReelFailure(.outputUnnamed(path: output))
        }
    }

    /// Writes a file of these bytes: whole, or not at all.
    ///
    /// Throws `.output`; nothing half-written remains.
    package static func write(_ bytes: [UInt8], to output: String, overwrite: Bool) throws(ReelFailure) {
        let temporary = Files.temporaryName(beside: output)
        do {
            try AtomicFile.writeDurably(bytes, to: temporary)
            try Files.rename(temporary, to: output, overwrite: overwrite)
            try Files.syncFolder(Files.folder(of: output))
        } catch {
            unlink(temporary)
            throw error.value == EEXIST
                ? ReelFailure(.outputExists(path: output))
                : SystemError.output(output, error.value, needed: Int64(bytes.count))
        }
    }

    /// Moves a result out of a workspace that is not needed any more: by renaming if it and the output share a file
    /// system, else by copying. Its mode becomes that of a new file of this user.
    ///
    /// Throws `.output`, and `.resultDiffers` if a copy is not the verified file; nothing half-written remains, and the
    /// result stays where it was.
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
    /// and has no other name: this program must not make files accessible that another user owns or has linked elsewhere.
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
    /// Throws `.output`, naming the room needed if the disk is full, `.interrupted` if it was cancelled, and
    /// `.resultDiffers` if the copy is not the verified file; nothing half-written remains.
    package static func copy(_ result: StoredResult, to output: String, overwrite: Bool) throws(ReelFailure) {
        let input: Descriptor
        do {
            input = try Descriptor(regular: result.locator.path)
        } catch {
            throw SystemError.store(.read, result.locator.path, error.value)
        }
        let temporary = Files.temporaryName(beside: output)
        let copy: (bytes: Int64, sha256: String)
        do {
            copy = try FileCopy.write(input, to: temporary, mode: FileCopy.newFileMode, isHashed: true)
        } catch {
            unlink(temporary)
            throw failure(error, result, output)
        }
        let found = JobResult(name: result.recorded.name, bytes: copy.bytes, sha256: copy.sha256)
        if let failure = result.difference(of: found, at: result.locator.path) {
            unlink(temporary)
            throw failure
        }
        do {
            try Files.rename(temporary, to: output, overwrite: overwrite)
            try Files.syncFolder(Files.folder(of: output))
        } catch {
            unlink(temporary)
            throw failure(error, result, output)
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

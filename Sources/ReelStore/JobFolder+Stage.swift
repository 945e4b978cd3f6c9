internal import Glibc
package import ReelCore

extension JobFolder {
    /// Copies the source into the job folder, so that workers need not see it where it is: as a clone that shares its
    /// blocks if the file system can do that. The copy has the source's modification time, which is part of its
    /// fingerprint.
    ///
    /// Throws `.unreachable` if it cannot be written, cause no-space if the disk is full; `.input` if the source is no
    /// longer the one that the fingerprint was taken of.
    package func stage(_ source: String, as name: String, _ fingerprint: Fingerprint) throws(ReelFailure) {
        let copy = "\(stage)/\(name)"
        let temporary = Files.temporaryName(beside: copy)
        defer { unlink(temporary) }
        do throws(SystemCode) {
            try Files.makeFolders(stage)
            let original = try Descriptor(open: source, O_RDONLY)
            let shared = try Files.target(store.root)?.st_mode ?? 0
            let mode = Sharing.modeOfCopy(source: try original.status().st_mode, store: shared)
            try FileCopy.write(original, to: temporary, mode: mode)
            let seconds = fingerprint.mtimeNanoseconds / 1_000_000_000
            let rest = fingerprint.mtimeNanoseconds % 1_000_000_000
            let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
            guard utimensat(AT_FDCWD, temporary, [time, time], 0) == 0 else { throw SystemCode(errno) }
        } catch {
            if error.value == ECANCELED { throw ReelFailure(.copyInterrupted(path: copy)) }
            throw SystemError.store(.copySource, copy, error.value)
        }
        // Another process may have written to it while it was being read.
        guard try fingerprint.matches(.file(source)), try fingerprint.matches(.file(temporary)) else {
            throw ReelFailure(.sourceChangedWhileCopied(path: source))
        }
        do {
            try Files.rename(temporary, to: copy)
            try Files.syncFolder(stage)
        } catch {
            throw SystemError.store(.copySource, copy, error.value)
        }
    }
}

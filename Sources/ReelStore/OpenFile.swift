internal import Glibc
package import ReelCore

/// A regular file that is open for reading: it stays the same file even if its name is given to another one.
package final class OpenFile: Sendable {
    /// The file's name in messages.
    package let name: String
    /// Its size when it was opened.
    package let bytes: Int64
    /// Changes with the file's size, its place on the disk and the time of its last change, which programs cannot set.
    package let mark: String
    private let file: Descriptor

    /// Throws `SystemCode`.
    init(_ file: consuming Descriptor, name: String) throws(SystemCode) {
        let status = try file.status()
        self.name = name
        bytes = Int64(status.st_size)
        mark = "\(status.st_ino)-\(status.st_size)-\(status.st_ctim.tv_sec)-\(status.st_ctim.tv_nsec)"
        self.file = file
    }

    /// Fills the room with the bytes from `offset` on, and returns their number: fewer if the file ends before. Blocks.
    /// Throws `.storeUnusable`.
    package func read(into room: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ReelFailure) -> Int {
        try SystemError.inStore(.read, name, file.read(into: room, at: offset))
    }

    /// Opens a file of the store. Throws `.storeUnusable` or `.storeFileForeign`.
    package convenience init(inStore locator: Locator) throws(ReelFailure) {
        do {
            try self.init(Descriptor(regular: locator.path), name: locator.name)
        } catch {
            throw SystemError.store(.read, locator.name, error.value)
        }
    }

    /// Opens a file that a descriptor of this process names without opening it, as O_PATH does.
    ///
    /// Throws `.sourceInaccessible`, and `.sourceNotAFile` if it is not a regular file.
    package static func named(by descriptor: CInt, path: String) throws(ReelFailure) -> OpenFile {
        do throws(SystemCode) {
            let file = try Descriptor(open: "/proc/self/fd/\(descriptor)", O_RDONLY | O_NONBLOCK)
            guard try file.status().st_mode & S_IFMT == S_IFREG else { throw SystemCode.notRegular }
            return try OpenFile(file, name: path)
        } catch {
            throw ReelFailure(
                error.value < 0 ? .sourceNotAFile(path: path) : .sourceInaccessible(path: path, errno: error.value))
        }
    }
}

extension Locator {
    /// The path that a folder's locator names.
    var path: String { file }
}

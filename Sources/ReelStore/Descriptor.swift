internal import Crypto
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

    /// Opens a source. Throws `.sourceInaccessible`, and `.sourceNotAFile` if it is not a regular file.
    package convenience init(source path: String) throws(ReelFailure) {
        do throws(SystemCode) {
            // Without O_NONBLOCK, opening a pipe would wait for its writer.
            let file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            guard try file.status().st_mode & S_IFMT == S_IFREG else { throw SystemCode.notRegular }
            try self.init(file, name: path)
        } catch {
            throw ReelFailure(
                error.value < 0 ? .sourceNotAFile(path: path) : .sourceInaccessible(path: path, errno: error.value))
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

/// An open file, closed when it goes out of scope. Errors are `errno` values; the caller decides what they mean.
struct Descriptor: ~Copyable, Sendable {
    let number: CInt

    /// Opens with O_CLOEXEC, so that no engine inherits it. A file that is created gets `mode` less the umask.
    init(open path: String, _ flags: CInt, mode: mode_t = 0o666) throws(SystemCode) {
        number = try Descriptor.retry { Glibc.open(path, flags | O_CLOEXEC, mode) }
    }

    /// Opens a regular file, and nothing else: it follows no link, and waits for no pipe or device. Others may write in
    /// a store, and could put a file there that leads elsewhere or never ends.
    ///
    /// Throws `SystemCode.notRegular` if the path names something else.
    ///
    /// - Parameter folder: descriptor of the folder from which a relative path is looked up.
    init(regular path: String, _ flags: CInt = O_RDONLY, in folder: CInt = AT_FDCWD) throws(SystemCode) {
        let opened: CInt
        do {
            opened = try Descriptor.retry { openat(folder, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666) }
        } catch {
            // A pipe that no process reads cannot be opened for writing: ENXIO.
            throw [ELOOP, ENXIO, EISDIR].contains(error.value) ? .notRegular : error
        }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw .notRegular
        }
        number = opened
    }

    /// Opens a folder that lies in an open one; ENOTDIR or ELOOP if that name is a link.
    init(folder name: [CChar], in folder: borrowing Descriptor) throws(SystemCode) {
        let parent = folder.number
        number = try Descriptor.retry { openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    deinit { close(number) }

    /// Fills the start of `block`, and returns how much of it: 0 at the end of the file.
    func read(into block: inout [UInt8]) throws(SystemCode) -> Int {
        try Descriptor.retry { block.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) } }
    }

    /// `count` bytes from `offset` on, fewer if the file ends before.
    func read(_ count: Int, at offset: Int64) throws(SystemCode) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { (room, length) throws(SystemCode) in
            length = try read(into: UnsafeMutableRawBufferPointer(room), at: offset)
        }
    }

    /// Fills the room with the bytes from `offset` on, as far as there are any, and returns how many there were.
    func read(into room: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemCode) -> Int {
        var done = 0
        while done < room.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: room[done...])
            let part = try Descriptor.retry { pread(number, rest.baseAddress, rest.count, off_t(offset) + done) }
            if part == 0 { break }
            done += part
        }
        return done
    }

    /// Calls `body` with the bytes that follow the current position, block by block.
    ///
    /// - Parameters:
    ///   - size: of a block, in bytes.
    ///   - isCancellable: throw ECANCELED when the task is cancelled.
    func forEachBlock(
        of size: Int = 1 << 20, isCancellable: Bool = false, _ body: (ArraySlice<UInt8>) throws(SystemCode) -> Void
    ) throws(SystemCode) {
        var block = [UInt8](repeating: 0, count: size)
        while true {
            if isCancellable, Task.isCancelled { throw SystemCode(ECANCELED) }
            let count = try read(into: &block)
            if count == 0 { return }
            try body(block[..<count])
        }
    }

    /// The bytes that follow the current position.
    func readAll() throws(SystemCode) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(try status().st_size))
        try forEachBlock(of: 1 << 16) { bytes += $0 }
        return bytes
    }

    /// SHA-256 of the bytes that follow the current position, in hexadecimal.
    func sha256Hex(isCancellable: Bool = false) throws(SystemCode) -> String {
        var hash = SHA256()
        try forEachBlock(isCancellable: isCancellable) { hash.update(data: $0) }
        return Hexadecimal.text(hash.finalize())
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(SystemCode) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try Descriptor.retry { rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
    }

    /// Cuts off the bytes from `size` on, if there are any.
    func shorten(to size: Int64) throws(SystemCode) {
        if try Int64(status().st_size) > size, ftruncate(number, off_t(size)) != 0 { throw SystemCode(errno) }
    }

    func sync() throws(SystemCode) { _ = try Descriptor.retry { fsync(number) } }

    func status() throws(SystemCode) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemCode(errno) }
        return status
    }

    /// Repeats a call of the system while a signal interrupts it. Throws its `errno` if it fails.
    private static func retry<Number: SignedInteger>(_ call: () -> Number) throws(SystemCode) -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemCode(errno) }
        }
    }
}

/// An `errno` value, thrown to a caller that knows its meaning.
struct SystemCode: Error {
    let value: CInt

    init(_ value: CInt) { self.value = value }

    /// Not an `errno`: a link, a pipe, a device or a folder stands in the place of a regular file.
    static var notRegular: SystemCode { SystemCode(-1) }
}

/// Failures of the operating system: an `errno` with the path of the operation.
enum SystemError {
    /// The failure of an operation on the store: exit 4; a full disk stops the host, anything else excludes it.
    static func store(_ doing: StoreStep, _ path: String, _ code: CInt) -> ReelFailure {
        if code == SystemCode.notRegular.value { return ReelFailure(.storeFileForeign(path: path)) }
        return ReelFailure(
            isFull(code)
                ? .storeFull(doing: doing, path: path, errno: code)
                : .storeUnusable(doing: doing, path: path, errno: code))
    }

    /// Does an operation on the store, and turns its `errno` into that failure.
    static func inStore<Value: ~Copyable>(
        _ doing: StoreStep, _ path: String, _ operation: @autoclosure () throws(SystemCode) -> Value
    ) throws(ReelFailure) -> Value { try inStore(doing, path, doing: operation) }

    /// Does several operations on the store in the same way.
    static func inStore<Value: ~Copyable>(
        _ step: StoreStep, _ path: String, doing operations: () throws(SystemCode) -> Value
    ) throws(ReelFailure) -> Value {
        do {
            return try operations()
        } catch {
            throw store(step, path, error.value)
        }
    }

    /// The failure of an operation on the place of a delivered result: exit 5.
    static func output(_ path: String, _ code: CInt, needed: Int64? = nil) -> ReelFailure {
        ReelFailure(
            isFull(code)
                ? .outputFull(path: path, needed: needed, free: FileCopy.room(beside: path))
                : .outputUnwritable(path: path, errno: code))
    }

    /// A quota that is used up is a full disk, too.
    private static func isFull(_ code: CInt) -> Bool { code == ENOSPC || code == EDQUOT }
}

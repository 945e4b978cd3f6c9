internal import Glibc

/// An open file, closed when it goes out of scope. Errors are `errno` values; the caller decides what they mean.
struct Descriptor: ~Copyable, Sendable {
    let number: CInt

    /// Opens with O_CLOEXEC, so that no engine inherits it. A file that is created gets `mode` less the umask.
    init(open path: String, _ flags: CInt, mode: mode_t = 0o666) throws(SystemCode) {
        let opened = Descriptor.retry { Glibc.open(path, flags | O_CLOEXEC, mode) }
        guard opened >= 0 else { throw SystemCode(errno) }
        number = opened
    }

    /// Opens a regular file, and nothing else: a link is not followed, a pipe or a device is not waited for. Others may
    /// write in a store, and could put a file there that leads elsewhere or never ends.
    ///
    /// Throws `SystemCode.notRegular` if something else is there.
    ///
    /// - Parameter folder: descriptor of the folder from which a relative path is looked up.
    init(regular path: String, _ flags: CInt = O_RDONLY, in folder: CInt = AT_FDCWD) throws(SystemCode) {
        let opened = Descriptor.retry {
            openat(folder, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
        }
        // A pipe that no process reads cannot be opened for writing: ENXIO.
        guard opened >= 0 else { throw [ELOOP, ENXIO, EISDIR].contains(errno) ? .notRegular : SystemCode(errno) }
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
        let opened = Descriptor.retry { openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard opened >= 0 else { throw SystemCode(errno) }
        number = opened
    }

    deinit { close(number) }

    /// Fills the start of `block`, and returns how much of it: 0 at the end of the file.
    func read(into block: inout [UInt8]) throws(SystemCode) -> Int {
        let count = block.withUnsafeMutableBytes { buffer in
            Descriptor.retry { Glibc.read(number, buffer.baseAddress, buffer.count) }
        }
        guard count >= 0 else { throw SystemCode(errno) }
        return count
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
            let part = Descriptor.retry { pread(number, rest.baseAddress, rest.count, off_t(offset) + done) }
            guard part >= 0 else { throw SystemCode(errno) }
            if part == 0 { break }
            done += part
        }
        return done
    }

    /// The bytes that follow the current position.
    func readAll() throws(SystemCode) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(try status().st_size))
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try read(into: &block)
            if count == 0 { return bytes }
            bytes += block[..<count]
        }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(SystemCode) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Descriptor.retry { Glibc.write(number, buffer.baseAddress, buffer.count) }
            }
            guard count >= 0 else { throw SystemCode(errno) }
            rest = rest.dropFirst(count)
        }
    }

    func sync() throws(SystemCode) {
        guard Descriptor.retry({ fsync(number) }) == 0 else { throw SystemCode(errno) }
    }

    func status() throws(SystemCode) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemCode(errno) }
        return status
    }

    private static func retry<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
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

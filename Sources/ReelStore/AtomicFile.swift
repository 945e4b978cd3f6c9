internal import Glibc
package import ReelCore

/// Files that are whole or not there: written under a temporary name in the same folder, synced, renamed.
package enum AtomicFile {
    /// Writes `bytes` to `path`, replacing an earlier file, and returns when they are durable.
    ///
    /// Throws `.storeUnusable`, or `.storeFull` if the disk is full; nothing stays behind then.
    package static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        try SystemError.inStore(.write, path) { () throws(SystemCode) in
            try Files.place(at: path) { temporary throws(SystemCode) in try writeDurably(bytes, to: temporary) }
        }
    }

    /// Writes `bytes` to `path` and returns when they are durable. If something is there, it stays as it is, and this
    /// returns false.
    ///
    /// Throws as `write` does.
    package static func create(_ bytes: [UInt8], at path: String) throws(ReelFailure) -> Bool {
        do throws(SystemCode) {
            try Files.place(at: path, overwrite: false) { temporary throws(SystemCode) in
                try writeDurably(bytes, to: temporary)
            }
            return true
        } catch {
            if error.value == EEXIST { return false }
            throw SystemError.store(.write, path, error.value)
        }
    }

    /// Writes a value as JSON to a new file that only this machine reads, and that need not survive its crash.
    ///
    /// Throws as `write` does, also if there is a file of that name.
    package static func write(json value: some Encodable, toScratch path: String) throws(ReelFailure) {
        let bytes = try json(of: value)
        try SystemError.inStore(.write, path) { () throws(SystemCode) in
            try Descriptor(open: path, O_WRONLY | O_CREAT | O_EXCL).write(bytes[...])
        }
    }

    static func writeDurably(_ bytes: [UInt8], to path: String, mode: mode_t = 0o666) throws(SystemCode) {
        let file = try Descriptor(open: path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        try file.write(bytes[...])
        try file.sync()
    }

    /// Writes a value as JSON whose bytes are the same for the same value: keys sorted, no spaces.
    package static func write(json value: some Encodable, to path: String) throws(ReelFailure) {
        try write(json(of: value), to: path)
    }

    /// The largest record that is read, in bytes. For files that may be larger the caller gives the limit.
    package static let mostBytes: Int64 = 16 << 20

    /// The whole file. Throws `.storeUnusable` if it cannot be read, and `.storeFileDamaged` if it is larger than
    /// `mostBytes`: others may write in a store, and one file must not take all memory.
    package static func read(_ path: String, mostBytes: Int64 = mostBytes) throws(ReelFailure) -> [UInt8] {
        let file = try SystemError.inStore(.read, path, Descriptor(regular: path))
        let size = Int64(try SystemError.inStore(.read, path, file.status()).st_size)
        if size <= mostBytes { return try SystemError.inStore(.read, path, file.readAll()) }
        throw ReelFailure(
            .storeFileDamaged(path: path, said: "\(size) bytes, of which it has \(mostBytes) at the most"))
    }

    /// The value that a JSON file holds. Throws as the other `read` does, and `.storeFileDamaged` for other contents.
    package static func read<Value: Decodable>(
        json type: Value.Type, from path: String, mostBytes: Int64 = mostBytes
    ) throws(ReelFailure) -> Value {
        let bytes = try read(path, mostBytes: mostBytes)
        return try checked(path) { try CanonicalJSON.value(type, from: bytes) }
    }

    /// The bytes of a value as JSON. Throws `.notEncodable`.
    package static func json(of value: some Encodable) throws(ReelFailure) -> [UInt8] {
        do {
            return try CanonicalJSON.bytes(of: value)
        } catch {
            throw ReelFailure(.notEncodable(said: "\(error)"))
        }
    }

    /// Decodes the file at `path`. If decoding fails, the failure names the file.
    package static func checked<Value>(_ path: String, _ decode: () throws -> Value) throws(ReelFailure) -> Value {
        do {
            return try decode()
        } catch let failure as ReelFailure {
            throw failure
        } catch {
            throw ReelFailure(.storeFileDamaged(path: path, said: "\(error)"))
        }
    }
}

/// A file with a secret: the address of Redis, which may have a password in it, or a server's tokens.
package enum SecretFile {
    /// Whose secret it is, which decides about the failures.
    package enum Owner: Sendable {
        case redis, server
    }

    /// The text of a file of 64 KiB at most. Links are followed: container platforms put their secrets behind some.
    ///
    /// Throws `.redisFileUnusable` or `.secretFileUnusable` if it cannot be read, and `.redisFileOpen` or
    /// `.secretFileOpen` if all users can read it or its group can change it.
    package static func read(_ path: String, of owner: Owner = .redis) throws(ReelFailure) -> String {
        do throws(SystemCode) {
            let file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCode(EINVAL) }
            if status.st_mode & 0o027 == 0 { return String(decoding: try file.read(1 << 16, at: 0), as: UTF8.self) }
        } catch {
            throw unusable(path, owner, error.value)
        }
        throw ReelFailure(owner == .redis ? .redisFileOpen(path: path) : .secretFileOpen(path: path))
    }

    /// Replaces a server's file at once, as a whole; only its owner can read it.
    ///
    /// Throws `.secretFileUnusable`.
    package static func write(_ text: String, to path: String) throws(ReelFailure) {
        do throws(SystemCode) {
            try Files.place(at: path) { temporary throws(SystemCode) in
                try AtomicFile.writeDurably(Array(text.utf8), to: temporary, mode: 0o600)
            }
        } catch {
            throw unusable(path, .server, error.value)
        }
    }

    private static func unusable(_ path: String, _ owner: Owner, _ errno: CInt) -> ReelFailure {
        ReelFailure(
            owner == .redis
                ? .redisFileUnusable(path: path, errno: errno) : .secretFileUnusable(path: path, errno: errno))
    }
}

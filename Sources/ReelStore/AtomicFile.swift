internal import Glibc
package import ReelCore

/// Files that are whole or not there: written under a temporary name in the same folder, synced, renamed.
package enum AtomicFile {
    /// Writes `bytes` to `path`, replacing an earlier file, and returns when they are durable.
    ///
    /// Throws `.unreachable`, with cause no-space if the disk is full; nothing stays behind then.
    package static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        let temporary = Files.temporaryName(beside: path)
        do {
            try writeDurably(bytes, to: temporary)
            try Files.rename(temporary, to: path)
            try Files.syncFolder(Files.folder(of: path))
        } catch {
            unlink(temporary)
            throw SystemError.store(.write, path, error.value)
        }
    }

    /// Writes `bytes` to `path` unless something is there, and returns when they are durable. False if something is: it
    /// stays as it is.
    ///
    /// Throws as `write` does.
    package static func create(_ bytes: [UInt8], at path: String) throws(ReelFailure) -> Bool {
        let temporary = Files.temporaryName(beside: path)
        do {
            try writeDurably(bytes, to: temporary)
            try Files.renameExclusively(temporary, to: path)
            try Files.syncFolder(Files.folder(of: path))
            return true
        } catch {
            unlink(temporary)
            if error.value == EEXIST { return false }
            throw SystemError.store(.write, path, error.value)
        }
    }

    static func writeDurably(_ bytes: [UInt8], to path: String) throws(SystemCode) {
        let file = try Descriptor(open: path, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(bytes[...])
        try file.sync()
    }

    /// Writes a value as JSON whose bytes are the same for the same value: keys sorted, no spaces.
    package static func write(json value: some Encodable, to path: String) throws(ReelFailure) {
        try write(json(of: value), to: path)
    }

    /// The largest record that is read, in bytes. For files that may be larger the caller gives the limit.
    package static let mostBytes: Int64 = 16 << 20

    /// The whole file. Throws `.unreachable` if it cannot be read or is larger than `mostBytes`: others may write in a
    /// store, and one file must not take all memory.
    package static func read(_ path: String, mostBytes: Int64 = mostBytes) throws(ReelFailure) -> [UInt8] {
        let size: Int64
        do {
            let file = try Descriptor(regular: path)
            size = Int64(try file.status().st_size)
            if size <= mostBytes { return try file.readAll() }
        } catch {
            throw SystemError.store(.read, path, error.value)
        }
        throw ReelFailure(
            .storeFileDamaged(path: path, said: "\(size) bytes, of which it has \(mostBytes) at the most"))
    }

    /// The value that a JSON file holds. Throws `.unreachable` if it cannot be read or is something else.
    package static func read<Value: Decodable>(
        json type: Value.Type, from path: String, mostBytes: Int64 = mostBytes
    ) throws(ReelFailure) -> Value {
        let bytes = try read(path, mostBytes: mostBytes)
        return try checked(path) { try CanonicalJSON.value(type, from: bytes) }
    }

    static func json(of value: some Encodable) throws(ReelFailure) -> [UInt8] {
        do {
            return try CanonicalJSON.bytes(of: value)
        } catch {
            throw ReelFailure(.notEncodable(said: "\(error)"))
        }
    }

    /// Decodes the file at `path`. If decoding fails, the failure names the file.
    static func checked<Value>(_ path: String, _ decode: () throws -> Value) throws(ReelFailure) -> Value {
        do {
            return try decode()
        } catch let failure as ReelFailure {
            throw failure
        } catch {
            throw ReelFailure(.storeFileDamaged(path: path, said: "\(error)"))
        }
    }
}

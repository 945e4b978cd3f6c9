internal import FoundationEssentials
internal import Glibc
public import ReelCore

/// Files that are whole or not there: written under a temporary name in the same folder, synced, renamed.
public enum AtomicFile {
    /// Writes `bytes` to `path`, replacing what was there, and returns when they are durable.
    ///
    /// Throws `.unreachable`, with cause no-space where the disk is full; nothing stays behind then.
    public static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        let temporary = Files.temporaryName(beside: path)
        do {
            try writeDurably(bytes, to: temporary)
            try Files.rename(temporary, to: path)
            try Files.syncFolder(Files.folder(of: path))
        } catch {
            unlink(temporary)
            throw SystemError.store("write", path, error.value)
        }
    }

    private static func writeDurably(_ bytes: [UInt8], to path: String) throws(SystemCode) {
        let file = try Descriptor(open: path, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(bytes[...])
        try file.sync()
    }

    /// Writes a value as JSON whose bytes are the same for the same value: keys sorted, no spaces.
    public static func write(json value: some Encodable, to path: String) throws(ReelFailure) {
        try write(CanonicalJSON.bytes(of: value), to: path)
    }

    /// The whole file. Throws `.unreachable` where it cannot be read.
    public static func read(_ path: String) throws(ReelFailure) -> [UInt8] {
        do {
            return try Descriptor(open: path, O_RDONLY).readAll()
        } catch {
            throw SystemError.store("read", path, error.value)
        }
    }

    /// The value that a JSON file holds. Throws `.unreachable` where it cannot be read or is something else.
    public static func read<Value: Decodable>(json type: Value.Type, from path: String) throws(ReelFailure) -> Value {
        try CanonicalJSON.value(type, from: read(path), of: path)
    }
}

/// JSON with sorted keys: what is hashed must not depend on the order of a dictionary.
enum CanonicalJSON {
    static func bytes(of value: some Encodable) throws(ReelFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw ReelFailure(.job, "cannot be written as JSON: \(error)")
        }
    }

    static func value<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], of path: String
    ) throws(ReelFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw ReelFailure(.unreachable, "\(path) is not what reel wrote: \(error)")
        }
    }
}

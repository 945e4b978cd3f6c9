import Foundation
import Glibc
internal import ReelCore

/// A folder of its own for bytes that an engine reads or writes: locators are files. It is removed with the last
/// reference.
final class Room: Sendable {
    let path: String

    init(in parent: String) throws(ReelFailure) {
        path = parent + "/" + UUID().uuidString
        guard mkdir(path, 0o700) == 0 else { throw Room.failure(path) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func locator(_ name: String) -> Locator { .file("\(path)/\(name)") }

    func write(_ bytes: [UInt8], as name: String) throws(ReelFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        } catch {
            throw Room.failure(path)
        }
    }

    /// Nil if there is no such file.
    func read(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: "\(path)/\(name)"))).map { Array($0) }
    }

    /// The size of a file in bytes; nil if there is none.
    func size(of name: String) -> Int64? {
        var status = stat()
        return stat("\(path)/\(name)", &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Copies a file from elsewhere, which then has this modification time.
    func copy(_ file: String, as name: String, mtimeNanoseconds: Int64) throws(ReelFailure) {
        let copy = "\(path)/\(name)"
        let (seconds, rest) = mtimeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        guard (try? FileManager.default.copyItem(atPath: file, toPath: copy)) != nil,
            utimensat(AT_FDCWD, copy, [time, time], 0) == 0
        else { throw Room.failure(copy) }
    }

    static func failure(_ path: String) -> ReelFailure {
        ReelFailure(.storeUnusable(doing: .write, path: path, errno: errno))
    }
}

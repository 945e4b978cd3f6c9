internal import CSandbox
internal import Foundation
internal import Glibc
package import ReelCore

/// What a program that holds secrets and starts engines does for itself.
package enum OwnProcess {
    /// Closes this process's memory and environment to other processes of its user, such as engines, makes it the parent
    /// of processes that an engine leaves behind, and keeps libdispatch's own messages out of the system's log, unless
    /// the environment says where they go: at each start it asks for a priority that services and users may not have,
    /// and reports the refusal as an error, though nothing depends on it.
    ///
    /// Call it first in `main`, before anything asynchronous: it changes the environment, and libdispatch reads that
    /// when it starts its first thread.
    package static func prepare() {
        setenv("LIBDISPATCH_LOG", "NO", 0)
        _ = reel_close_memory()
        if reel_adopt_orphans() == 0 { Children.own.adopt() }
    }

    /// Returns freed memory to the system. glibc keeps a heap for each of several threads, and does not return free
    /// memory that lies in a heap below a block in use.
    package static func returnFreeMemory() { reel_return_memory() }
}

/// The folder of reel's programs, which contains the running program.
package struct Programs: Sendable {
    package let folder: String

    /// The folder of the running executable, links resolved.
    ///
    /// Throws `.programsNotFound` if the system does not tell which executable is running.
    package init() throws(ReelFailure) {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw ReelFailure(.programsNotFound)
        }
        folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    /// Path of one of reel's programs. Throws `.programMissing` if the folder does not contain it.
    package func path(_ name: String) throws(ReelFailure) -> String {
        let path = folder + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ReelFailure(.programMissing(name: name, folder: folder))
        }
        return path
    }

    /// Path of a program of the system, looked up in PATH as a shell does; nil if it is not installed.
    package static func installed(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A folder of this process alone, under the temporary directory. It is removed with the object.
package final class PrivateFolder: Sendable {
    package let path: String
    /// Whether it lies in the directory for temporary files, so that it can take large ones, too.
    package let isInTemporary: Bool

    /// Throws `.folderUnwritable` if no folder can be made.
    package init() throws(ReelFailure) {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        // The path of a socket holds 107 bytes at most.
        let root = base.utf8.count <= 70 ? base : "/tmp"
        isInTemporary = root == base
        var template = Array("\(root)/reel-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ReelFailure(.folderUnwritable(path: root, errno: errno)) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

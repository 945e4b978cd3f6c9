internal import Foundation
package import ReelCore

/// The folder of reel's programs: the one that the running program is in.
package struct Programs: Sendable {
    /// Path of the folder.
    package let folder: String

    /// The folder of the running executable, links resolved.
    ///
    /// Throws `.unreachable` if the system does not tell which executable is running.
    package init() throws(ReelFailure) {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw ReelFailure(.programsNotFound)
        }
        folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    /// Path of one of reel's programs. Throws `.unreachable` if it is not there.
    package func path(_ name: String) throws(ReelFailure) -> String {
        let path = folder + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ReelFailure(.programMissing(name: name, folder: folder))
        }
        return path
    }

    /// Path of a program that the system has, looked up in PATH as a shell does; nil if it is not installed.
    package static func installed(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

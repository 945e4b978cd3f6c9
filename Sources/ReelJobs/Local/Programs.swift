internal import Foundation
public import ReelCore

/// Where reel's programs are: beside the one that asks.
public struct Programs: Sendable {
    public let folder: String

    /// The folder of the running executable, links resolved.
    ///
    /// Throws `.unreachable` where the system does not say what is running.
    public init() throws(ReelFailure) {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw ReelFailure(.programsNotFound)
        }
        folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    /// Path of a program of reel's. Throws `.unreachable` where it is not there.
    public func path(_ name: String) throws(ReelFailure) -> String {
        let path = folder + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ReelFailure(.programMissing(name: name, folder: folder))
        }
        return path
    }

    /// Path of a program that the system has, found as a shell finds it; nil where it is not installed.
    static func installed(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

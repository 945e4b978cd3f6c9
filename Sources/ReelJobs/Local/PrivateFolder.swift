internal import Foundation
package import ReelCore

/// A folder of this process alone, under the temporary directory. It is removed with the object.
package final class PrivateFolder: Sendable {
    package let path: String
    /// Whether it is where temporary files go, so that it is as good for large ones.
    let isInTemporary: Bool

    /// Throws `.unreachable` if none can be made.
    package init() throws(ReelFailure) {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        // The path of a socket holds 107 bytes at most.
        let root = base.utf8.count <= 70 ? base : "/tmp"
        isInTemporary = root == base
        var template = Array("\(root)/reel-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ReelFailure(.folderUnwritable(path: root, errno: errno))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

import Foundation
import ReelCore
import ReelStore

/// A folder for files of a test, which goes with this object.
final class ResultFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/reel-results-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A result with these bytes.
    func result(_ bytes: Data) throws -> StoredResult {
        let file = "\(path)/\(UUID().uuidString).mp4"
        try bytes.write(to: URL(filePath: file))
        return StoredResult(
            job: JobID("0123456789abcdef"), locator: .file(file),
            recorded: JobResult(
                name: "output.mp4", bytes: Int64(bytes.count), sha256: Fingerprint.sha256Hex(Array(bytes))))
    }
}

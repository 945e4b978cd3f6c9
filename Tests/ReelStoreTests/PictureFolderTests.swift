import Foundation
import ReelCore
import ReelStore
import Testing

/// Pictures of a job for people.
@Suite struct PictureFolderTests {
    private let root = NSTemporaryDirectory() + "reel-pictures-" + UUID().uuidString

    @Test func theOldestPicturesMakeRoom() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let job = try FolderStore.make(root: root).job(JobID("a1"))
        _ = try job.engineFolders()
        let names = (0..<5).map { PictureName(sourceOf: "abc", frame: $0) }
        for (age, name) in names.enumerated() {
            _ = try job.roomForPicture(of: 3)
            let path = job.place(of: name).name
            try Data("picture".utf8).write(to: URL(fileURLWithPath: path))
            let time = Date(timeIntervalSince1970: 1_000_000 + Double(age))
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        }
        #expect(names.map { job.picture($0) != nil } == [false, false, true, true, true])
    }

    @Test func aJobThatIsGoneDoesNotComeBackForAPicture() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let job = try FolderStore.make(root: root).job(JobID("a1"))
        #expect(throws: ReelFailure.self) { try job.roomForPicture(of: 3) }
        #expect(!FileManager.default.fileExists(atPath: root + "/jobs/a1"))
    }
}

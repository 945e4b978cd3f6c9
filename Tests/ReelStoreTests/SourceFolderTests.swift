import Foundation
import ReelCore
import ReelStore
import Synchronization
import Testing

@Suite("What the store keeps of a source")
struct SourceFolderTests {
    private let hash = Fingerprint.sha256Hex(Array("index".utf8))

    /// Takes an index in as recon would leave it.
    private func adopt(_ text: String, _ kind: IndexKind, into folder: SourceFolder, _ store: FolderStore) throws
        -> String
    {
        let draft = try folder.draft()
        try write(text, draft.locator.name)
        return try folder.keep(draft, as: kind)
    }

    @Test("A source's folder is named by its fingerprint, an index by its kind, version and hash")
    func finds() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let folder = try store.source(fingerprint)
            #expect(try adopt("index", .index, into: folder, store) == hash)
            let decoded = try adopt("decoded", .decoded, into: folder, store)
            let again = try store.source(fingerprint)
            #expect(again.path == folder.path)
            #expect(try #require(again.index(.index)) == (hash, .file("\(folder.path)/index.v6.\(hash)")))
            #expect(again.locator(of: decoded) == .file("\(folder.path)/decoded.v6.\(decoded)"))
            #expect(try names(root + "/sources").allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
        }
    }

    @Test("Programs that begin at the same moment leave each other's temporary folders alone")
    func draftsAtOnce() throws {
        try withFolder { root in
            let folder = try FolderStore.make(root: root).source(fingerprint)
            let failures = Mutex<[ReelFailure]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<300 {
                    do throws(ReelFailure) {
                        let draft = try folder.draft()
                        let path = (draft.locator.name as NSString).deletingLastPathComponent
                        #expect(FileManager.default.fileExists(atPath: path))
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }

    @Test("Indexes of other versions, and files with other names, are ignored")
    func versions() throws {
        try withFolder { root in
            let folder = try FolderStore.make(root: root).source(fingerprint)
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            for name in [
                "index.v3.\(hash)", "index.v04.\(hash)", "index.4.\(hash)", "index.v6.\(hash.uppercased())",
                "index.v6.\(hash.dropLast())", "index", "index.v4.\(hash).part", "tail.v4.\(hash)",
            ] {
                try write("", "\(folder.path)/\(name)")
            }
            #expect(folder.index(.index) == nil)
        }
    }

    @Test("When the last source is removed, nothing keeps the store's folder")
    func unused() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            _ = try adopt("index", .index, into: store.source(fingerprint), store)
            let job = store.job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            store.removeUnusedSources()
            #expect(try store.source(fingerprint).index(.index) != nil)
            try job.remove()
            store.removeIfEmpty()
            #expect(try names(root) == ["sources"])
            store.removeUnusedSources()
            store.removeIfEmpty()
            #expect(!FileManager.default.fileExists(atPath: root))
        }
    }

    @Test("If a job cannot be read, no source is removed, since it may belong to that job")
    func unreadable() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            _ = try adopt("index", .index, into: store.source(fingerprint), store)
            let job = store.job(JobID("a1"))
            try job.create()
            try write(#"{"version":3}"#, job.jobFile)
            store.removeUnusedSources()
            #expect(try store.source(fingerprint).index(.index) != nil)
        }
    }
}

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

import Foundation
import ReelCore
import ReelStore
import ReelWords
import Testing

@Suite("Atomic files")
struct AtomicFileTests {
    @Test("What is written replaces what was there, and leaves nothing else")
    func replaces() throws {
        try withFolder { folder in
            let path = folder + "/" + String(repeating: "n", count: 255)
            try AtomicFile.write(Array("first".utf8), to: path)
            try AtomicFile.write(Array("second".utf8), to: path)
            #expect(try text(path) == "second")
            #expect(try AtomicFile.read(path) == Array("second".utf8))
            #expect(try names(folder).count == 1)
        }
    }

    @Test("A scratch file is new, and is read like any other")
    func scratch() throws {
        try withFolder { folder in
            let path = folder + "/plan.json"
            try AtomicFile.write(json: ["a": 1], toScratch: path)
            #expect(try AtomicFile.read(json: [String: Int].self, from: path) == ["a": 1])
            #expect(throws: ReelFailure.self) { try AtomicFile.write(json: ["a": 2], toScratch: path) }
            #expect(try text(path) == #"{"a":1}"#)
        }
    }

    @Test("Of several processes that create a file at the same time one succeeds, and its file stays")
    func creates() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let makers = try await withThrowingTaskGroup(of: UInt8?.self) { group in
            for number in 1...8 as ClosedRange<UInt8> {
                group.addTask { try AtomicFile.create([number], at: folder + "/file") ? number : nil }
            }
            return try await group.reduce(into: [UInt8]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(makers.count == 1)
        #expect(try AtomicFile.read(folder + "/file") == makers)
        #expect(try names(folder) == ["file"])
    }

    @Test("A reader sees the old file or the new one, whole")
    func readers() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/file"
        let size = 300_000
        try AtomicFile.write([UInt8](repeating: 0, count: size), to: path)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for round in 1...50 { try AtomicFile.write([UInt8](repeating: UInt8(round), count: size), to: path) }
            }
            group.addTask {
                var last: UInt8 = 0
                while last < 50 {
                    let bytes = try AtomicFile.read(path)
                    try #require(bytes.count == size)
                    try #require(bytes.allSatisfy { $0 == bytes[0] })
                    #expect(bytes[0] >= last)
                    last = bytes[0]
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A file that cannot be written is named, with the reason")
    func failing() throws {
        try withFolder { folder in
            let failure = #expect(throws: ReelFailure.self) { try AtomicFile.write([1], to: folder + "/no/file") }
            #expect(failure?.words == "cannot write \(folder)/no/file: No such file or directory")
            #expect(failure?.kind == .unreachable)
            #expect(failure?.cause == .incompatible)
        }
    }

    @Test(
        "A full disk has a failure of its own, and nothing half-written stays",
        .enabled(if: canMount, "cannot mount a tmpfs"))
    func full() throws {
        try withFileSystem("size=64k") { folder throws in
            let bytes = [UInt8](repeating: 7, count: 100_000)
            let failure = #expect(throws: ReelFailure.self) { try AtomicFile.write(bytes, to: folder + "/file") }
            #expect(failure?.cause == .noSpace)
            #expect(failure?.words == "cannot write \(folder)/file: No space left on device")
            #expect(try names(folder).isEmpty)
        }
    }

    @Test("JSON has one form, and a foreign file is named")
    func json() throws {
        try withFolder { folder in
            try AtomicFile.write(json: ["b": "x/y", "a": "z"], to: folder + "/json")
            #expect(try text(folder + "/json") == #"{"a":"z","b":"x/y"}"#)
            try write("{", folder + "/broken")
            let failure = #expect(throws: ReelFailure.self) {
                try AtomicFile.read(json: [String: String].self, from: folder + "/broken")
            }
            #expect(failure?.words.hasPrefix("\(folder)/broken is not what reel wrote") == true)
        }
    }
}

@Suite("Fingerprints")
struct FingerprintTests {
    @Test("SHA-256 of bytes and of files of several blocks")
    func hashes() throws {
        // FIPS 180-2, appendix B.1 and B.3.
        #expect(
            Fingerprint.sha256Hex(Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        try withFolder { folder in
            let path = folder + "/a"
            try write(String(repeating: "a", count: 1_000_000), path)
            #expect(
                try Fingerprint.sha256Hex(of: path)
                    == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
            let long = [UInt8](repeating: 97, count: 3 << 20) + [98]
            try AtomicFile.write(long, to: path)
            #expect(try Fingerprint.sha256Hex(of: path) == Fingerprint.sha256Hex(long))
        }
    }

    @Test("A file keeps its fingerprint until its size or time changes")
    func changes() throws {
        try withFolder { folder in
            let path = folder + "/source"
            try write("frames", path)
            let before = try Fingerprint.of(path)
            #expect(before.size == 6)
            #expect(before.edges == Fingerprint.sha256Hex(Array("framesframes".utf8)))
            #expect(abs(Double(before.mtimeNanoseconds) / 1e9 - Date().timeIntervalSince1970) < 60)
            #expect(try before.matches(.file(path)))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
            #expect(try Fingerprint.of(path).mtimeNanoseconds == 1_000_000_000)
            #expect(try !before.matches(.file(path)))
        }
    }

    @Test("The first and the last MiB count, and nothing between")
    func edges() throws {
        try withFolder { folder in
            let (path, mebibyte) = (folder + "/source", 1 << 20)
            var bytes = (0..<2 * mebibyte + 3).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            func edges() throws -> String {
                try AtomicFile.write(bytes, to: path)
                return try Fingerprint.of(path).edges
            }
            let first = try edges()
            #expect(first == Fingerprint.sha256Hex(Array(bytes.prefix(mebibyte) + bytes.suffix(mebibyte))))
            bytes[mebibyte + 1] ^= 1
            #expect(try edges() == first)
            var seen: Set = [first]
            for place in [0, mebibyte - 1, mebibyte + 3, bytes.count - 1] {
                bytes[place] ^= 1
                #expect(try seen.insert(edges()).inserted, "byte \(place)")
            }
        }
    }

    @Test("An empty file is refused")
    func empty() throws {
        try withFolder { folder in
            let path = folder + "/source"
            try write("", path)
            let failure = #expect(throws: ReelFailure.self) { try Fingerprint.of(path) }
            #expect(failure?.reason == .sourceEmpty(path: path))
        }
    }

    @Test("An input that is not a regular file is refused", arguments: ["missing", "folder", "pipe"])
    func refusals(_ what: String) throws {
        try withFolder { folder in
            let path = "\(folder)/\(what)"
            if what == "folder" {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            if what == "pipe" { try #require(mkfifo(path, 0o600) == 0) }
            let failure = #expect(throws: ReelFailure.self) { try Fingerprint.of(path) }
            #expect(failure?.exitCode == 3)
            let reasons: [String: FailureReason] = [
                "missing": .sourceInaccessible(path: path, errno: ENOENT), "folder": .sourceIsFolder(path: path),
                "pipe": .sourceNotAFile(path: path),
            ]
            #expect(failure?.reason == reasons[what])
            #expect(failure?.words.contains(path) == true)
        }
    }
}

/// Which uploads count, and for how long.
@Suite("Uploads in a folder")
struct UploadsTests {
    private func record(_ bytes: Int64, owner: String? = nil) -> Uploads.Record {
        Uploads.Record(length: bytes, name: "film.mp4", owner: owner, lifetime: 3600)
    }

    /// An upload of five bytes that are there.
    private func upload(to store: FolderStore, owner: String? = nil) throws -> Upload {
        let upload = try #require(try store.uploads.create(record(5, owner: owner), quota: 100, most: 8))
        let writer = try #require(try upload.writer(isChecked: false))
        try writer.write(Array("video".utf8)[...])
        try writer.finish()
        _ = try upload.path(named: "film.mp4")
        return upload
    }

    private var now: Double { Date().timeIntervalSince1970 }

    @Test("An upload whose bytes a job has counts until the job has them no more", arguments: [false, true])
    func kept(byExpiry: Bool) throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            let upload = try upload(to: store, owner: "alice")
            let job = store.job(JobID("a1"))
            #expect(try job.create(ReelStoreTests.record(job.id)))
            try job.take(upload, as: "film.mp4", Fingerprint.of(upload.path(named: "film.mp4")))
            if byExpiry {
                try store.uploads.removeExpired(now: now + 7200)
            } else {
                #expect(try upload.end())
            }
            #expect(try store.uploads.upload(upload.id, now: now) == nil)
            #expect(!FileManager.default.fileExists(atPath: "\(store.uploads.folder)/\(upload.id)/file/film.mp4"))
            try store.uploads.removeExpired(now: now)
            #expect(try store.uploads.bytes() == 5)
            #expect(try store.uploads.bytesByOwner() == ["alice": 5])
            #expect(try store.uploads.create(record(96), quota: 100, most: 8) == nil)
            // It does not count towards the most.
            #expect(try store.uploads.create(record(0), quota: 100, most: 1) != nil)

            try job.remove()
            #expect(try store.uploads.bytes() == 0)
            #expect(try store.uploads.create(record(100), quota: 100, most: 8) != nil)
            try store.uploads.removeExpired(now: now)
            #expect(!FileManager.default.fileExists(atPath: "\(store.uploads.folder)/\(upload.id)"))
        }
    }

    @Test("An upload that no job has leaves nothing, and gives its bytes to none any more")
    func removed() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            let upload = try upload(to: store)
            #expect(try upload.end())
            #expect(!FileManager.default.fileExists(atPath: "\(store.uploads.folder)/\(upload.id)"))
            #expect(try store.uploads.bytes() == 0)
            let job = store.job(JobID("a1"))
            #expect(try job.create(ReelStoreTests.record(job.id)))
            let fingerprint = Fingerprint(size: 5, mtimeNanoseconds: 0, edges: "")
            #expect(throws: ReelFailure.self) { try job.take(upload, as: "film.mp4", fingerprint) }
        }
    }

    @Test("An owner has a quarter of the number of uploads, so that others have room")
    func number() throws {
        try withFolder { folder in
            let uploads = try FolderStore.make(root: folder + "/store").uploads
            func create(_ owner: String?) throws -> Upload? {
                try uploads.create(record(0, owner: owner), quota: 100, most: 8)
            }
            let first = try #require(try create("alice"))
            #expect(try create("alice") != nil)
            #expect(try create("alice") == nil)
            #expect(try create("bob") != nil)
            #expect(try first.end())
            #expect(try create("alice") != nil)
            for _ in 0..<5 { #expect(try create(nil) != nil) }
            #expect(try create("carol") == nil, "all eight are there")
        }
    }

    @Test("The uploads of an owner have no more bytes than the owner may have, whether their lengths are known or not")
    func ownQuota() throws {
        try withFolder { folder in
            let uploads = try FolderStore.make(root: folder + "/store").uploads
            func create(_ bytes: Int64?, _ owner: String) throws -> Upload? {
                let record = Uploads.Record(length: bytes, name: "film.mp4", owner: owner, lifetime: 3600)
                return try uploads.create(record, quota: 100, ownQuota: 50, most: 8)
            }
            #expect(try create(51, "alice") == nil)
            let first = try #require(try create(30, "alice"))
            #expect(try create(21, "alice") == nil)
            #expect(try create(21, "bob") != nil)
            let open = try #require(try create(nil, "alice"))
            #expect(try !uploads.reserve(21, for: open, quota: 100, ownQuota: 50))
            #expect(try uploads.reserve(20, for: open, quota: 100, ownQuota: 50))
            #expect(try !uploads.state(21, of: open, quota: 100, ownQuota: 50))
            #expect(try uploads.state(20, of: open, quota: 100, ownQuota: 50))
            #expect(try uploads.bytesByOwner() == ["alice": 50, "bob": 21])
            #expect(try create(1, "alice") == nil)
            #expect(try first.end())
            #expect(try create(31, "alice") == nil)
            #expect(try create(30, "alice") != nil)
        }
    }

    @Test("Of the holders of an owner's lock one has it at a time")
    func lock() throws {
        try withFolder { folder in
            let uploads = try FolderStore.make(root: folder + "/store").uploads
            let lock = try uploads.lock(owner: "alice")
            let other = try uploads.lock(owner: "bob")
            other.release()
            lock.release()
            try uploads.lock(owner: "alice").release()
        }
    }
}

import Foundation
import ReelCore
import ReelStore
import Testing

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
            try upload.give(to: job, as: "film.mp4")
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
            #expect(throws: ReelFailure.self) { try upload.give(to: job, as: "film.mp4") }
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

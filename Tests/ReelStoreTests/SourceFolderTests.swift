import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("What the store keeps of a source")
struct SourceFolderTests {
    private let hash = Fingerprint.sha256Hex(Array("index".utf8))

    private func other(_ number: Int64) -> Fingerprint {
        var other = fingerprint
        other.size += number
        return other
    }

    /// Takes an index in as recon would leave it.
    private func adopt(_ text: String, _ kind: IndexKind, into folder: SourceFolder, _ store: FolderStore) throws
        -> String
    {
        let draft = try folder.draft()
        try write(text, draft.locator.name)
        return try folder.keep(draft, as: kind)
    }

    @Test("An index is found by its source and kind, and by its hash")
    func finds() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let folder = try store.source(fingerprint)
            #expect(folder.index(.index) == nil)
            #expect(folder.locator(of: hash) == nil)
            #expect(try adopt("index", .index, into: folder, store) == hash)
            let head = try adopt("head", .head, into: folder, store)
            let again = try store.source(fingerprint)
            #expect(again.path == folder.path)
            #expect(try #require(again.index(.index)) == (hash, .file("\(folder.path)/index.v5.\(hash)")))
            #expect(again.index(.head)?.hash == head)
            #expect(again.locator(of: head) == .file("\(folder.path)/head.v5.\(head)"))
            #expect(try text(#require(again.locator(of: hash)).name) == "index")
            #expect(try store.source(other(1)).index(.index) == nil)
            #expect(try names(root + "/sources").allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
        }
    }

    @Test("Of two indexes for the same source the first by name counts")
    func twice() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let folder = try store.source(fingerprint)
            let hashes = try ["index", "index", "other"].map { try adopt($0, .index, into: folder, store) }
            #expect(hashes[0] == hashes[1])
            #expect(try names(folder.path).count == 2)
            #expect(folder.index(.index)?.hash == hashes.min())
        }
    }

    @Test("Indexes of other versions, and files with other names, are ignored")
    func versions() throws {
        try withFolder { root in
            let folder = try FolderStore.make(root: root).source(fingerprint)
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            for name in [
                "index.v3.\(hash)", "index.v04.\(hash)", "index.4.\(hash)", "index.v5.\(hash.uppercased())",
                "index.v5.\(hash.dropLast())", "index", "index.v4.\(hash).part", "tail.v4.\(hash)",
            ] {
                try write("", "\(folder.path)/\(name)")
            }
            #expect(folder.index(.index) == nil)
        }
    }

    @Test("A plan's index that this host does not see excludes the host")
    func missing() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let failure = #expect(throws: ReelFailure.self) { try store.indexes(of: Samples.plan, record(JobID("a1"))) }
            let folder = try store.source(fingerprint).path
            #expect(failure?.reason == .indexMissing(hash: Samples.plan.sources[0].indexHash, folder: folder))
            #expect(failure?.cause == .incompatible)
        }
    }

    @Test("A job's index is read through its plan")
    func read() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let job = store.job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            let draft = try store.source(fingerprint).draft()
            try AtomicFile.write(Samples.index.encoded(), to: draft.locator.name)
            var plan = Samples.plan
            plan.sources[0].indexHash = try store.source(fingerprint).keep(draft, as: .index)
            #expect(try job.readIndexes(of: plan) == [Samples.index])
            // A plan may lie: of more sources than the record has, or of frames that no index has.
            let lies: [(inout Plan) -> Void] = [
                { $0.sources.append($0.sources[0]) }, { $0.clips[0].frameCount = 13 }, { $0.audio[0].track = 1 },
                { $0.clips[0].map.source = TimeBase(1, 25) },
            ]
            for (number, lie) in lies.enumerated() {
                var other = plan
                lie(&other)
                let failure = #expect(throws: ReelFailure.self, "lie \(number)") { try job.readIndexes(of: other) }
                #expect(failure?.reason.code == "job-file-unreadable" && failure?.cause == .incompatible)
            }
        }
    }

    @Test("Sources without a job are removed, the others are kept")
    func unused() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            for number in 0..<3 {
                _ = try adopt("index", .index, into: store.source(other(Int64(number))), store)
            }
            for number in 0..<2 {
                let job = store.job(JobID("a\(number)"))
                try job.create()
                var record = record(job.id)
                record.source.fingerprint = other(Int64(number))
                try job.write(record)
            }
            store.removeUnusedSources()
            let left = try (0..<3).map { try store.source(other(Int64($0))).index(.index) != nil }
            #expect(left == [true, true, false])
            try store.job(JobID("a0")).remove()
            try store.job(JobID("a1")).remove()
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

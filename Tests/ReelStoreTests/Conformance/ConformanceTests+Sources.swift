import Foundation
import ReelCore
import ReelStore
import Testing

extension ConformanceTests {
    private func other(_ number: Int64) -> Fingerprint {
        var other = fingerprint
        other.size += number
        return other
    }

    /// Keeps an index as recon leaves it.
    @discardableResult
    private func keep(_ text: String, _ kind: IndexKind = .index, in source: any SourceEntry) async throws -> String {
        let draft = try await source.draft()
        try write(text, draft.locator.name)
        return try await source.keep(draft, as: kind)
    }

    @Test("An index is found by its source and kind, and by its hash", arguments: StoreKind.all)
    func indexes(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let source = try store.source(fingerprint)
            let hash = Fingerprint.sha256Hex(Array("index".utf8))
            #expect(try await source.index(.index) == nil)
            #expect(try await source.locator(of: hash) == nil)
            #expect(try await keep("index", in: source) == hash)
            let sound = try await keep("sound", .sound, in: source)
            let again = try store.source(fingerprint)
            let (found, locator) = try #require(try await again.index(.index))
            #expect(found == hash)
            #expect(try text(locator.name) == "index")
            #expect(try await again.locator(of: hash) == locator)
            #expect(try await again.index(.sound)?.hash == sound)
            #expect(try text(#require(try await again.locator(of: sound)).name) == "sound")
            #expect(try await again.index(.decoded) == nil)
            #expect(try await store.source(other(1)).index(.index) == nil)
        }
    }

    @Test("Of two indexes for the same source the first by hash counts; both stay", arguments: StoreKind.all)
    func twoIndexes(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let source = try store.source(fingerprint)
            var hashes: [String] = []
            for text in ["index", "index", "other"] { hashes.append(try await keep(text, in: source)) }
            #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
            #expect(try await source.index(.index)?.hash == hashes.min())
            #expect(try text(#require(await source.locator(of: hashes[0])).name) == "index")
            #expect(try text(#require(await source.locator(of: hashes[2])).name) == "other")
        }
    }

    @Test("Tasks that keep the same index at once keep one", arguments: StoreKind.all)
    func keptAtOnce(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let source = try store.source(fingerprint)
            let hashes = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await keep("index", in: source) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(hashes.count == 1)
            #expect(try text(#require(await source.index(.index)).locator.name) == "index")
        }
    }

    @Test("Each draft has a place of its own, and what is not kept is gone with it", arguments: StoreKind.all)
    func drafts(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let source = try store.source(fingerprint)
            let left: Locator
            do {
                let (one, two) = (try await source.draft(), try await source.draft())
                #expect(one.locator != two.locator)
                left = one.locator
                try write("half", left.name)
                #expect(isThere(left))
                withExtendedLifetime((one, two)) {}
            }
            #expect(!isThere(left))
            #expect(try await source.index(.index) == nil)
        }
    }

    @Test("A disproof stays, and is of one source", arguments: StoreKind.all)
    func disproof(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let source = try store.source(fingerprint)
            #expect(try await !source.isDisproved())
            for _ in 0..<2 { try await source.disprove(ReelFailure(.unexpected(said: "order"))) }
            #expect(try await store.source(fingerprint).isDisproved())
            #expect(try await !store.source(other(1)).isDisproved())
            #expect(try await source.index(.index) == nil)
        }
    }

    @Test("A plan's index that this machine does not see excludes the machine", arguments: StoreKind.all)
    func missingIndex(_ kind: StoreKind) async throws {
        try await kind.withJob { store, job in
            let failure = await #expect(throws: ReelFailure.self) {
                try await store.indexes(of: Samples.plan, record(job.id))
            }
            let folder = try store.source(fingerprint).name
            #expect(failure?.reason == .indexMissing(hash: Samples.plan.sources[0].indexHash, folder: folder))
            #expect(failure?.cause == .incompatible)
        }
    }

    @Test(
        "A job's index is read through its plan, which may not name what the index does not have",
        arguments: StoreKind.all)
    func readIndexes(_ kind: StoreKind) async throws {
        try await kind.withJob { store, job in
            let source = try store.source(fingerprint)
            let draft = try await source.draft()
            try AtomicFile.write(Samples.index.encoded(), to: draft.locator.name)
            var plan = Samples.plan
            plan.sources[0].indexHash = try await source.keep(draft, as: .index)
            let record = try await job.read()
            #expect(try await store.readIndexes(of: plan, record) == [Samples.index])
            let locators = try await store.indexes(of: plan, record)
            #expect(locators == [try #require(await source.index(.index)).locator])
            #expect(try await store.readIndex(locators[0]) == Samples.index)
            let lies: [(inout Plan) -> Void] = [
                { $0.sources.append($0.sources[0]) }, { $0.clips[0].rangeCount = 13 }, { $0.audio[0].track = 1 },
                { $0.clips[0].map.source = TimeBase(1, 25) },
            ]
            for (number, lie) in lies.enumerated() {
                var other = plan
                lie(&other)
                let failure = await #expect(throws: ReelFailure.self, "lie \(number)") {
                    try await store.readIndexes(of: other, record)
                }
                #expect(failure?.reason.code == "job-file-unreadable" && failure?.cause == .incompatible)
            }
        }
    }

    @Test("Sources that no job uses are removed, the others stay", arguments: StoreKind.all)
    func unusedSources(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for number in 0..<3 as Range<Int64> { try await keep("index", in: try store.source(other(number))) }
            for number in 0..<2 as Range<Int64> {
                let job = store.job(JobID("a\(number)"))
                var record = record(job.id)
                record.sources[0].fingerprint = other(number)
                #expect(try await job.create(record))
            }
            func left() async throws -> [Bool] {
                var left: [Bool] = []
                for number in 0..<3 as Range<Int64> {
                    left.append(try await store.source(other(number)).index(.index) != nil)
                }
                return left
            }
            await store.removeUnusedSources()
            #expect(try await left() == [true, true, false])
            try await store.job(JobID("a0")).remove()
            #expect(try await left() == [true, true, false])
            await store.removeUnusedSources()
            #expect(try await left() == [false, true, false])
        }
    }
}

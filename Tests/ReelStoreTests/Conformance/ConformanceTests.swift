import Foundation
import ReelCore
import ReelMemoryStore
import ReelStore
import Testing

/// What the comments of `JobStore`, `JobEntry` and `SourceEntry` promise, for every store.
@Suite("Every store")
struct ConformanceTests {
    @Test("An empty place has no identity; tasks that make it a store at once make one", arguments: StoreKind.all)
    func identity(_ kind: StoreKind) async throws {
        try await kind.withPlace { store, _ in
            #expect(try await store.identity() == nil)
            let ids = try await withThrowingTaskGroup(of: StoreID.self) { group in
                for _ in 0..<8 { group.addTask { try await store.establish() } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await store.identity() == ids.first)
            #expect(try await store.establish() == ids.first)
        }
        try await kind.withPlace { one, _ in
            let id = try await one.establish()
            try await kind.withPlace { other, _ async throws in #expect(try await other.establish() != id) }
        }
    }

    @Test(
        "A worker can work in an empty store and beside jobs, and leaves nothing of its trial", arguments: StoreKind.all
    )
    func trial(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.check()
            try await store.tryWorking()
            #expect(try await store.jobs().isEmpty)
            let job = store.job(JobID("a1"))
            #expect(try await job.create(record(job.id)))
            try await store.tryWorking()
            #expect(try await store.jobs() == [job.id])
        }
    }

    @Test("Jobs with a record are listed, sorted", arguments: StoreKind.all)
    func jobs(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let before = try await store.jobs()
            #expect(before.isEmpty)
            for id in ["b1", "a2"].map({ JobID($0) }) { #expect(try await store.job(id).create(record(id))) }
            _ = store.job(JobID("c3")).place(
                of: SegmentName(subject: SegmentSubject(clip: 0, part: .audio(track: 0)), token: "7e"))
            #expect(try await store.jobs() == [JobID("a2"), JobID("b1")])
            #expect(await !store.job(JobID("c3")).exists)
        }
    }

    // MARK: Records

    @Test("A record survives being written, and is created once", arguments: StoreKind.all)
    func records(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            var changed = record(job.id)
            #expect(try await job.read() == changed)
            changed.state = .failed
            changed.failure = ReelFailure(.encoderMissing(build: "libx264 1"))
            changed.paused = true
            #expect(try await !job.create(changed))
            #expect(try await job.read() == record(job.id))
            let written = try await job.change { [changed] in $0 = changed }
            #expect(try await job.read() == written)
            #expect(written.revision == 1)
            #expect(written.state == .failed && written.failure == changed.failure && written.paused)
        }
    }

    @Test("Of many changes of a record at once none is lost", arguments: StoreKind.all)
    func changedAtOnce(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        for round in 0..<10 { try await job.change { $0.webhooks.append("\(number) \(round)") } }
                    }
                }
                try await group.waitForAll()
            }
            let record = try await job.read()
            #expect(record.revision == 40)
            #expect(Set(record.webhooks).count == 40)
            for number in 0..<4 {
                let own = record.webhooks.filter { $0.hasPrefix("\(number) ") }
                #expect(own == (0..<10).map { "\(number) \($0)" })
            }
        }
    }

    @Test("What was decided by an earlier record is decided anew", arguments: StoreKind.all)
    func changedMeanwhile(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            var seen: [JobState?] = []
            try await job.change { record throws(ReelFailure) in
                seen.append(record.state)
                if seen.count == 1 { try await job.change { $0.end(.cancelled, at: 7) } }
                if record.state == nil { record.end(.done, at: 8) }
            }
            #expect(seen == [nil, .cancelled])
            #expect(try await job.read().state == .cancelled)
            #expect(try await job.read().finished == 7)
        }
    }

    @Test("Of several tasks that create a job at once, one does", arguments: StoreKind.all)
    func createdAtOnce(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let job = store.job(JobID("a1"))
            let made = try await withThrowingTaskGroup(of: Double?.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var record = record(job.id)
                        record.terms.weight = Double(number + 1)
                        return try await job.create(record) ? record.terms.weight : nil
                    }
                }
                return try await group.reduce(into: [Double]()) { if let weight = $1 { $0.append(weight) } }
            }
            #expect(made.count == 1)
            #expect(try await job.read().terms.weight == made.first)
        }
    }

    @Test("A record that is written and read at once is read as one of the writers had it", arguments: StoreKind.all)
    func wholeRecords(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            let paths = ["a", "b"].map { String(repeating: $0, count: 20_000) }
            func with(_ path: String) -> JobRecord {
                var record = record(job.id)
                record.sources[0].location = "/" + path
                return record
            }
            try await job.change { $0 = with(paths[0]) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for path in paths {
                    let record = with(path)
                    group.addTask { for _ in 0..<20 { try await job.change { $0.sources = record.sources } } }
                }
                let wanted = paths.map { "/" + $0 }
                group.addTask {
                    for _ in 0..<40 {
                        let path = try await job.read().source.path
                        #expect(wanted.contains(path))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A job that this machine does not see excludes the machine, not the job", arguments: StoreKind.all)
    func missing(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let job = store.job(JobID("a1"))
            let failure = await #expect(throws: ReelFailure.self) { try await job.read() }
            #expect(failure?.cause == .incompatible)
            guard case .jobUnknownHere(job.id, _)? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(await !job.exists)
            #expect(await failed { try await job.change { $0.paused = true } } == .unreachable)
            #expect(await !job.exists)
        }
    }

    private func failed(_ body: () async throws -> Void) async -> ReelFailure.Kind? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ReelFailure)?.kind
        }
    }

    // MARK: Plans

    @Test("Plans are numbered from 1 on, and none replaces another", arguments: StoreKind.all)
    func plans(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            #expect(try await job.latestPlan() == nil)
            #expect(try await job.planNumbers() == [])
            var first = Samples.plan
            #expect(try await job.writePlan(first) == 1)
            first.number = 1
            var second = Samples.plan
            second.need += 1
            second.number = 1
            #expect(try await job.writePlan(second) == 2)
            second.number = 2
            #expect(try await job.planNumbers() == [1, 2])
            #expect(try await job.readPlan(1) == first)
            #expect(try await job.readPlan(2) == second)
            #expect(try await job.latestPlan() == second)
            for plan in [first, second] {
                let bytes = try AtomicFile.read(job.plan(plan.number).name)
                #expect(try Plan.decoded(from: bytes) == plan, "as an engine reads it")
            }
            #expect(await failed { _ = try await job.readPlan(3) } == .unreachable)
        }
    }

    @Test("Plans that are written at the same time get different numbers", arguments: StoreKind.all)
    func plansAtOnce(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await job.writePlan(Samples.plan) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(numbers.sorted() == Array(1...8))
            #expect(try await job.planNumbers() == Array(1...8))
            for number in 1...8 { #expect(try await job.readPlan(number).number == number) }
        }
    }

    // MARK: Attempts

    @Test("What an engine said stays with its attempt", arguments: StoreKind.all)
    func attempts(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            #expect(await job.readAttempt(pass: 3, token: "7e") == nil)
            try await job.writeAttempt(pass: 3, token: "7e", standardError: "ouch")
            try await job.writeAttempt(pass: -1, token: "7e", standardError: "ä\n")
            #expect(await job.readAttempt(pass: 3, token: "7e") == "ouch")
            #expect(await job.readAttempt(pass: -1, token: "7e") == "ä\n")
            #expect(await job.readAttempt(pass: 3, token: "7f") == nil)
        }
    }

    // MARK: Copies of sources

    @Test("A source that is to be staged is read where it is until its copy is there", arguments: StoreKind.all)
    func staging(_ kind: StoreKind) async throws {
        try await kind.withPlace { store, files in
            _ = try await store.establish()
            let path = files + "/film.mkv"
            try write("film", path)
            let fingerprint = try Fingerprint.of(path)
            let source = JobSource(path: path, staged: "film.mkv", fingerprint: fingerprint)
            let unstaged = JobSource(path: path, fingerprint: fingerprint)
            let job = store.job(JobID("a1"))
            var record = record(job.id)
            record.sources[0] = source
            #expect(try await job.create(record))
            #expect(await !job.hasCopy(of: source))
            #expect(await job.presentLocator(of: source) == .file(path))
            var other = fingerprint
            other.mtimeNanoseconds -= 1_000_000_000
            let changed = await reason { try await job.stage(path, as: "film.mkv", other) }
            #expect(changed == .sourceChangedWhileCopied(path: path))
            #expect(await !job.hasCopy(of: source), "a copy that is not the source")

            try await job.stage(path, as: "film.mkv", fingerprint)
            #expect(await job.hasCopy(of: source))
            #expect(await !job.hasCopy(of: unstaged))
            let copy = job.locator(of: source)
            #expect(await job.presentLocator(of: source) == copy)
            #expect(copy != .file(path) && job.locator(of: unstaged) == .file(path))
            #expect(try text(copy.name) == "film")
            #expect(try fingerprint.matches(copy))
            #expect(try await job.open(copyOf: source).read(1..<3) == Array("il".utf8))
        }
    }
}

/// An implementation of `JobStore`.
struct StoreKind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens an empty place that is no store yet; it may use this empty folder.
    let open: @Sendable (_ folder: String) async throws -> any JobStore

    static let all = [
        StoreKind(testDescription: "folder") { try FolderStore(root: $0) },
        StoreKind(testDescription: "memory") { _ in try MemoryStore() },
        bucket,
    ]

    static let bucket = StoreKind(testDescription: "bucket") { try await StoreInBucket.open(scratch: $0) }

    /// Runs a test's body with an empty place, and a folder for files of the test's own.
    func withPlace(_ body: (_ store: any JobStore, _ files: String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["store", "files"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let store = try await open(folder + "/store")
        defer { StoreInBucket.close(store.name) }
        try await body(store, folder + "/files")
    }

    /// Runs a test's body with a store, an entry that has nothing yet, and a folder for files of the test's own.
    func withEntry(
        _ body: (_ store: any JobStore, _ job: any JobEntry, _ files: String) async throws -> Void
    ) async throws {
        try await withPlace { store, files in
            _ = try await store.establish()
            try await body(store, store.job(JobID("a1")), files)
        }
    }

    func withStore(_ body: (any JobStore) async throws -> Void) async throws {
        try await withEntry { store, _, _ in try await body(store) }
    }

    /// Runs a test's body with a store and a job that has nothing but its record.
    func withJob(_ body: (_ store: any JobStore, _ job: any JobEntry) async throws -> Void) async throws {
        try await withEntry { store, job, _ in
            #expect(try await job.create(record(job.id)))
            // Engines write where this has been called.
            _ = try await job.engineFolders()
            try await body(store, job)
        }
    }
}

/// The reason of a failure; nil if there is none.
func reason(_ body: () async throws -> Void) async -> FailureReason? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ReelFailure)?.reason
    }
}

func isThere(_ locator: Locator) -> Bool {
    StoreInBucket.has(locator.name) ?? FileManager.default.fileExists(atPath: locator.name)
}

import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelMemoryStore
import ReelRandom
import ReelRemote
import ReelStore
import ReelTestSupport
import Subprocess
import SystemPackage
import Testing

/// An object store that nobody here wrote, and that checks signatures: `REEL_OBJECT_STORE` is a program that serves one in a
/// folder (FOLDER PORT), with the buckets' owner test:tester, secret testing.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["REEL_OBJECT_STORE"] != nil, "set REEL_OBJECT_STORE to run these"))
struct RealStoreTests {
    private struct Server {
        let endpoint: String

        /// Serves a store meanwhile.
        static func with(_ body: (Server) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.path + "/reel-store-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let port = Int.random(in: 2400..<3200) * 10
            let server = Server(endpoint: "http://127.0.0.1:\(port)")
            let program = ProcessInfo.processInfo.environment["REEL_OBJECT_STORE"] ?? ""
            _ = try await Subprocess.run(
                .path(FilePath(program)), arguments: [folder, "\(port)"], input: .none, output: .discarded,
                error: .discarded
            ) { store in
                defer { try? store.send(signal: .terminate) }
                try await server.answers()
                try await body(server)
            }
        }

        private func answers() async throws {
            let sources = NetworkSources(
                SourceHosts([], buckets: nil), store(), scratch: FileManager.default.temporaryDirectory.path)
            for _ in 0..<20 {
                do throws(ReelFailure) { _ = try await sources.look(at: "s3://absent/a", 1) } catch {
                    if case .bucketMissing = error.reason { return }
                }
            }
            throw ReelFailure(.unexpected(said: "the store does not answer"))
        }

        func makeBucket(_ name: String) async throws {
            let host = ("Host", String(endpoint.dropFirst("http://".count)))
            let request = RequestSignature.Signed("PUT", path: "/\(name)", headers: [host])
            let keys = Credentials(id: "test:tester", secret: "testing")
            let headers = RequestSignature(keys, region: "us-east-1").headers(of: request, at: Date())
            let fields = headers.flatMap { ["-H", "\($0.name): \($0.value)"] }
            let outcome = try await Subprocess.run(
                .path("/usr/bin/curl"), arguments: Arguments(["-sf", "-X", "PUT", "\(endpoint)/\(name)"] + fields),
                output: .discarded)
            try #require(outcome.terminationStatus.isSuccess)
        }

        func store(secret: String = "testing", id: String = "test:tester") -> ObjectStore {
            ObjectStore(
                AWSSettings([
                    "AWS_ENDPOINT_URL_S3": endpoint, "AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": secret,
                ]))
        }
    }

    private let folder: ResultFolder

    init() throws { folder = try ResultFolder() }

    private func sources(_ store: ObjectStore) -> NetworkSources {
        NetworkSources(SourceHosts([], buckets: nil), store, scratch: folder.path)
    }

    @Test func theStoreTakesOddKeysLargeObjectsAndNoWrongSecret() async throws {
        try await Server.with { server in
            for bucket in ["footage", "results", "reel"] { try await server.makeBucket(bucket) }
            try await takesOddKeys(server.store())
            try await takesLargeObjects(server.store())
            try await refuses(server)
            try await keepsJobs(server)
        }
    }

    /// What a farm does with its store: records that several change at once, segments, results, lists of many keys.
    private func keepsJobs(_ server: Server) async throws {
        let locks = MemoryLocks()
        func opened() async throws -> BucketStore {
            try await BucketStore(
                StorePlace("s3://reel/work"), in: server.store(), locks: locks, scratch: folder.path)
        }
        let id = try await opened().establish()
        let stores = [try await opened(), try await opened()]
        for store in stores {
            #expect(try await store.identity() == id)
            try await store.check()
            try await store.tryWorking()
        }
        let source = JobSource(path: "/film.mkv", fingerprint: Fingerprint(size: 4, mtimeNanoseconds: 0, edges: "e"))
        let record = JobRecord(id: JobID("a1"), spec: JobSpec(container: .mkv), sources: [source], created: 1)
        let entries = stores.map { $0.job(record.id) }
        let made = try await [entries[0].create(record), entries[1].create(record)]
        #expect(made == [true, false])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for entry in entries {
                group.addTask { for round in 0..<5 { try await entry.change { $0.webhooks.append("\(round)") } } }
            }
            try await group.waitForAll()
        }
        #expect(try await entries[0].read().webhooks.count == 10)

        // What one machine writes, another reads.
        let content = randomBytes(20 << 20, seed: 54)
        let part = SegmentContent(part: .audio(track: 0), times: "t", target: "x")
        let segment = SegmentRecord(
            content: part, clip: 0, token: "aa", frames: 1, packets: 1, bytes: Int64(content.count),
            checksum: Fingerprint.sha256Hex(Array(content)), timeBase: TimeBase(1, 25), reorderDepth: 0,
            extradataHash: "")
        _ = try entries[0].engineFolders()
        let place = entries[0].place(of: segment.name)
        try content.write(to: URL(filePath: place.data.name))
        try AtomicFile.write(json: segment, to: place.record.name)
        try await entries[0].publish([segment])
        #expect(!FileManager.default.fileExists(atPath: place.data.name))
        #expect(await entries[1].wholeSegments([part]) == [segment])
        try await entries[1].bring([segment])
        let brought = entries[1].place(of: segment.name).data.name
        #expect(try Data(contentsOf: URL(filePath: brought)) == content)
        entries[1].giveBack([segment])
        #expect(!FileManager.default.fileExists(atPath: brought))
        try content.write(to: URL(filePath: entries[0].assembling(.mkv, token: "bb").name))
        let output = try await entries[0].adoptOutput(
            assembledBy: "bb", as: .mkv, bytes: segment.bytes, sha256: segment.checksum)
        try await entries[0].change { record throws(ReelFailure) in (record.result, record.state) = (output, .done) }
        let result = try await entries[1].local(entries[1].storedResult())
        #expect(try result.verify() == output)

        // Lists of more than a thousand keys come in pages.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pass in 0..<1010 {
                group.addTask { try await entries[0].writeAttempt(pass: pass, token: "aa", standardError: "\(pass)") }
            }
            try await group.waitForAll()
        }
        #expect(await entries[1].readAttempt(pass: 1009, token: "aa") == "1009")
        #expect(try await stores[1].jobs() == [record.id])
        try await entries[1].remove()
        #expect(try await stores[0].jobs().isEmpty)
        #expect(await entries[0].readAttempt(pass: 1009, token: "aa") == nil)
        #expect(await entries[0].publishedOutput == nil)
    }

    private func takesOddKeys(_ store: ObjectStore) async throws {
        let alphabet = Array(" !\"#$%&'()*+,-./0:;<=>?@A[\\]^_`a{|}~äß€😀\u{301}")
        var random = SplitMix64(seed: 52)
        let drawn = (0..<200).map { number in
            "\(number)"
                + String(
                    (0..<Int.random(in: 1...40, using: &random)).compactMap { _ in
                        alphabet.randomElement(using: &random)
                    })
        }
        for key in ["a b+c=@%~//ü😀", "%2F", "a/../b", "./a"] + drawn {
            let (address, content) = ("s3://footage/\(key)", Data(key.utf8))
            try await BucketOutputs(store).deliver(try folder.result(content), to: address, overwrite: false)
            let found = try await sources(store).look(at: address, 4096)
            #expect(found.first == Array(content), "\(key)")
        }
    }

    private func takesLargeObjects(_ store: ObjectStore) async throws {
        let content = randomBytes(40 << 20, seed: 53)
        let (address, outputs) = ("s3://results/large.mp4", BucketOutputs(store))
        try await outputs.check(address, overwrite: false)
        try await outputs.deliver(try folder.result(content), to: address, overwrite: false)
        let print = try #require(try await sources(store).fingerprints(of: [address])[address])
        #expect(print.size == Int64(content.count))
        let source = try await sources(store).open(.web(address, print.web))
        try await source.fetch(0..<source.size)
        #expect(try Data(contentsOf: URL(filePath: source.path)) == content)
        await #expect(throws: ReelFailure(.outputExists(path: address))) {
            try await outputs.check(address, overwrite: false)
        }
    }

    private func refuses(_ server: Server) async throws {
        let cases: [(ObjectStore, String, FailureReason)] = [
            (
                server.store(secret: "wrong"), "s3://results/large.mp4",
                .bucketKeysWrong(role: .source, address: "s3://results/large.mp4")
            ),
            (
                server.store(id: "nobody"), "s3://results/large.mp4",
                .bucketKeysWrong(role: .source, address: "s3://results/large.mp4")
            ),
            (server.store(), "s3://absent/a", .bucketMissing(role: .source, address: "s3://absent/a")),
            (server.store(), "s3://results/a", .objectMissing(role: .source, address: "s3://results/a")),
        ]
        for (store, address, reason) in cases {
            await #expect(throws: ReelFailure(reason)) { _ = try await sources(store).look(at: address, 10) }
        }
        await #expect(throws: ReelFailure(.bucketMissing(role: .output, address: "s3://absent/a.mp4"))) {
            try await BucketOutputs(server.store()).check("s3://absent/a.mp4", overwrite: false)
        }
    }
}

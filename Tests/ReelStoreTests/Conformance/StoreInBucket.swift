import Foundation
import ReelCore
import ReelMemoryStore
import ReelRemote
import ReelStore
import ReelTestSupport
import Synchronization

/// Stores in buckets, each of a server of its own in this process.
enum StoreInBucket {
    private static let servers = Mutex<[String: BucketServer]>([:])

    /// An empty place.
    static func open(scratch: String) async throws -> any JobStore {
        let (server, name) = (try BucketServer(), "s3://reel/\(UUID().uuidString)")
        let settings = AWSSettings([
            "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL_S3": server.endpoint,
            "HOME": scratch,
        ])
        servers.withLock { $0[name] = server }
        return try await BucketStore(
            StorePlace(name), in: ObjectStore(settings), locks: MemoryLocks(), scratch: scratch)
    }

    static func close(_ name: String) { servers.withLock { $0[name] = nil } }

    /// The server of an object that is named as s3://BUCKET/KEY, and the name that the object has there.
    private static func object(_ name: String) -> (server: BucketServer, key: String)? {
        servers.withLock { servers in
            servers.first { name.hasPrefix($0.key) }.map { ($0.value, String(name.dropFirst("s3://".count))) }
        }
    }

    /// The bytes of an object; nil if it is no object of these stores, or missing.
    static func bytes(_ name: String) -> Data? { object(name).flatMap { $0.server.objects[$0.key] } }

    /// Whether there is an object; nil if it is no object of these stores.
    static func has(_ name: String) -> Bool? { object(name).map { $0.server.objects[$0.key] != nil } }

    /// Writes or removes an object; false if it is no object of these stores.
    static func put(_ bytes: Data?, _ name: String) -> Bool {
        guard let (server, key) = object(name) else { return false }
        server.objects[key] = bytes
        return true
    }

    /// Makes the segments in the bucket the ones that tests have written at their places.
    static func settle(_ job: any JobEntry) throws {
        let name = SegmentName(subject: SegmentSubject(clip: 0, part: .audio(track: 0)), token: "aa")
        let copy = JobSource(path: "/a", staged: "a", fingerprint: fingerprint)
        let shown = job.locator(of: copy).name
        guard job is BucketJob, let (server, key) = object(shown) else { return }
        let folder = URL(filePath: job.place(of: name).data.name).deletingLastPathComponent().path
        let beginning = key.dropLast("source/a".count) + "segments/"
        for old in server.objects.keys where old.hasPrefix(beginning) { server.objects[old] = nil }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            server.objects[beginning + file] = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
        }
    }
}

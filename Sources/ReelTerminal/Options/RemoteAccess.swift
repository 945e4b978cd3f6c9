internal import ArgumentParser
internal import Foundation
internal import ReelCore
package import ReelEngine
internal import ReelQueue
package import ReelStore

#if NETWORK
    internal import ReelRemote
#endif

/// How a program reads sources on web servers and in buckets, and writes results to buckets. A build without network packages
/// does not.
package enum RemoteAccess {
    #if NETWORK
        private static let objects = ObjectStore()
    #endif

    /// Reads from every host: for commands, whose user names the URLs.
    package static func any() -> (any RemoteSources)? {
        #if NETWORK
            NetworkSources(.any, objects, scratch: FileManager.default.temporaryDirectory.path)
        #else
            nil
        #endif
    }

    /// Writes results to buckets.
    package static func outputs() -> (any RemoteOutputs)? {
        #if NETWORK
            BucketOutputs(objects)
        #else
            nil
        #endif
    }

    /// Opens a store in a bucket.
    ///
    /// Throws `.storeNameInvalid` and the failures of the store.
    ///
    /// - Parameters:
    ///   - redis: of the board that belongs to it.
    ///   - scratch: a folder of this machine; nil for the one for temporary files.
    static func store(
        _ name: String, _ redis: RedisOption, scratch: String?
    ) async throws(ReelFailure) -> any JobStore {
        #if NETWORK
            let place = try StorePlace(name)
            let locks = BoardLocks(try redis.address(), try redis.namespace())
            return try await BucketStore(
                place, in: objects, locks: locks, scratch: scratch ?? FileManager.default.temporaryDirectory.path)
        #else
            throw ReelFailure(.storeNameInvalid(name: name, flaw: "this build of reel reaches no networks"))
        #endif
    }

    /// Reads from these hosts and buckets alone: for programs that work for others.
    ///
    /// - Parameters:
    ///   - named: the values of an option. If it was not given, the environment or the configuration file decides. A
    ///     bucket is named as s3://BUCKET.
    ///   - scratch: a folder for the bytes that engines need.
    ///   - readsAnyBucket: whether all buckets may be read if none is named.
    ///
    /// Returns nil if nothing may be read. Throws `ValidationError` for what is no host.
    package static func of(
        _ named: [String], scratch: String, readsAnyBucket: Bool
    ) throws -> (any RemoteSources)? {
        #if NETWORK
            let unasked = ProcessInfo.processInfo.environment["REEL_SOURCE_HOSTS"]?.split(separator: ",").map(
                String.init)
            let places = named.isEmpty ? unasked ?? Settings.list(.sourceHosts) ?? [] : named
            let buckets = places.filter(WebAddress.isObject).map { String($0.dropFirst("s3://".count)) }
            let hosts = places.filter { !WebAddress.isObject($0) }
            guard !places.isEmpty || readsAnyBucket else { return nil }
            let allowed = buckets.isEmpty && readsAnyBucket ? nil : Set(buckets)
            return NetworkSources(SourceHosts(try hosts.map(host), buckets: allowed), objects, scratch: scratch)
        #else
            nil
        #endif
    }

    /// What engines read that work with a store: copies of sources in its bucket, and what `others` reads.
    package static func including(
        _ store: any JobStore, _ others: (any RemoteSources)?, scratch: String
    ) -> (any RemoteSources)? {
        #if NETWORK
            guard let store = store as? BucketStore else { return others }
            return StoreSources(store, objects, or: others, scratch: scratch)
        #else
            others
        #endif
    }

    #if NETWORK
        private static func host(_ text: String) throws -> AllowedHost {
            guard let host = AllowedHost(text) else {
                throw ValidationError("\(text) is no host of sources: it takes \(AllowedHost.forms), or s3://BUCKET")
            }
            return host
        }
    #endif
}

/// The locks of a store in a bucket, on its board.
private struct BoardLocks: StoreLocks {
    private let board: RedisBoard

    /// The first lock connects.
    init(_ redis: RedisAddress, _ namespace: Namespace) {
        board = RedisBoard(
            redis, name: "reel-locks-\(ProcessInfo.processInfo.processIdentifier)", namespace: namespace,
            patience: RedisPatience(.seconds(60)))
    }

    func take(_ name: String, token: String, for lease: Duration) async throws(ReelFailure) -> Bool {
        try await board.lock(name, token: token, for: lease, again: false)
    }

    func keep(_ name: String, token: String, for lease: Duration) async throws(ReelFailure) -> Bool {
        try await board.lock(name, token: token, for: lease, again: true)
    }

    func release(_ name: String, token: String) async { try? await board.unlock(name, token: token) }
}

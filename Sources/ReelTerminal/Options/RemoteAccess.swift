internal import ArgumentParser
internal import Foundation
package import ReelEngine
package import ReelStore

#if NETWORK
    internal import ReelCore
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

    #if NETWORK
        private static func host(_ text: String) throws -> AllowedHost {
            guard let host = AllowedHost(text) else {
                throw ValidationError("\(text) is no host of sources: it takes \(AllowedHost.forms), or s3://BUCKET")
            }
            return host
        }
    #endif
}

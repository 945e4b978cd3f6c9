internal import ArgumentParser
internal import Foundation
package import ReelCore
package import ReelQueue
package import ReelStore
internal import ReelWords

#if NETWORK
    internal import ReelTLS
#endif

package struct RedisOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            URL of Redis, which may begin with rediss:// for TLS or name sentinels. Default: that of REEL_REDIS, or in the \
            file that REEL_REDIS_FILE names. REEL_NAMESPACE chooses one of several boards there; the default is main.
            """, valueName: "url"))
    private var redis: String?

    package init() {}

    package init(url: String?) { redis = url }

    /// Throws `.redisAddressInvalid`, and what `urlOfEnvironment` throws.
    package func address() throws(ReelFailure) -> RedisAddress {
        var url = redis
        if url == nil { url = try RedisOption.urlOfEnvironment() }
        if url == nil { url = try RedisOption.urlOfSettings() }
        let environment = ProcessInfo.processInfo.environment
        let files = TLSFiles(
            authorities: environment["REEL_REDIS_CA"], certificate: environment["REEL_REDIS_CERT"],
            key: environment["REEL_REDIS_KEY"])
        return try RedisAddress(url ?? "redis://127.0.0.1:6379", transport: RedisOption.transport, files: files)
    }

    private static var transport: (any SecureTransport)? {
        #if NETWORK
            TLSTransport()
        #else
            nil
        #endif
    }

    package func namespace() throws(ReelFailure) -> Namespace {
        let name = ProcessInfo.processInfo.environment["REEL_NAMESPACE"] ?? Settings.text(.namespace)
        guard let name else { return .main }
        return try Namespace(name)
    }

    /// The URL in the environment, or in the file that it names; nil if there is neither. A file is more private than a
    /// process's environment.
    ///
    /// Throws `.redisFileUnusable` if the file cannot be read, `.redisFileOpen` if other users could.
    package static func urlOfEnvironment() throws(ReelFailure) -> String? {
        let environment = ProcessInfo.processInfo.environment
        guard let path = environment["REEL_REDIS_FILE"] else { return environment["REEL_REDIS"] }
        return try url(inFile: path)
    }

    private static func urlOfSettings() throws(ReelFailure) -> String? {
        guard let path = Settings.text(.redisFile) else { return Settings.text(.redis) }
        return try url(inFile: path)
    }

    private static func url(inFile path: String) throws(ReelFailure) -> String {
        try SecretFile.read(path).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

package struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Store that coordinators and workers share: a folder, or a place in a bucket (s3://bucket/prefix). REEL_STORE sets \
            the default.
            """, valueName: "dir"),
        completion: .directory)
    private var store: String?

    package init() {}

    /// Whether the option itself names a store.
    package var isGiven: Bool { store != nil }

    /// Whether option, environment or configuration file name a store.
    package var isNamed: Bool { root != nil }

    /// Whether the store is in a bucket: its machines need not share a folder.
    package var isInBucket: Bool { root.map(WebAddress.isWritten) ?? false }

    private var root: String? { store ?? ProcessInfo.processInfo.environment["REEL_STORE"] ?? Settings.text(.store) }

    /// Throws `.storeNotNamed` if no store is named, and the failures of the store.
    ///
    /// - Parameters:
    ///   - redis: of the board that belongs to the store.
    ///   - scratch: a folder of this machine, for a store in a bucket; the one for temporary files by default.
    package func open(_ redis: RedisOption, scratch: String? = nil) async throws(ReelFailure) -> any JobStore {
        let root = try name()
        guard !WebAddress.isWritten(root) else { return try await RemoteAccess.store(root, redis, scratch: scratch) }
        return try FolderStore(root: StoreOption.path(root))
    }

    /// Makes the store if it is missing, a folder as one that a group shares. Returns its name and id. Throws as `open` does.
    package func make(_ redis: RedisOption) async throws(ReelFailure) -> (name: String, id: StoreID) {
        let root = try name()
        if WebAddress.isWritten(root) {
            let store = try await RemoteAccess.store(root, redis, scratch: nil)
            return (store.name, try await store.establish())
        }
        let store = try FolderStore.make(root: StoreOption.path(root), mode: 0o2770)
        guard let id = store.id else { throw ReelFailure(.storeMissing(path: store.root)) }
        return (store.root, id)
    }

    /// Opens the store if one is named, for commands that can do without it: if it cannot be reached or this user may
    /// not read it, a warning says so. Throws if no store can have the name.
    package func openIfNamed(_ redis: RedisOption, _ console: Console) async throws(ReelFailure) -> (any JobStore)? {
        guard root != nil else { return nil }
        do throws(ReelFailure) { return try await open(redis) } catch {
            guard error.kind == .unreachable else { throw error }
            console.say("warning: \(error.words); what only the store knows is left out")
            return nil
        }
    }

    private func name() throws(ReelFailure) -> String {
        guard let root else { throw ReelFailure(.storeNotNamed) }
        // An empty path would be the current folder.
        guard !root.isEmpty else { throw ReelFailure(.storeNameEmpty) }
        return root
    }

    private static func path(_ root: String) -> String { URL(fileURLWithPath: root).path }
}

/// The value of `--listen`: a host and a port.
package struct Address: ExplainedArgument {
    package static let forms = "an address and a port (127.0.0.1:8080, [::1]:8080, 0.0.0.0:80)"
    /// A name or an address; an address of IPv6 without its brackets.
    package let host: String
    /// 0 to 65535; 0 for any that is free.
    package let port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+):(\d{1,5})/),
            let port = Int(match.2), port <= 65535
        else { return nil }
        self.init(host: match.1.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)
    }

    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.wholeMatch(of: /127\.\d{1,3}\.\d{1,3}\.\d{1,3}/) != nil
    }

    /// The beginning of the URLs at a port of the host.
    package func url(port: Int) -> String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

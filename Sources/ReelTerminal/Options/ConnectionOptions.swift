public import ArgumentParser
internal import Foundation
public import ReelCore
public import ReelQueue
public import ReelStore

/// The option `--redis`: where the board is.
public struct RedisOption: ParsableArguments {
    /// The URL as the user wrote it.
    @Option(help: ArgumentHelp("URL of Redis; REEL_REDIS sets the default.", valueName: "url"))
    public var redis = ProcessInfo.processInfo.environment["REEL_REDIS"] ?? "redis://127.0.0.1:6379"

    /// For ArgumentParser.
    public init() {}

    /// The parsed URL. Throws `.redisAddressInvalid`.
    public func address() throws(ReelFailure) -> RedisAddress { try RedisAddress(redis) }
}

/// The option `--store`: the folder that coordinator and workers share.
public struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Folder that coordinator and workers share; REEL_STORE sets the default.", valueName: "dir"))
    private var store: String?

    /// For ArgumentParser.
    public init() {}

    /// Whether the option names a store, not only the environment.
    public var isGiven: Bool { store != nil }

    /// Whether the option or the environment names a store.
    public var isNamed: Bool { root != nil }

    private var root: String? { store ?? ProcessInfo.processInfo.environment["REEL_STORE"] }

    /// Opens the store. Throws `.storeNotNamed` if none is named, and the failures of `Store`.
    public func open() throws(ReelFailure) -> FolderStore { try FolderStore(root: path()) }

    /// Opens the store, and makes it first if there is none: a folder that a group shares.
    public func make() throws(ReelFailure) -> FolderStore { try FolderStore.make(root: path(), mode: 0o2770) }

    /// Opens the store if one is named, for commands that can do without.
    public func openIfNamed() throws(ReelFailure) -> FolderStore? { root == nil ? nil : try open() }

    private func path() throws(ReelFailure) -> String {
        guard let root else { throw ReelFailure(.storeNotNamed) }
        // An empty path would be the current folder.
        guard !root.isEmpty else { throw ReelFailure(.storeNameEmpty) }
        return URL(fileURLWithPath: root).path
    }
}

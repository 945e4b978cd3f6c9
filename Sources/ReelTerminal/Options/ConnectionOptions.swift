public import ArgumentParser
internal import Foundation
public import ReelCore
public import ReelQueue
public import ReelStore

/// Where the board is.
public struct RedisOption: ParsableArguments {
    @Option(help: ArgumentHelp("Redis; REEL_REDIS names another default.", valueName: "url"))
    public var redis = ProcessInfo.processInfo.environment["REEL_REDIS"] ?? "redis://127.0.0.1:6379"

    public init() {}

    public func address() throws(ReelFailure) -> RedisAddress { try RedisAddress(redis) }
}

/// Where the bytes are that coordinator and workers share.
public struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Folder that coordinator and workers share; REEL_STORE names a default.", valueName: "dir"))
    private var store: String?

    public init() {}

    /// Whether an option names it, not merely the environment.
    public var isGiven: Bool { store != nil }

    /// Whether anything names it.
    public var isNamed: Bool { root != nil }

    private var root: String? { store ?? ProcessInfo.processInfo.environment["REEL_STORE"] }

    public func open() throws(ReelFailure) -> Store { try Store(root: path()) }

    /// Makes a store where there is none, for a group to share.
    public func make() throws(ReelFailure) -> Store { try Store.make(root: path(), mode: 0o2770) }

    /// Nil where none is named: what is shown needs none.
    public func openIfNamed() throws(ReelFailure) -> Store? { root == nil ? nil : try open() }

    private func path() throws(ReelFailure) -> String {
        guard let root else { throw ReelFailure(.storeNotNamed) }
        // An empty path would be the current folder.
        guard !root.isEmpty else { throw ReelFailure(.storeNameEmpty) }
        return URL(fileURLWithPath: root).path
    }
}

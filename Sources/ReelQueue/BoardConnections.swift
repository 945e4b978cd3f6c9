/// Makes boards that all show the same jobs. A program needs several: a call that waits holds back every other call on
/// its board.
package struct BoardConnections: Sendable {
    private let make: @Sendable (_ name: String) -> any Board

    /// - Parameter make: makes a board; the name appears in the server's list of connections, and has no spaces.
    package init(_ make: @escaping @Sendable (_ name: String) -> any Board) { self.make = make }

    /// Connections to one of the boards in the Redis at an address. Each connects with its first call.
    package init(redis address: RedisAddress, namespace: Namespace) {
        self.init { RedisBoard(address, name: $0, namespace: namespace) }
    }

    /// A board of the caller's own.
    package func board(named name: String) -> any Board { make(name) }
}

internal import Glibc
internal import NIOPosix

/// Looks up the addresses of hosts.
enum Resolver {
    /// Threads of its own: a lookup may block for as long as a server of names is silent.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// The addresses that a name has now; empty if it has none, or if no server of names answers.
    static func addresses(of name: String) async -> [IPAddress] {
        (try? await pool.runIfActive { lookUp(name) }) ?? []
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            guard let address = address(in: entry), !found.contains(address) else { continue }
            found.append(address)
        }
        return found
    }

    private static func address(in entry: addrinfo) -> IPAddress? {
        guard let socket = entry.ai_addr else { return nil }
        // The structure behind the pointer is as long as its family says.
        switch entry.ai_family {
        case AF_INET:
            return socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { IPAddress(bytes: $0) }
            }
        case AF_INET6:
            return socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { IPAddress(bytes: $0) }
            }
        default: return nil
        }
    }
}

internal import Glibc
internal import NIOPosix

/// An address of the Internet Protocol. An address of version 4 that is embedded in one of version 6, such as
/// ::ffff:10.0.0.1, is the address of version 4.
package struct IPAddress: Hashable, Sendable {
    /// Four bytes or sixteen.
    package let bytes: [UInt8]

    /// - Parameter bytes: four or sixteen; anything else gives nil.
    package init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16:
            let isEmbedded = IPAddress.embedding.contains { bytes.starts(with: $0) }
            self.bytes = isEmbedded ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// The beginnings of addresses of version 6 that embed one of version 4: mapped ones, and ones of a translator
    /// (NAT64).
    private static let embedding: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
    ]

    /// Reads dotted decimals without leading zeros, or an address of version 6 without zone and brackets. Nil for other
    /// texts, including other forms of numbers that some programs take for addresses.
    package init?(_ text: some StringProtocol) {
        let (family, count) = text.contains(":") ? (AF_INET6, 16) : (AF_INET, 4)
        var bytes = [UInt8](repeating: 0, count: count)
        guard !text.utf8.contains(0), inet_pton(family, String(text), &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// Whether any host of the Internet can reach it: it does not belong to this machine, a private network, a link, a
    /// group, or another range of IANA's registries of special-purpose addresses.
    package var isPublic: Bool {
        if bytes.count == 4 { return !IPAddress.specialOfFour.contains { $0.contains(self) } }
        return IPAddress.global.contains { $0.contains(self) }
            && !IPAddress.specialOfSixteen.contains { $0.contains(self) }
    }

    /// Whether it is this machine's own, for itself alone.
    package var isLoopback: Bool { IPAddress.loopback.contains { $0.contains(self) } }

    private static let loopback = networks("127.0.0.0/8", "::1")

    private static let specialOfFour = networks(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4")

    /// All addresses of version 6 that have been given out for single hosts of the Internet.
    private static let global = networks("2000::/3")

    /// The exceptions: assignments of protocols (Teredo, ORCHID), documentation, and 6to4, which can embed any address
    /// of version 4.
    private static let specialOfSixteen = networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

    private static func networks(_ texts: String...) -> [IPNetwork] { texts.compactMap { IPNetwork($0) } }
}

package struct IPNetwork: Hashable, Sendable {
    private let address: IPAddress
    /// The number of bits in which its addresses agree.
    private let length: Int

    /// Reads an address, or an address and the number of bits that count: 10.0.0.0/8. Nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        let bits = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.address, length) = (address, bits)
            return
        }
        guard parts[1].utf8.count <= 3, let length = Int(parts[1]), (0...bits).contains(length), parts[1].first != "+"
        else { return nil }
        (self.address, self.length) = (address, length)
    }

    package func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        for place in address.bytes.indices {
            let bits = min(max(length - place * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            guard address.bytes[place] & mask == other.bytes[place] & mask else { return false }
        }
        return true
    }
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimals, or eight groups of hexadecimal digits.
    package var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}

package enum Resolver {
    /// Threads of its own: a lookup blocks until a name server answers.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// The addresses that a name has now; empty if it does not have any, or if no name server answers.
    package static func addresses(of name: String) async -> [IPAddress] {
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

internal import ReelRemote

/// The wrong tokens of the last minute, by the address that they came from. After a few of them an address has to wait.
package struct WrongTokens: Sendable {
    /// The most of an address within a minute.
    package static let most = 10
    /// The most addresses that are told apart. While there are more, every further address has to wait.
    package static let mostAddresses = 10_000
    private static let minute = Duration.seconds(60)
    /// From one removal of old times to the next, since it looks at all of them.
    private static let pause = Duration.seconds(10)

    private var times: [String: [ContinuousClock.Instant]] = [:]
    private var swept: ContinuousClock.Instant?

    package init() {}

    /// Notes a wrong token. Returns how long its address has to wait; nil if it may try again at once.
    package mutating func note(from address: String, at now: ContinuousClock.Instant) -> Duration? {
        let source = WrongTokens.source(of: address)
        if times.count >= WrongTokens.mostAddresses, swept.map({ now - $0 >= WrongTokens.pause }) ?? true {
            times = times.filter { $0.value.contains { now - $0 < WrongTokens.minute } }
            swept = now
        }
        guard times[source] != nil || times.count < WrongTokens.mostAddresses else { return WrongTokens.pause }
        let recent = times[source, default: []].filter { now - $0 < WrongTokens.minute }
        guard recent.count < WrongTokens.most else {
            times[source] = recent
            return WrongTokens.minute - (now - recent[0])
        }
        times[source] = recent + [now]
        return nil
    }

    /// What counts as one address: of IPv6 the first 64 bits, since each host has as many addresses as it likes below them.
    private static func source(of address: String) -> String {
        guard let bytes = IPAddress(address)?.bytes, bytes.count == 16 else { return address }
        return "\(bytes.prefix(8))"
    }
}

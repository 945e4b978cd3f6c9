package import Foundation
internal import ReelRandom

/// Random bytes, quickly: tests that draw them one by one keep others waiting.
package func randomBytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SplitMix64(seed: seed)
    var bytes = Data(capacity: count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return bytes.prefix(count)
}

internal import Foundation

/// How much is tested of what takes longer the more cases there are. `scripts/test` looks at a part for each change, and
/// `scripts/test --all` at everything, as CI does every night.
package enum Thoroughness {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether everything is tested: `scripts/test --all` sets REEL_ALL.
    package static let isAll = environment["REEL_ALL"] != nil

    /// How many random cases are made that take a second or more each.
    package static let seeds: UInt64 = isAll ? 16 : 8

    /// Every third of the cases, from the one on that REEL_THIRD names (0 to 2); all of them if it is not set. `scripts/test`
    /// chooses it by the commit, so that three changes try all on average.
    package static func third<Case>(of cases: [Case]) -> [Case] {
        guard let first = environment["REEL_THIRD"].flatMap({ Int($0) }), (0..<3).contains(first) else { return cases }
        return cases.enumerated().filter { $0.offset % 3 == first }.map(\.element)
    }
}

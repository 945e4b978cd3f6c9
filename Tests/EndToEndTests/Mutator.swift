import ReelRandom

/// Damages files as disks, networks and attackers do. The same seed damages the same file in the same way.
struct Mutator {
    private var random: SplitMix64
    /// The changes to the last file, for the report of a failure.
    private(set) var report: [String] = []

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A damaged copy of `file`; some of the damage are blocks of `other`.
    mutating func damage(_ file: [UInt8], with other: [UInt8]) -> [UInt8] {
        var bytes = file
        report = []
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty { damageOnce(&bytes, other) }
        return bytes
    }

    private mutating func damageOnce(_ bytes: inout [UInt8], _ other: [UInt8]) {
        let block = block(of: bytes.count)
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<4:
            for _ in 0..<Int.random(in: 1...8, using: &random) { bytes[place(in: bytes.count)] ^= bit() }
            report.append("bits flipped")
        case 4..<8:
            // Numbers that programs often handle wrongly: 0, -1, and the ends of what 8 to 64 bits hold.
            let width = min(1 << Int.random(in: 0...3, using: &random), block.count)
            let pattern: (UInt8, UInt8) =
                [(0, 0), (255, 255), (127, 255), (128, 0)].randomElement(using: &random) ?? (0, 0)
            for place in 0..<width { bytes[block.lowerBound + place] = place == 0 ? pattern.0 : pattern.1 }
            report.append("\(width) bytes of \(pattern) at \(block.lowerBound)")
        case 8:
            bytes.removeSubrange(block.lowerBound...)
            report.append("cut off at \(block.lowerBound)")
        case 9:
            bytes.insert(contentsOf: bytes[block], at: block.upperBound)
            report.append("\(block) twice")
        case 10, 11:
            bytes.removeSubrange(block)
            report.append("\(block) removed")
        case 12:
            let second = self.block(of: bytes.count)
            let length = min(block.count, second.count)
            for place in 0..<length { bytes.swapAt(block.lowerBound + place, second.lowerBound + place) }
            report.append("\(length) bytes at \(block.lowerBound) and \(second.lowerBound) swapped")
        case 13:
            for place in block { bytes[place] = 0 }
            report.append("\(block) zeroed")
        default:
            guard !other.isEmpty else { return }
            let foreign = self.block(of: other.count)
            bytes.replaceSubrange(block, with: other[foreign])
            report.append("\(block) replaced by \(foreign) of another file")
        }
    }

    private mutating func bit() -> UInt8 { 1 << UInt8.random(in: 0..<8, using: &random) }

    /// Every third lies in the first kilobytes, every third in the last: that is where headers and tables are.
    private mutating func place(in count: Int) -> Int {
        let edge = min(count, 4096)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return Int.random(in: 0..<edge, using: &random)
        case 1: return Int.random(in: count - edge..<count, using: &random)
        default: return Int.random(in: 0..<count, using: &random)
        }
    }

    /// Short ones as often as long ones, at most 4 KiB.
    private mutating func block(of count: Int) -> Range<Int> {
        let start = place(in: count)
        let length = Int.random(in: 1...(1 << Int.random(in: 0...12, using: &random)), using: &random)
        return start..<min(start + length, count)
    }
}

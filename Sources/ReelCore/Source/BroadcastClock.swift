/// Makes the timestamps of a transport or program stream continuous if its clock restarts: because recordings were
/// joined, or because what looked like a wrap of its 33 bits was a jump.
package struct BroadcastClock: Sendable {
    private let step: Int64
    private let patience: Int64
    private var offset: Int64 = 0
    private var last: Int64?
    /// The number of times that the clock restarted.
    package private(set) var restarts = 0

    /// 33 bits of 90 kHz (ISO 13818-1 2.4.3.7).
    private static let turn: Int64 = 1 << 33

    /// - Parameters:
    ///   - step: ticks from one timestamp to the next across a restart.
    ///   - patience: ticks by which timestamps may go back without being a restart.
    package init(step: Ticks, patience: Ticks) {
        self.step = step.count
        self.patience = patience.count
    }

    /// Delays the next restart by `length` ticks: a new sequence begins after everything shown so far.
    package mutating func delay(by length: Ticks) {
        offset += length.count
        last = last.map { $0 + length.count }
        restarts += 1
    }

    /// The ticks to add to timestamps from this decode time on.
    package mutating func correction(at dts: Timestamp) -> Ticks {
        guard let last else {
            last = dts.ticks
            return .zero
        }
        var now = dts.ticks &+ offset
        if now - last > Self.turn / 2 {
            offset -= Self.turn
            now -= Self.turn
        }
        if now < last - patience {
            offset += last + step - now
            now = last + step
            restarts += 1
        }
        self.last = now
        return Ticks(offset)
    }
}

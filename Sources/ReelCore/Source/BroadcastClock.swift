/// Timestamps of a transport or program stream, made to go on where its clock restarts: where recordings were joined, or
/// where what looked like a wrap of its 33 bits was none.
public struct BroadcastClock: Sendable {
    private let step: Int64
    private let patience: Int64
    private var offset: Int64 = 0
    private var last: Int64?
    /// How often the clock restarted.
    public private(set) var restarts = 0

    /// 33 bits of 90 kHz (ISO 13818-1 2.4.3.7).
    private static let turn: Int64 = 1 << 33

    /// `step`: ticks from one timestamp to the next where the clock restarts; `patience`: how many ticks backwards are
    /// disorder and no restart.
    public init(step: Ticks, patience: Ticks) {
        self.step = step.count
        self.patience = patience.count
    }

    /// Restarts `length` ticks later than it would by itself: a sequence of its own begins, behind all that was shown.
    public mutating func delay(by length: Ticks) {
        offset += length.count
        last = last.map { $0 + length.count }
        restarts += 1
    }

    /// What is to be added to timestamps from this decode time on.
    public mutating func correction(at dts: Timestamp) -> Ticks {
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

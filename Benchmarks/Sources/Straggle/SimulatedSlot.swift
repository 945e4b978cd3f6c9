/// A slot of some machine. Work counts in seconds on a machine of speed 1.
struct SimulatedSlot {
    var speed: Double
    /// From when on it is slower (s), and what is left of its speed.
    var slowdown: (from: Double, factor: Double)?
    /// When within five seconds its worker beats.
    var beatPhase: Double

    static let beatInterval = 5.0

    /// What it gets done between two moments.
    func work(from start: Double, to end: Double) -> Double {
        guard let slowdown else { return (end - start) * speed }
        let before = max(0, min(end, slowdown.from) - start)
        let after = max(0, end - max(start, slowdown.from))
        return (before + after * slowdown.factor) * speed
    }

    /// When some work is done that begins at `start`.
    func end(of work: Double, from start: Double) -> Double {
        guard let slowdown else { return start + work / speed }
        let before = max(0, slowdown.from - start) * speed
        guard work > before else { return start + work / speed }
        return max(start, slowdown.from) + (work - before) / (speed * slowdown.factor)
    }

    /// The first beat after a moment.
    func beat(after time: Double) -> Double {
        let beats = ((time - beatPhase) / SimulatedSlot.beatInterval).rounded(.down) + 1
        return beats * SimulatedSlot.beatInterval + beatPhase
    }
}

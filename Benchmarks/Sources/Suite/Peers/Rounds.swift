internal import Foundation

/// Measurements of several commands, alternately: each round has one of every command.
struct Rounds {
    private(set) var names: [String] = []
    private var taken: [String: [Measurement]] = [:]

    mutating func add(_ name: String, _ measurement: Measurement) {
        if taken[name] == nil { names.append(name) }
        taken[name, default: []].append(measurement)
    }

    func has(_ name: String) -> Bool { taken[name] != nil }

    /// The median over the rounds.
    func median(_ name: String, _ value: (Measurement) -> Double) -> Double {
        Rounds.median((taken[name] ?? []).map(value))
    }

    /// The median of the ratio within each round: if the whole machine is slow, both are.
    func ratio(_ name: String, to other: String, _ value: (Measurement) -> Double) -> Double {
        Rounds.median(zip(taken[name] ?? [], taken[other] ?? []).map { value($0) / max(value($1), 1e-9) })
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// A figure that reel is measured by.
struct Goal: Sendable {
    enum Aim: Sendable {
        case atMost(Double)
        case atLeast(Double)
    }

    let name: String
    let aim: Aim
    /// What was measured, and with what.
    var found: [(with: String, value: Double)]
    /// What the best possible without reel measured, in the same run.
    var floor: String = ""
    var format = "%.2f"

    mutating func addFloor(_ text: String) { floor += (floor.isEmpty ? "" : ", ") + text }

    /// The aim, what was found, the floor, and whether it is reached.
    var row: [String] {
        let aim =
            switch aim {
            case .atMost(let limit): "≤ \(figure(limit, "%g"))"
            case .atLeast(let limit): "≥ \(figure(limit, "%g"))"
            }
        let values = found.map { figure($0.value, format) + ($0.with.isEmpty ? "" : " (\($0.with))") }
        return [name, aim, values.joined(separator: ", "), floor, isReached ? "yes" : "**no**"]
    }

    var isReached: Bool {
        found.allSatisfy {
            switch aim {
            case .atMost(let limit): $0.value <= limit
            case .atLeast(let limit): $0.value >= limit
            }
        }
    }
}

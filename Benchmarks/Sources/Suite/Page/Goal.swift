/// A figure that reel is measured by.
struct Goal: Sendable {
    enum Aim: Sendable {
        case atMost(Double)
        case atLeast(Double)
    }

    let figure: String
    let aim: Aim
    /// What was measured, and with what.
    var found: [(with: String, value: Double)]
    /// What the best that is possible measured, without reel, in the same run.
    var floor: String = ""
    var format = "%.2f"

    var isReached: Bool {
        found.allSatisfy {
            switch aim {
            case .atMost(let limit): $0.value <= limit
            case .atLeast(let limit): $0.value >= limit
            }
        }
    }
}

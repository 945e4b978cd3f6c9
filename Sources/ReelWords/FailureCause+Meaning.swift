public import ReelCore

extension FailureCause {
    /// What happens to the pass: one sentence.
    public var meaning: String {
        switch self {
        case .transient: "The pass is tried again, after a while that grows."
        case .crash: "The pass is tried again at once, on another worker if there is one."
        case .lost: "The pass is given to another worker."
        case .limit: "The pass is tried once more with twice the memory."
        case .incompatible: "The worker gets nothing more of the job."
        case .noSpace: "The host gets nothing until there is room; the pass is tried again."
        case .permanent: "The job fails, once a second host says so where there is one."
        }
    }
}

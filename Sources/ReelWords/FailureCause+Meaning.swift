package import ReelCore

extension FailureCause {
    /// What happens to the pass: one sentence.
    package var meaning: String {
        switch self {
        case .transient: "The pass is tried again after a delay, which grows with each attempt."
        case .crash: "The pass is tried again at once, on another worker if there is one."
        case .lost: "The pass is given to another worker."
        case .limit: "The pass is tried once more with twice the memory."
        case .incompatible: "The worker gets no more work of the job."
        case .noSpace: "The host gets no work until it has room; the pass is tried again."
        case .permanent: "The job fails; if there is a second host, only once that host has failed it, too."
        }
    }
}

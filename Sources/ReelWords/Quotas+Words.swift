internal import ReelCore

extension Quotas.Quota {
    /// That a job asks for more than is allowed.
    func exceeded(_ asked: Int64?, _ most: Int64) -> String {
        switch self {
        case .pixels: "a picture has \(asked ?? 0) pixels, and at most \(most) are allowed here"
        case .duration: "the output lasts \(asked ?? 0) s, and at most \(most) s are allowed here"
        case .frames: "the output has \(asked ?? 0) frames, and at most \(most) are allowed here"
        case .tracks: "the output has \(asked ?? 0) tracks, and at most \(most) are allowed here"
        case .output: "a file takes more than \(ByteSize(bytes: most)), which is the most that is allowed here"
        case .passTime: "a pass took longer than \(most) s, which is the most that is allowed here"
        case .jobTime: "the job took longer than \(most) s, which is the most that is allowed here"
        case .jobCPU: "the job took more than \(most) s of CPU time, which is the most that is allowed here"
        case .passCPU: "a pass took more than \(most) s of CPU time, which is the most that is allowed here"
        }
    }
}

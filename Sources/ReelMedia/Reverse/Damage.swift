internal import ReelCore

/// What of a pass did not decode as it should.
struct Damage {
    /// Slots of the index that no frame filled.
    var missing: [Int] = []
    /// Slots whose frame the decoder called damaged.
    var concealed: [Int] = []

    let track: VideoTrack
    /// Where the file's clock starts, in seconds.
    let startTime: Rational

    /// What of it concerns some frames only.
    func within(_ frames: Range<Int>) -> Damage {
        var part = self
        part.missing.removeAll { !frames.contains($0) }
        part.concealed.removeAll { !frames.contains($0) }
        return part
    }

    var diagnostics: [Diagnostic] {
        var result: [Diagnostic] = []
        if !missing.isEmpty { result.append(.framesRepeated(frames: moments(missing))) }
        if !concealed.isEmpty { result.append(.framesConcealed(frames: moments(concealed))) }
        return result
    }

    private func moments(_ slots: [Int]) -> Moments { Moments(of: slots, in: track, startTime: startTime) }
}

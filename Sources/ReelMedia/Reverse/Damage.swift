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

    /// A sentence each, with the times from the file's start.
    var warnings: [String] {
        var result: [String] = []
        if !missing.isEmpty {
            let frames = Wording.count(missing.count, "frame")
            result.append("\(frames) did not decode, a neighbour is shown instead: \(moments(missing))")
        }
        if !concealed.isEmpty {
            let frames = Wording.count(concealed.count, "frame")
            result.append("\(frames) decoded with errors, the decoder concealed them: \(moments(concealed))")
        }
        return result
    }

    /// "at 1.240 s, 1.400 s to 1.480 s": when slots are shown in the source.
    func moments(_ slots: [Int]) -> String {
        var stretches: [ClosedRange<Int>] = []
        for slot in slots.sorted() {
            if let last = stretches.last, last.upperBound + 1 >= slot {
                stretches[stretches.count - 1] = last.lowerBound...max(slot, last.upperBound)
            } else {
                stretches.append(slot...slot)
            }
        }
        let shown = stretches.prefix(Self.mostStretches).map { stretch in
            let first = moment(stretch.lowerBound)
            return stretch.count == 1 ? first : "\(first) to \(moment(stretch.upperBound))"
        }
        let rest = stretches.count - shown.count
        return "at " + shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more places" : "")
    }

    private func moment(_ slot: Int) -> String {
        Wording.seconds(track.stream.timeBase.seconds(track.frames[slot].interval.start) - startTime)
    }

    private static let mostStretches = 8
}

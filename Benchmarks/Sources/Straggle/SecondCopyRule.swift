/// When a pass that runs is given out a second time, to a slot for which there is nothing else.
struct SecondCopyRule {
    /// What is held against how long the idle slot takes for a pass.
    enum Measure {
        /// How long the pass has run.
        case elapsed
        /// How long it still takes by what claim.lua makes of its last beat: frames decoded count as frames encoded,
        /// and nothing has happened since.
        case reportedPace
        /// How long it still takes if it goes on as it did on average until its last beat, by the work done.
        case averagePace
        /// How long it still takes if it goes on as it did between its last two beats.
        case recentPace
        /// How long it really still takes, and how long it really would here: what nobody can know.
        case foreseen
    }

    var measure: Measure
    /// The pass is given out again where the measure is greater by this factor.
    var factor: Double
    /// What a rule may look at of a pass that runs, in seconds.
    struct Candidate {
        var elapsed: Double
        var leftByReport: Double
        /// Nil before its first beat.
        var leftByAverage: Double?
        /// Nil before its first beat.
        var leftByRecent: Double?
        var left: Double
        /// What the idle slot would take.
        var anew: Double
    }

    /// The place of the pass to give out again: among those that qualify, the one with the greatest measure.
    ///
    /// - Parameter usual: seconds that the idle slot took for its passes of late.
    func choose(among candidates: [Candidate], usual: Double) -> Int? {
        let scores = candidates.map { candidate -> (value: Double, threshold: Double) in
            switch measure {
            case .elapsed: (candidate.elapsed, usual * factor)
            case .reportedPace: (candidate.leftByReport, usual * factor)
            case .averagePace: (candidate.leftByAverage ?? 0, usual * factor)
            case .recentPace: (candidate.leftByRecent ?? 0, usual * factor)
            case .foreseen: (candidate.left, candidate.anew * factor)
            }
        }
        return scores.indices.filter { scores[$0].value > scores[$0].threshold }
            .max { scores[$0].value < scores[$1].value }
    }
}

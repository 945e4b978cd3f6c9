/// When an idle slot gets a backup attempt at a running pass.
struct BackupRule {
    /// The estimate that is compared with the time the idle slot takes for a pass.
    enum Measure {
        /// How long the pass has run.
        case elapsed
        /// The time left as claim.lua computes it from the last beat: frames decoded count as frames encoded, and
        /// progress since the beat is ignored.
        case reportedPace
        /// The time left at its average speed until the last beat, by the work done.
        case averagePace
        /// The time left at its speed between the last two beats.
        case recentPace
        /// The true time left, compared with the true time here: an ideal that no board can know.
        case foreseen
    }

    var measure: Measure
    /// The pass is given out again if the measure is greater by this factor.
    var factor: Double
    /// Figures of a running pass that a rule may use, in seconds.
    struct Candidate {
        var elapsed: Double
        var leftByReport: Double
        /// Nil before its first beat.
        var leftByAverage: Double?
        /// Nil before its first beat.
        var leftByRecent: Double?
        var left: Double
        /// The time that the idle slot would take.
        var anew: Double
    }

    /// The place of the pass to give out again: among the passes that qualify, the one with the greatest measure.
    ///
    /// - Parameter usual: seconds that the idle slot took for its recent passes.
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

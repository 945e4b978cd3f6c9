import ReelRandom

/// A fleet and its jobs.
struct Scenario {
    /// The machines of the fleet.
    enum Fleet: String, CaseIterable {
        case equal = "equal"
        case mixed = "mixed: 1, 0.7, 0.4, 0.25"
        case oneOld = "one in ten at 0.25"
        case fading = "one in twenty fades to 0.1"
        case mixedFading = "mixed, one in twenty fades to 0.1"

        var fades: Bool { self == .fading || self == .mixedFading }

        func speed(_ slot: Int, of count: Int) -> Double {
            switch self {
            case .equal, .fading: 1
            case .mixed, .mixedFading: [1, 0.7, 0.4, 0.25][slot % 4]
            case .oneOld: slot % 10 == 0 ? 0.25 : 1
            }
        }
    }

    var fleet: Fleet
    var slots: Int
    /// Passes of each job.
    var passes: Int
    var jobs = 1
    var hasAudio = false

    /// Every fleet with jobs of few and of many passes a slot; then with sound, and with several jobs at once.
    static let all: [Scenario] =
        scenarios(of: silent, jobs: 1, hasAudio: false)
        + scenarios(of: [(16, 100), (50, 300), (200, 1000)], jobs: 1, hasAudio: true)
        + scenarios(of: [(16, 100), (50, 300)], jobs: 5, hasAudio: false)

    /// Slots, and passes of the job.
    private static let silent = [
        (4, 30), (4, 100), (4, 300), (16, 100), (16, 300), (16, 1000), (50, 300), (50, 1000), (200, 1000),
        (200, 10_000),
    ]

    private static func scenarios(of sizes: [(slots: Int, passes: Int)], jobs: Int, hasAudio: Bool) -> [Scenario] {
        Fleet.allCases.flatMap { fleet in
            sizes.map { Scenario(fleet: fleet, slots: $0.slots, passes: $0.passes, jobs: jobs, hasAudio: hasAudio) }
        }
    }

    /// Seconds for a pass of 240 frames on a machine of speed 1.
    static let passTime = 10.0

    /// The makespan and the extra work under a rule.
    func outcome(rule: BackupRule?, seed: UInt64) -> Simulation.Outcome {
        var random = SplitMix64(seed: seed)
        let jobs = (0..<jobs).map { _ in job(&random) }
        let slots = slots(whole: jobs.reduce(0) { $0 + $1.passes.reduce(0, +) }, &random)
        var simulation = Simulation(slots: slots, jobs: jobs, rule: rule)
        return simulation.run()
    }

    private func job(_ random: inout SplitMix64) -> SimulatedJob {
        var works = (0..<passes).map { _ in Scenario.passTime * random.logNormal(sigma: 0.15) }
        // A pass is about ten seconds of film, and a track's sound is reversed a hundred times faster than it plays.
        if hasAudio { works.insert(0.1 * Double(passes), at: 0) }
        return SimulatedJob(passes: works, hasAudio: hasAudio, assembly: 1 + 0.01 * Double(passes))
    }

    private func slots(whole: Double, _ random: inout SplitMix64) -> [SimulatedSlot] {
        var made = (0..<slots).map { place in
            SimulatedSlot(
                speed: fleet.speed(place, of: slots), slowdown: nil,
                beatPhase: Double.random(in: 0..<SimulatedSlot.beatInterval, using: &random))
        }
        guard fleet.fades else { return made }
        let expected = whole / made.reduce(0) { $0 + $1.speed }
        for place in made.indices.shuffled(using: &random).prefix(max(1, slots / 20)) {
            made[place].slowdown = (Double.random(in: 0..<expected, using: &random), 0.1)
        }
        return made
    }
}

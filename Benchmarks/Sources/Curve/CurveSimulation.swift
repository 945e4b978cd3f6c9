internal import HeapModule
internal import ReelCore

/// A job on equal slots: each takes the next pass of the plan as soon as it is free, and the first one that finds no
/// pass joins the segments as they come, as `claim.lua` and `AssemblyFeed` have it. Left out is what makes real jobs end
/// earlier or later: idle cores that help the last passes' encoders, backup attempts, and passes and machines of
/// unequal speed.
struct CurveSimulation {
    let plan: CostedPlan
    let costs: CurveCosts

    /// How often an assembly asks the board for results, in seconds.
    private static let feedInterval = 0.2

    /// - Parameter factor: how much more a pass costs than the plan says, by its place; pictures are not equally hard.
    func run(slots: Int, factor: (Int) -> Double = { _ in 1 }) -> CurveTimes {
        var free = Heap<Double>()
        for _ in 0..<slots { free.insert(0) }
        var ends: [Double] = []
        let seconds = plan.seconds.enumerated().map { $1 * factor($0) }
        for seconds in seconds {
            let end = (free.popMin() ?? 0) + seconds
            ends.append(end)
            free.insert(end)
        }
        let work = ends.max() ?? 0
        let bytes = plan.bytes.reduce(0, +)
        let joined = whenJoined(ends, idleFrom: free.popMin() ?? 0)
        let verified = joined + costs.afterLast + bytes * costs.verify
        return CurveTimes(
            slots: slots, passes: ends.count, recon: costs.recon, planning: costs.planning, work: work,
            share: seconds.reduce(0, +) / Double(slots), longest: seconds.max() ?? 0,
            assembly: verified - work, delivery: bytes * costs.delivery)
    }

    /// When the assembly has joined the last segment, if a slot is free for it from `idle` on and the passes end at
    /// `ends`. It begins when all sound and the first pass of video are finished, joins in the output's order, and
    /// learns of a segment when it next asks the board.
    private func whenJoined(_ ends: [Double], idleFrom idle: Double) -> Double {
        let isVideo = plan.plan.passes.map(\.isVideo)
        let sound = zip(ends, isVideo).filter { !$0.1 }.map(\.0)
        let video = zip(ends, isVideo).filter(\.1).map(\.0)
        let begin = max(idle, sound.max() ?? 0, video.first ?? 0)
        let soundBytes = zip(plan.bytes, isVideo).filter { !$0.1 }.reduce(0) { $0 + $1.0 }
        let videoBytes = zip(plan.bytes, isVideo).filter(\.1).map(\.0)
        var now = begin
        for (end, bytes) in zip(video, videoBytes) {
            let polls = (max(0, end - begin) / CurveSimulation.feedInterval).rounded(.up)
            now = max(now, begin + polls * CurveSimulation.feedInterval)
            // The sound is joined beside the video.
            now += (bytes + soundBytes / Double(videoBytes.count)) * costs.join
        }
        return now
    }
}

/// The seconds of a job's parts, which follow one another.
struct CurveTimes {
    let slots: Int
    let passes: Int
    let recon: Double
    let planning: Double
    /// From the publication until the last pass is finished.
    let work: Double
    /// The same if all slots were busy all the time.
    let share: Double
    let longest: Double
    /// From the end of the last pass until the output is verified.
    let assembly: Double
    let delivery: Double

    var total: Double { recon + planning + work + assembly + delivery }

    /// Seconds in which slots are idle at the end of the passes, for each slot.
    var tail: Double { work - share }

    func speedup(over alone: CurveTimes) -> Double { alone.total / total }

    /// The share of the speed that this many slots could have.
    func efficiency(over alone: CurveTimes) -> Double { speedup(over: alone) / Double(slots) }

    /// The seconds that more and shorter passes add to each slot's share of the work.
    func overhead(over alone: CurveTimes) -> Double { share - alone.share / Double(slots) }
}

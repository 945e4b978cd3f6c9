internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelRandom
internal import ReelStore

/// A film of two hours, and one of ten minutes, on 1 to 1,000 slots: simulated from what passes, recon and assembly cost
/// here. `Benchmarks/curve` shows the same with real workers.
struct ClusterSection {
    let runner: SuiteRunner
    /// The measured source, and two films of many repetitions of it.
    let source: String
    let film: String
    let shortFilm: String
    /// Films in containers without a table, for recon.
    let withoutTable: [(name: String, file: String)]

    private static let slotCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]

    func run() async throws -> Section {
        let (costs, shown) = try await measureCosts()
        let long = try await planned(film)
        let short = try await planned(shortFilm)
        let times = try ClusterSection.slotCounts.map { try long.times(slots: $0, costs) }
        let brief = try [1, 2, 64].map { try short.times(slots: $0, costs) }
        let costsFile = "\(runner.folder)/curve-costs.json"
        try long.reading(costs).write(to: costsFile)

        var section = Section("A cluster, simulated")
        section.say(method(long, costs))
        section.say(
            "*Of more passes* is what an even share has gained since one slot, *tail* what the passes take beyond it; idle "
                + "cores that help the last encoders are left out. *Unequal passes* is the share of the ideal if each pass "
                + "costs up to 30 % more or less than that, the mean of \(ClusterSection.seeds) runs.")
        section.table(
            [
                "slots", "passes", "recon", "planning", "passes' time", "even share", "of more passes", "tail",
                "longest pass", "assembly after", "delivery", "in all", "times as fast", "of the ideal",
                "unequal passes",
            ], try times.map { row($0, alone: times[0]) + [try unequal(long, slots: $0.slots, costs)] })
        section.say(try recon(long, costs, try await reconWithoutTable(long)))
        section.say(
            "\(minutes(short)) minutes on two slots took \(duration(shown)), where the simulation says "
                + "\(duration(brief[1].total)).")
        section.say("`Benchmarks/curve --costs \(costsFile)` shows the same with real workers whose engines sleep.")
        section.goals = goals(times, brief, short)
        section.show("cluster.svg", chart(times))
        return section
    }

    private func method(_ film: PlannedFilm, _ costs: CurveCosts) -> String {
        "\(minutes(film)) minutes of 1080p with sound: the planner's own plan for each number of slots, each pass at the "
            + "cost that passes had here (decoding \(figure(1000 * costs.decode)) ms and encoding "
            + "\(figure(1000 * costs.encode)) ms a frame, \(figure(1000 * costs.pass, "%.0f")) ms beside that a pass, sound "
            + "\(figure(1000 * costs.sound, "%.1f")) ms a second), given out in the plan's order to whichever slot is free. "
            + "The assembly begins when a slot finds no pass, as it does on a board, and joins what comes "
            + "(\(figure(1e9 * costs.join)) ns a byte); after the last segment it needs "
            + "\(figure(costs.afterLast)) s, and \(figure(1e9 * costs.verify)) ns for each byte of the output. Recon, "
            + "planning and delivery were measured on the films themselves. All slots are as fast as this machine's, and "
            + "so is their store."
    }

    private func row(_ times: CurveTimes, alone: CurveTimes) -> [String] {
        [
            "\(times.slots)", "\(times.passes)", duration(times.recon), duration(times.planning), duration(times.work),
            duration(times.share), duration(times.overhead(over: alone)), duration(times.tail),
            duration(times.longest), duration(times.assembly), duration(times.delivery), duration(times.total),
            figure(times.speedup(over: alone), "%.1f"),
            figure(100 * times.efficiency(over: alone), "%.0f %%"),
        ]
    }

    private static let seeds: UInt64 = 10

    private func unequal(_ film: PlannedFilm, slots: Int, _ costs: CurveCosts) throws -> String {
        let shares = try (0..<ClusterSection.seeds).map { seed in
            let alone = try film.times(slots: 1, costs, seed: seed)
            return try film.times(slots: slots, costs, seed: seed).efficiency(over: alone)
        }
        return figure(100 * shares.reduce(0, +) / Double(shares.count), "%.0f %%")
    }

    private func goals(_ times: [CurveTimes], _ brief: [CurveTimes], _ short: PlannedFilm) -> [Goal] {
        func floor(_ times: CurveTimes, _ alone: CurveTimes) -> String {
            figure(alone.total / times.share / Double(times.slots)) + " if slots were never idle"
        }
        func share(_ times: CurveTimes, _ alone: CurveTimes, _ name: String, _ least: Double) -> Goal {
            Goal(
                name: "\(name) on \(times.slots) slots, simulated: share of the ideal", aim: .atLeast(least),
                found: [("", times.efficiency(over: alone))], floor: floor(times, alone), format: "%.3f")
        }
        let byCount = Dictionary(uniqueKeysWithValues: times.map { ($0.slots, $0) })
        var goals = [(64, 0.92), (256, 0.75)].compactMap { slots, least in
            byCount[slots].map { share($0, times[0], "two hours of 1080p", least) }
        }
        if let most = byCount[1000] {
            goals.append(
                Goal(
                    name: "two hours of 1080p on 1000 slots, simulated: times as fast as on one", aim: .atLeast(250),
                    found: [("", most.speedup(over: times[0]))],
                    floor: figure(times[0].total / most.share, "%.0f") + " if slots were never idle", format: "%.0f"))
        }
        return goals + [share(brief[2], brief[0], "\(minutes(short)) minutes of 1080p", 0.75)]
    }

    private func chart(_ times: [CurveTimes]) -> String {
        Chart.lines(
            [
                Chart.Line(name: "reel", points: times.map { (Double($0.slots), $0.speedup(over: times[0])) }),
                Chart.Line(
                    name: "without serial parts",
                    points: ClusterSection.slotCounts.prefix { $0 <= 512 }.map { (Double($0), Double($0)) }),
            ],
            x: "slots", y: "times as fast as one slot")
    }

    private func minutes(_ film: PlannedFilm) -> String { figure(film.seconds / 60, "%.0f") }

    // MARK: What is measured

    /// What a job's passes cost on one slot, and what an assembly costs for its bytes: from jobs of a minute and of ten.
    /// Also returns the seconds of the longer job, on two slots.
    private func measureCosts() async throws -> (costs: CurveCosts, longer: Double) {
        var costs = CurveCosts()
        let short = try await PrivateBoard.with(runner) { board in
            let began = ContinuousClock.now
            let id = try await board.finish(source, Peer.reelCoding, slots: 1)
            let wall = (ContinuousClock.now - began) / .seconds(1)
            let job = try board.job(id)
            let assembly = try await AssemblySection.assemblyInParts(of: job, source, in: runner)
            try await take(
                board.board().results(JobID(id)), of: job, wall: wall - assembly.joining - assembly.afterLast,
                &costs)
            return (assembly, bytes: Double(try outputBytes(of: job)))
        }
        let (long, longer) = try await PrivateBoard.with(runner) { board in
            let began = ContinuousClock.now
            let id = try await board.finish(shortFilm, Peer.reelCoding, slots: 2)
            let wall = (ContinuousClock.now - began) / .seconds(1)
            let job = try board.job(id)
            let assembly = try await AssemblySection.assemblyInParts(of: job, shortFilm, in: runner)
            let bytes = Double(try outputBytes(of: job))
            let fetched = runner.work("fetched.mp4")
            defer { runner.remove(fetched) }
            costs.delivery =
                try await runner.measure("fetch", [runner.coordinator, "fetch", id, "-o", fetched] + board.place).wall
                / bytes
            return ((assembly, bytes: bytes), wall)
        }
        let more = long.bytes - short.bytes
        costs.join = max(0, long.0.joining - short.0.joining) / more
        costs.verify = max(0, long.0.afterLast - short.0.afterLast) / more
        costs.afterLast = max(0, short.0.afterLast - costs.verify * short.bytes)
        return (costs, longer)
    }

    private func outputBytes(of job: JobFolder) throws -> Int64 {
        guard let result = try job.read().result else { throw Trouble("the job has no result") }
        return result.bytes
    }

    /// Takes the costs of passes from their results; `wall` is the time of the whole job but its assembly, on one slot.
    private func take(
        _ results: [Int: PassResult], of job: JobFolder, wall: Double, _ costs: inout CurveCosts
    ) async throws {
        let plan = try AssemblySection.plan(of: job)
        let film = try await PlannedFilm(of: job, recon: 0, planning: 0)
        var (video, sound, bytes) = (PassStatistics(), 0.0, (video: 0, sound: 0))
        for (place, result) in results where plan.passes.indices.contains(place) {
            let size = result.segments.reduce(0) { $0 + Int($1.bytes) }
            guard plan.passes[place].isVideo else {
                sound += result.statistics.decodeSeconds + result.statistics.encodeSeconds
                bytes.sound += size
                continue
            }
            bytes.video += size
            video.framesDecoded += result.statistics.framesDecoded
            video.framesEncoded += result.statistics.framesEncoded
            video.decodeSeconds += result.statistics.decodeSeconds
            video.encodeSeconds += result.statistics.encodeSeconds
        }
        let frames = Double(video.framesEncoded)
        costs.decode = video.decodeSeconds / Double(video.framesDecoded)
        costs.encode = video.encodeSeconds / frames
        costs.sound = sound / film.seconds
        let recon = try await runner.measure("recon", [runner.coordinator, "plan", source, "--json"]).wall
        // The rest of the job's time is divided among its passes.
        let known = recon + sound + video.decodeSeconds + video.encodeSeconds
        costs.pass = max(0, wall - known) / Double(plan.passes.count)
        costs.frameBytes = Double(bytes.video) / frames
        costs.soundBytes = Double(bytes.sound) / film.seconds
    }

    /// Submits a film twice: the second time it is not read again.
    private func planned(_ film: String) async throws -> PlannedFilm {
        try await PrivateBoard.with(runner) { board in
            let first = try await runner.measure("submit", board.submission(film, Peer.reelCoding)).wall
            guard let id = runner.standardOutput.split(separator: "\n").first else {
                throw Trouble("submit printed no job")
            }
            let again = Array(Peer.reelCoding.dropLast()) + ["\((Int(Peer.crf) ?? 20) + 1)"]
            let planning = try await runner.measure("submit again", board.submission(film, again)).wall
            return try await PlannedFilm(
                of: board.job(String(id)), recon: max(0, first - planning), planning: planning)
        }
    }

    /// Seconds of recon of a film as long as this one, for each container without a table.
    private func reconWithoutTable(_ film: PlannedFilm) async throws -> [(name: String, seconds: Double)] {
        var found: [(name: String, seconds: Double)] = []
        for (name, file) in withoutTable {
            let length = try await runner.text(
                ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file])
            guard let seconds = Double(length.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw Trouble("\(file) has no duration")
            }
            let wall = try await runner.measure("recon of \(name)", [runner.coordinator, "plan", file, "--json"]).wall
            found.append((name, wall * film.seconds / seconds))
        }
        return found
    }

    private func recon(
        _ film: PlannedFilm, _ costs: CurveCosts, _ found: [(name: String, seconds: Double)]
    ) throws -> String {
        let texts = try found.map { name, seconds in
            var film = film
            film.recon = seconds
            let (alone, some) = (try film.times(slots: 1, costs), try film.times(slots: 64, costs))
            let share = figure(100 * some.efficiency(over: alone), "%.0f")
            let times = figure(try film.times(slots: 1000, costs).speedup(over: alone), "%.0f")
            return "\(name) \(duration(seconds)), \(share) % of the ideal at 64 slots, \(times) times as fast at 1000"
        }
        return "Recon of such a film without a table, by that of a shorter one: \(texts.joined(separator: "; "))."
    }
}

/// A film that a job was planned for, so that it can be planned for any number of slots.
struct PlannedFilm {
    private let indexes: [SourceIndex]
    private let input: PlanInput
    /// Of the output.
    let seconds: Double
    var recon: Double
    let planning: Double

    init(of job: JobFolder, recon: Double, planning: Double) async throws {
        let plan = try AssemblySection.plan(of: job)
        indexes = try await job.readIndexes(of: plan)
        input = PlanInput(
            indexes: indexes, indexHashes: plan.sources.map(\.indexHash), spec: try job.read().spec, video: plan.video,
            audio: plan.audio)
        seconds = plan.clips.reduce(Rational(0)) { max($0, $1.map.offset + $1.map.duration) }.approximate
        (self.recon, self.planning) = (recon, planning)
    }

    /// The costs with those of reading and planning this film.
    func reading(_ costs: CurveCosts) -> CurveCosts {
        var costs = costs
        (costs.recon, costs.planning) = (recon, planning)
        return costs
    }

    /// - Parameter seed: makes passes cost up to 30 % more or less than others of their length; nil for equal costs.
    func times(slots: Int, _ costs: CurveCosts, seed: UInt64? = nil) throws -> CurveTimes {
        let costs = reading(costs)
        let plan = CostedPlan(try Planner(slots: slots).plan(input), indexes: indexes, costs: costs)
        let simulation = CurveSimulation(plan: plan, costs: costs)
        guard let seed else { return simulation.run(slots: slots) }
        var random = SplitMix64(seed: seed)
        let factors = plan.seconds.map { _ in Double.random(in: 0.7...1.3, using: &random) }
        return simulation.run(slots: slots) { factors[$0] }
    }
}

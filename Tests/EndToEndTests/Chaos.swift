import Foundation
import Glibc

/// Disturbs a working fleet as a seed says, and checks that every job still ends as it should.
actor Chaos {
    let fleet: Fleet
    /// Arguments of `submit`, the source first.
    let submission: [String]
    /// The output of an undisturbed run of the same source.
    private let reference: String
    let clock = ContinuousClock()
    private var plan: ChaosPlan
    var row: ChaosRow

    var job = ""
    /// The job's last known state on the board; nil while Redis is away.
    var sight: BoardSight?
    /// When the board answered last.
    private var seen: ContinuousClock.Instant
    /// The fault that comes next.
    private var next: (at: ContinuousClock.Instant, fault: ChaosPlan.Fault, choice: Int)?
    /// Later steps of faults that have begun.
    var due: [(at: ContinuousClock.Instant, act: Deferred)] = []
    var assemblyFault = ChaosPlan.AssemblyFault.none
    var recoveries: [Recovery] = []
    /// How often an engine was killed, by job and pass: the third crash would rightly end the job.
    var engineKills: [String: Int] = [:]
    var stopped: [pid_t] = []
    /// The faults of each worker's machine, and of Redis's.
    var sicknesses: [pid_t: Sickness] = [:]
    let redisSickness: Sickness
    /// The faults of the worker that cannot write in the store now.
    var closed: Sickness?
    /// Jobs of which all that the store had was removed once.
    var lostFolders: Set<String> = []
    /// The weights that jobs were given last.
    var weights: [String: Int] = [:]
    /// The names that jobs were given last.
    var names: [String: String] = [:]
    /// The worker whose calls to the store do not return now.
    var hung: Sickness?
    /// Jobs that the test submits in order to cancel them. True if the coordinator has reported the job as cancelled.
    var others: [String: Bool] = [:]
    /// Whether Redis has lost the job that the store has.
    private var isLost = false
    /// The name of a file at which engines of workers crash.
    static let fatal = "fatal.mov"
    private var segments = SegmentWatch()

    enum Deferred {
        case startWorker
        case startRedis
        case promoteRedis
        case openStore
        case wakeStore
        case resume
        case cancel(job: String)
        case killAssembler(token: String)
    }

    /// A pass whose holder was killed.
    struct Recovery {
        let job: String
        let index: Int
        let token: String
        let since: ContinuousClock.Instant
        var redisWentAway = false
    }

    struct Trouble: Error { var message: String }

    init(fleet: Fleet, redis: Sickness, seed: UInt64, isLong: Bool, submission: [String], reference: String) {
        self.fleet = fleet
        redisSickness = redis
        self.submission = submission
        self.reference = reference
        plan = ChaosPlan(seed: seed, isLong: isLong)
        row = ChaosRow(seed: seed)
        seen = clock.now
    }

    /// Runs jobs until the time is over, at least one, then lets running faults end.
    func run(for limit: Duration) async throws -> ChaosRow {
        for _ in 0..<3 { try await startWorker() }
        // Job after job is disturbed; one beside them is of a file that is fatal to engines.
        let fatal = try await submitFatal()
        let end = clock.now + limit
        var jobs: [String] = []
        repeat {
            try touch(submission[0], number: jobs.count)
            try await publish()
            jobs.append(job)
            try await work(until: end)
        } while clock.now < end && row.faults.isEmpty
        while !due.isEmpty || sight == nil { try await tick(until: nil) }
        try await judgeFatal(fatal)
        for job in jobs { try await judge(job) }
        for job in others.keys.sorted() { try await judgeOther(job) }
        try await judgeFleet()
        return row
    }

    /// The same source at another time is another job, of the same output.
    private func touch(_ source: String, number: Int) throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000 + Double(number))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: source)
    }

    /// Submits a job, killing submitting coordinators and Redis as planned, until one submission is acknowledged: from then on
    /// the job is to be done without another.
    private func publish() async throws {
        row.jobs += 1
        assemblyFault = plan.assembly()
        for fault in plan.publication() {
            let known = fleet.jobs
            let submitter = try await fleet.startCoordinator(["submit"] + submission)
            while submitter.isRunning, fleet.jobs == known { try await Task.sleep(for: .milliseconds(1)) }
            let outcome = try await disturb(submitter, fault)
            guard outcome.code != 0 else {
                job = outcome.output.trimmingCharacters(in: .newlines)
                return
            }
        }
        try await submit()
    }

    private func disturb(_ submitter: Child, _ fault: ChaosPlan.PublicationFault) async throws -> Outcome {
        switch fault {
        case .killCoordinator(let delay):
            try await Task.sleep(for: delay)
            let outcome = try await submitter.kill()
            if outcome.code == 128 + 9 { row.coordinatorsKilled += 1 }
            return outcome
        case .killRedis(let delay, let down, let cut):
            try await Task.sleep(for: delay)
            row.redisKilledSubmitting += 1
            try await killRedis(down: down, cut: cut)
            while submitter.isRunning { try await tick(until: nil) }
            return try await submitter.outcome
        }
    }

    /// Submits until that is answered.
    private func submit() async throws {
        while true {
            let outcome = try await fleet.coordinator(["submit"] + submission)
            job = outcome.output.trimmingCharacters(in: .newlines)
            if outcome.code == 0 { return }
            // Redis may be away at this moment.
            guard outcome.code == 4 else { throw Trouble(message: "submit: exit \(outcome.code), \(outcome.error)") }
            try await tick(until: nil)
        }
    }

    /// Disturbs the job until it has ended.
    private func work(until end: ContinuousClock.Instant) async throws {
        let patience = clock.now + .seconds(480)
        next = nil
        repeat {
            try await tick(until: end)
            // The log was cut before the job. A worker puts it back; only if the store has lost it, too, its user submits it again.
            if sight?.state == "", fleet.record(of: job) == nil { try await submit() }
            if let state = sight?.state, isLost != (state == "") {
                isLost = state == ""
                if !isLost { row.jobsBack += 1 }
            }
            if let state = sight?.state, state == "failed" || state == "cancelled" {
                let status = try await status()
                guard lostFolders.contains(job), state == "failed", try await isTrue(status) else {
                    return row.faults.append("job \(job) \(state): \(status)")
                }
                row.failuresSubmittedAgain += 1
                weights[job] = nil
                names[job] = nil
                // Passes of a failed job are not taken up again.
                recoveries.removeAll { $0.job == job }
                try await submit()
            }
            guard clock.now < patience else {
                return row.faults.append("job \(job) does not end: \(try await status()), \(String(describing: sight))")
            }
        } while sight?.state != "done"
    }

    /// Whether the status of a job whose folder was removed names the store and the host that saw it.
    private func isTrue(_ status: String) async throws -> Bool {
        status.contains(fleet.store) && status.contains(ProcessInfo.processInfo.hostName)
    }

    private func status() async throws -> String { try await fleet.coordinator(["status", job]).output }

    /// Checks everything, and does what is due.
    ///
    /// - Parameter end: when no more faults begin; nil if none shall begin.
    private func tick(until end: ContinuousClock.Instant?) async throws {
        try await Task.sleep(for: .milliseconds(30))
        let now = clock.now
        let acts = due.filter { $0.at <= now }.map(\.act)
        due.removeAll { $0.at <= now }
        for act in acts { try await perform(act) }
        row.faults += segments.look(into: fleet)
        if try await fleet.keepRedis() { row.redisRefusals += 1 }
        sight = try? BoardSight(fleet.socket, job: job)
        guard let sight else {
            guard now - seen < .seconds(120) else { throw Trouble(message: "Redis does not answer any more") }
            return
        }
        seen = now
        follow(sight)
        await disturbAssembly(sight)
        guard let end, now < end, sight.state == "running" || sight.state == "assembling" else { return }
        if let fault = next, fault.at <= now {
            next = nil
            try await perform(fault.fault, on: sight, choice: fault.choice)
        }
        if next == nil {
            let planned = plan.next()
            next = (clock.now + planned.pause, planned.fault, planned.choice)
        }
    }

    // MARK: The verdict

    private func judge(_ job: String) async throws {
        let sight = try BoardSight(fleet.socket, job: job)
        row.passes += sight.passes + 1
        if sight.state != "done" { row.faults.append("job \(job) is \(sight.state)") }
        if Set(sight.done.keys) != Set(0...sight.passes) {
            row.faults.append("job \(job) has recorded \(sight.done.keys.sorted()) of \(sight.passes) passes")
        }
        if !sight.live.isEmpty || !sight.copies.isEmpty {
            row.faults.append("still held of job \(job): \(sight.live), \(sight.copies)")
        }
        // A worker writes the end of a job into its record, if the one that ended it could not.
        let (weight, name) = (weights[job], names[job])
        let isRecorded = try await eventually { [fleet] in
            guard let record = fleet.record(of: job), record["state"] as? String == "done", record["result"] != nil
            else { return false }
            let (terms, said) = (record["terms"] as? [String: Any], record["submission"] as? [String: Any])
            return (weight == nil || terms?["weight"] as? Int == weight)
                && (name == nil || said?["name"] as? String == name)
        }
        if !isRecorded {
            row.faults.append(
                "the record of job \(job), of weight \(weight ?? 1) and name \(name ?? "-"): "
                    + "\(fleet.record(of: job) ?? [:])")
        }
        let output = "\(fleet.store)/jobs/\(job)/output.mov"
        if !FileManager.default.contentsEqual(atPath: output, andPath: reference) {
            row.faults.append("the output of job \(job) is not what an undisturbed run gives")
        }
    }

    /// Expects that a job that may have been cancelled is cancelled everywhere, or done everywhere, and removes it.
    private func judgeOther(_ job: String) async throws {
        let isCancelled = others[job] == true
        let agrees = try await eventually { [fleet] in
            guard let record = fleet.record(of: job), let state = record["state"] as? String,
                let sight = try? fleet.sight(job)
            else { return false }
            // Redis may have lost a job that has ended: it does not come back.
            guard sight.state == state || sight.state == "" else { return false }
            return state == "cancelled" || state == "done" && !isCancelled && record["result"] != nil
        }
        if !agrees {
            let state = (try? fleet.sight(job).state) ?? "unknown"
            row.faults.append(
                "job \(job)\(isCancelled ? ", which was cancelled," : "") is \(state), its record: "
                    + "\(fleet.record(of: job) ?? [:])")
        }
        let removal = try await fleet.coordinator(["remove", job])
        if removal.code != 0 { row.faults.append("job \(job) cannot be removed: \(removal.error)") }
    }

    private func submitFatal() async throws -> String {
        let source = fleet.fixture.path(Chaos.fatal)
        if !FileManager.default.fileExists(atPath: source) {
            try FileManager.default.copyItem(atPath: submission[0], toPath: source)
        }
        return try await fleet.submit([source] + submission.dropFirst())
    }

    /// Expects that it fails with the right reason and the name of a machine, and stops no machine from working.
    private func judgeFatal(_ job: String) async throws {
        let hasEnded = try await eventually {
            let state = (try? self.fleet.sight(job).state) ?? "away"
            // The log was cut as far as its publication.
            if state == "" { _ = try await self.submitFatal() }
            return state == "failed"
        }
        let status = try await fleet.coordinator(["status", job]).output
        let host = ProcessInfo.processInfo.hostName
        if !hasEnded || !status.contains("SIGSEGV") || !status.contains(host) {
            row.faults.append("the job that is fatal to engines: \(status)")
        }
        // One whose disk was full tries again after a minute.
        let atWork = try await eventually {
            // The last report of a killed worker stays listed for a while.
            try await self.fleet.listedWorkers().filter { !$0.gone }.allSatisfy { worker in
                worker.slotsOut == 0 && !worker.notes.contains { $0.hasPrefix("claims nothing") }
            }
        }
        if !atWork { row.faults.append("not at work: \(try await fleet.listedWorkers())") }
        _ = try await fleet.coordinator(["remove", job])
    }

    private func judgeFleet() async throws {
        let fleet = fleet
        // Leases of killed workers on finished passes lapse like any other.
        if try await !eventually({ try BoardSight.leases(fleet.socket).isEmpty }) {
            row.faults.append("leases left: \(try BoardSight.leases(fleet.socket))")
        }
        let takenBack = try BoardSight.events("invalidated", fleet.socket)
        row.takenBack = takenBack.values.reduce(0, +)
        // A job that failed since its folder was removed was begun again.
        let beginnings = 1 + row.failuresSubmittedAgain
        let twice = try BoardSight.events("completed", fleet.socket)
            .filter { $0.value > beginnings + takenBack[$0.key, default: 0] }.keys
        if !twice.isEmpty { row.faults.append("recorded twice: \(twice.sorted())") }
        if row.recovery > 30 { row.faults.append("a pass was elsewhere only after \(row.recovery) s") }
        let outcomes = try await fleet.endWorkers()
        for outcome in outcomes where outcome.code != 0 && outcome.code != 128 + 9 {
            row.faults.append("a worker ended with \(outcome.code): \(outcome.error)")
        }
        countBegun(outcomes.flatMap(\.errorLines))
        if try await !eventually({ fleet.fixture.processes.allSatisfy { $0.contains("redis-server") } }) {
            row.faults.append("left running: \(fleet.fixture.processes)")
        }
        let left = fleet.leftovers + fleet.fixture.names.filter { $0.hasPrefix("tmp/") }
        if !left.isEmpty { row.faults.append("left behind: \(left)") }
    }

    /// Workers say which passes they begin, and which they find whole.
    private func countBegun(_ lines: [Substring]) {
        var begun: [Substring: Int] = [:]
        for line in lines {
            if line.hasSuffix(" was whole already") { row.foundWhole += 1 }
            guard let place = line.range(of: "] begins ") else { continue }
            begun[line[place.upperBound...], default: 0] += 1
        }
        row.begunAgain = begun.values.count { $0 > 1 }
    }
}

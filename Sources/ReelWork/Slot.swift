internal import Foundation
internal import Logging
package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords
internal import Synchronization

/// A place of a worker where one pass at a time is worked on: claim, engine, report, again. An engine lives as long as
/// passes of one job follow each other, so that the source stays open between them.
package final class Slot: Sendable {
    private let environment: WorkerEnvironment
    private let claimer: Claimer
    private let health = Mutex(SlotHealth())

    package init(_ environment: WorkerEnvironment, claimer: Claimer) {
        self.environment = environment
        self.claimer = claimer
    }

    package func run() async {
        var next = await claimer.next()
        while let work = next {
            next = await serve(work)
            if next == nil, await isTrusted() { next = await claimer.next() }
        }
    }

    /// Returns true at once if the slot's engines work as far as it knows; otherwise when an engine has done a clip of
    /// the worker's own. False if the worker drains before.
    private func isTrusted() async -> Bool {
        guard health.withLock(\.pauseBeforeTrial) != nil else { return true }
        let (notes, log) = (environment.notes, environment.log)
        notes.slotLeaves()
        defer { notes.slotReturns() }
        while let pause = health.withLock(\.pauseBeforeTrial) {
            let jobs = SlotHealth.jobsInARow
            log.error("a slot claims nothing: engines crashed in \(jobs) jobs in a row; it tries a clip in \(pause)")
            guard await environment.drain.staysOff(for: pause) else { return false }
            var failure: ReelFailure?
            do throws(ReelFailure) { try await SlotTrial(environment.engines).run() } catch { failure = error }
            health.withLock { $0.tried(succeeded: failure == nil) }
            if let failure { log.error("the slot's engine did not do the clip: \(failure.words)") }
        }
        log.notice("the slot claims again: its engine did the clip")
        return true
    }

    /// Does what was claimed, then passes of the same job. Returns other work that was claimed.
    private func serve(_ work: ClaimedWork) async -> ClaimedWork? {
        let hold = Hold()
        let life = Task { try await live(work, hold) }
        hold.kill.arm { life.cancel() }
        // Failures are reported when the engine has ended.
        if case .failure(let error) = await life.result { await report(.failed(.of(error)), hold) }
        return hold.next
    }

    private func live(_ work: ClaimedWork, _ hold: Hold) async throws(ReelFailure) {
        let attempt = begin(work, hold)
        guard let context = work.context else { return await report(try await plan(attempt), hold) }
        guard let first = try await prepare(attempt, context, hold) else { return }
        try await ReelFailure.unifying {
            let scratch = try TemporaryFolder(scratchIn: environment.scratch)
            let scope = try await context.scope(scratch: scratch.path, first.allowance)
            let memory = work.claim.need + context.plan.reservedAddresses
            try await environment.engines.withEngine(memory: memory, scope: scope) { engine in
                var current: PassAttempt? = first
                while let attempt = current {
                    let result = try await perform(attempt, in: engine, scratch)
                    current = try await following(attempt, result, hold)
                }
            }
        }
    }

    private func begin(_ work: ClaimedWork, _ hold: Hold) -> Attempt {
        let attempt = Attempt(work: work)
        hold.attempt = attempt
        environment.passes.add(work.claim, frames: work.frames, kill: hold.kill)
        return attempt
    }

    /// Makes a job's plan and publishes it, as the process that submitted the job would. A small job is done as a whole.
    private func plan(_ attempt: Attempt) async throws(ReelFailure) -> Attempt.Outcome {
        environment.log.info("begins \(attempt.work.description)", metadata: attempt.work.facts)
        let capacity = try await Capacity.ofWorkers(on: environment.board)
        let planning = Planning(
            store: environment.store, engine: environment.engines, capacity: capacity, quotas: environment.quotas)
        let scratch = try TemporaryFolder(scratchIn: environment.scratch)
        // What a job may take counts from its first pass on, so planning takes nothing of it.
        let (job, isDone, failure) = try await attempt.timed(environment.quotas.allowance()) { [environment] in
            try await planning.plan(attempt.claim, on: environment.board, scratch: scratch.path)
        }
        if let failure {
            environment.log.notice(
                """
                job \(job.id) was not done as a whole, since \(failure.step) failed: \(failure.failure.words); its passes \
                are published instead
                """, metadata: attempt.work.facts)
        }
        return .planned(passes: job.plan.passes.count, isDone: isDone)
    }

    /// Looks for segments of earlier attempts, in the pass's own time. Nil, after its report, if all are whole.
    private func prepare(
        _ attempt: Attempt, _ context: JobContext, _ hold: Hold
    ) async throws(ReelFailure) -> PassAttempt? {
        let (work, passes) = (attempt.work, environment.passes)
        let allowance = try await allowance(of: attempt.claim.job)
        let (found, result) = try await attempt.timed(allowance) { [environment] in
            await withTaskExecutorPreference(StoreExecutor.shared) {
                let found = await PassAttempt(attempt, context, allowance, in: environment)
                return (found, await found.finished())
            }
        }
        passes.update(attempt.claim, wholeChunks: found.reused.count, frames: found.reusedFrames)
        environment.log.info(
            result == nil ? "begins \(work.description)" : "\(work.description) was whole already",
            metadata: work.facts)
        guard let result else { return found }
        await report(.made(result), hold)
        return nil
    }

    private func allowance(of job: JobID) async throws(ReelFailure) -> PassAllowance {
        let quotas = environment.quotas
        guard quotas.countsJobs, let status = try await environment.board.status(job) else {
            return try quotas.allowance()
        }
        return try quotas.allowance(elapsed: status.elapsed ?? 0, cpu: status.cpuSeconds)
    }

    private func perform(
        _ attempt: PassAttempt, in engine: any Engine, _ scratch: TemporaryFolder
    ) async throws(ReelFailure) -> PassResult {
        let (claim, work) = (attempt.attempt.claim, attempt.attempt.work)
        let before = engine.cpuSeconds
        do {
            var result = try await attempt.attempt.timed(attempt.allowance) { [passes = environment.passes] in
                try await attempt.perform(in: engine, scratch: scratch.path) { passes.update(claim, $0) }
            }
            result.statistics.cpuSeconds = max(0, engine.cpuSeconds - before)
            return result
        } catch {
            // Kept so that a user can look into the failure. If it cannot be kept, the attempt ends as it would anyway.
            try? await work.entry.writeAttempt(
                pass: claim.index, token: claim.token, standardError: engine.standardErrorTail)
            throw await environment.store.checked(attempt.allowance.explained(error), scratch: scratch)
        }
    }

    /// Reports a pass, and begins the next one of the same job that needs an engine; nil if there is none.
    private func following(
        _ done: PassAttempt, _ result: PassResult, _ hold: Hold
    ) async throws(ReelFailure) -> PassAttempt? {
        // What this report makes claimable, such as the assembly, is for this slot: its engine runs.
        await claimer.holdIdleSlots()
        await report(.made(result), hold)
        var claimed = await claimer.take()
        await claimer.admitIdleSlots()
        let now = done.attempt.work
        // The kernel counts CPU time over an engine's life, so with a limit on it each pass needs an engine of its own.
        let isLast = environment.quotas[.passCPU] != nil || environment.quotas.countsJobs
        while let next = claimed {
            guard !isLast, next.claim.job == now.claim.job, next.claim.need == now.claim.need,
                let context = next.context, context.describes(now.record, plan: now.claim.plan)
            else {
                hold.next = next
                return nil
            }
            if let attempt = try await prepare(begin(next, hold), context, hold) { return attempt }
            claimed = await claimer.take()
        }
        return nil
    }

    /// Reports the attempt that has begun, and lets go of its claim. Does nothing if none has, or its report was made.
    private func report(_ outcome: Attempt.Outcome, _ hold: Hold) async {
        guard let attempt = hold.attempt else { return }
        hold.attempt = nil
        let reporter = AttemptReporter(attempt: attempt, environment: environment, host: claimer.host)
        let answer = await reporter.report(outcome)
        switch outcome {
        case .made, .planned: health.withLock { $0.passFinished() }
        case .failed(let failure):
            // A crash counts against this slot, unless the board knows that the job is at fault.
            guard failure.cause == .crash, answer?.blamesJob != true else { break }
            health.withLock { $0.engineCrashed(in: attempt.claim.job) }
        }
        environment.passes.remove(attempt.claim)
        await claimer.release(attempt.claim)
    }
}

/// What a slot holds from a claim on until an engine has ended.
private final class Hold: Sendable {
    private let state = Mutex<(attempt: Attempt?, next: ClaimedWork?)>((nil, nil))
    let kill = KillSwitch()

    /// The attempt that has begun and is not reported yet.
    var attempt: Attempt? {
        get { state.withLock(\.attempt) }
        set { state.withLock { $0.attempt = newValue } }
    }

    /// Work that was claimed and is not for this engine.
    var next: ClaimedWork? {
        get { state.withLock(\.next) }
        set { state.withLock { $0.next = newValue } }
    }
}

/// Has an engine of this machine reverse a clip of the worker's own: it shows whether decoder and encoder work here.
package struct SlotTrial: Sendable {
    private let engines: any EngineRunner

    package init(_ engines: any EngineRunner) { self.engines = engines }

    private static let frames = 12
    private static let (width, height) = (64, 48)

    /// Makes the clip, and has engines read, plan and reverse it. Throws what goes wrong.
    package func run() async throws(ReelFailure) {
        let (folder, stored) = (try PrivateFolder(), try PrivateFolder())
        defer { withExtendedLifetime((folder, stored)) {} }
        let clip = folder.path + "/clip.y4m"
        guard FileManager.default.createFile(atPath: clip, contents: Data(SlotTrial.clip)) else {
            throw ReelFailure(.folderUnwritable(path: folder.path, errno: nil))
        }
        // The frames of each pass are given, so that the clip is encoded; otherwise its packets would be copied.
        let spec = JobSpec(container: .mkv, passFrames: SlotTrial.frames)
        let planning = Planning(
            store: try FolderStore.make(root: stored.path), engine: engines,
            capacity: Capacity(slots: 1, memoryTotal: 1 << 30, isLimit: false))
        let job = try await planning.planAlone(JobRecord(submitting: [clip], spec: spec), anew: true)
        let files = await JobFiles(
            sources: try planning.store.indexes(of: job.plan, job.record).map {
                SourceFiles(source: .file(clip), index: $0)
            },
            plan: job.entry.plan(job.plan.number))
        let request = EngineRequest.reverse(
            PassRequest(
                job: files, pass: 0,
                segments: job.plan.subjects(of: job.plan.passes[0]).map {
                    job.entry.place(of: SegmentName(subject: $0, token: "0"))
                }, scratch: folder.path))
        let answer = try await ReelFailure.unifying {
            let scope = EngineScope(
                sources: [], reads: files.sources.map(\.index) + [files.plan],
                folders: try await job.entry.engineFolders() + [.file(folder.path)])
            let memory = job.plan.need + job.plan.reservedAddresses
            return try await engines.withEngine(memory: memory, scope: scope) { try await $0.perform(request) }
        }
        guard case .pass(let result) = answer, result.segments.reduce(0, { $0 + $1.frames }) == SlotTrial.frames else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
    }

    /// Frames that all look different, in YUV4MPEG2: a line of text before the samples of each frame.
    private static var clip: [UInt8] {
        var bytes = Array("YUV4MPEG2 W\(width) H\(height) F24000:1001 Ip A1:1 C420jpeg\n".utf8)
        for frame in 0..<frames {
            bytes += Array("FRAME\n".utf8)
            bytes += (0..<width * height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* (frame + 3) + $0 / width) }
        }
        return bytes
    }
}

/// Whether a slot's engines still work. A bad job crashes engines on every machine, a bad machine those of every job. A
/// slot whose engines crash in several jobs in a row, without finishing a pass, may use up attempts of more jobs. So it
/// claims nothing until an engine has done the worker's own clip.
package struct SlotHealth {
    /// Crashes in this many jobs in a row stop a slot.
    package static let jobsInARow = 3

    private var crashed: Set<JobID> = []
    /// Jobs in which engines crashed before the slot's engine did the clip: those jobs were at fault.
    private var blamed: Set<JobID> = []
    /// How often an engine was given the clip since a pass was last finished.
    private var trials = 0

    package init() {}

    /// How long to wait before an engine is given the clip; nil if the slot may claim. The first trial comes at once,
    /// since most crashes are a bad job's, the next after a minute, then after twice the time, at most 30 minutes.
    package var pauseBeforeTrial: Duration? {
        guard crashed.count >= SlotHealth.jobsInARow else { return nil }
        return trials == 0 ? .zero : .seconds(min(60 << min(trials - 1, 5), 1800))
    }

    package mutating func passFinished() {
        crashed = []
        trials = 0
    }

    /// An engine crashed in a job, and no other host is known to crash at the same place.
    package mutating func engineCrashed(in job: JobID) {
        if !blamed.contains(job) { crashed.insert(job) }
    }

    package mutating func tried(succeeded: Bool) {
        trials += 1
        guard succeeded else { return }
        blamed = blamed.count < 1000 ? blamed.union(crashed) : crashed
        crashed = []
    }
}

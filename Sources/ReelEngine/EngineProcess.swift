internal import Glibc
internal import ReelCore
internal import ReelHost
internal import Subprocess
internal import Synchronization

/// The engine's process from start to end: carries lines between it and the dialogue, watches it, kills it.
final class EngineProcess: Sendable {
    typealias Execution = Subprocess.Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// Kills at once: an engine has nothing to clean up.
    static let killingGroup = [TeardownStep.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)]

    /// How many orders may wait to be carried out.
    private static let mostOrders = 1000

    let standardError = ByteTail(limit: 64 << 10)
    private let execution: Execution
    private let limits: EngineLimits
    private let sources: [any FetchedSource]
    private let orders = AsyncStream.makeStream(of: FetchOrder.self)
    private let state: Mutex<State>

    private struct State {
        var dialogue: Dialogue
        /// Orders that have not been carried out. An engine that waits for bytes is not hung.
        var fetching = 0
        /// When the engine last reported something, or got a request.
        var lastEvent = SuspendingClock().now
        /// At most one of the two is set: an answer that has not been fetched, or a continuation that waits for one.
        var answer: Dialogue.Reply?
        var waiter: CheckedContinuation<Dialogue.Reply, Never>?
    }

    init(_ execution: Execution, limits: EngineLimits, sources: [any FetchedSource]) {
        self.execution = execution
        self.limits = limits
        self.sources = sources
        state = Mutex(State(dialogue: Dialogue(sizes: sources.map(\.size))))
    }

    var cpuSeconds: Double { ProcessUse.cpuSeconds(of: execution.processIdentifier.value) }

    var isDead: Bool { state.withLock { $0.dialogue.isOver || $0.dialogue.killReason != nil } }

    /// Runs `body` while the process runs, and returns when both have ended.
    nonisolated(nonsending) func live<R: Sendable>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async -> Result<R, any Error> {
        async let supervision: Void = supervise()
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try? await execution.standardInputWriter.finish()
        kill(.finished)
        await supervision
        return result
    }

    /// Sends the confinement, and waits until the engine has sent its identity.
    func start(_ confinement: Confinement) async throws(ReelFailure) -> EngineIdentity {
        // If the line cannot be written, the engine is dead or dying: its end is the answer.
        _ = try? await execution.standardInputWriter.write(line(.confinement(confinement)))
        switch await awaitAnswer() {
        case .ready(let identity) where identity.version == Wire.version: return identity
        case .ready(let identity): throw ReelFailure(.engineVersion(version: identity.version, supported: Wire.version))
        case .failure(let failure): throw failure
        case .result: preconditionFailure("the dialogue lets no result pass before a request")
        }
    }

    /// - Parameter next: gives the segments that belong to the request, nil after the last.
    func perform(
        _ request: EngineRequest, progress: @escaping Dialogue.Report, next: NextSegments?
    ) async throws(ReelFailure) -> EngineResult {
        let line = try line(.request(request))
        try state.withLock { state throws(ReelFailure) in
            state.lastEvent = SuspendingClock().now
            try state.dialogue.begin(request, progress)
        }
        do {
            return try await withTaskCancellationHandler {
                // If a line cannot be written, the engine is dead or dying: its end is the answer.
                _ = try? await execution.standardInputWriter.write(line)
                guard let next else { return try await result() }
                return try await result(feeding: next)
            } onCancel: {
                kill(.cancelled)
            }
        } catch {
            // Any other error here means that the task was cancelled.
            throw error as? ReelFailure ?? ReelFailure(.interrupted)
        }
    }

    /// Waits for the result of the request that was sent last.
    private func result() async throws(ReelFailure) -> EngineResult {
        switch await awaitAnswer() {
        case .result(let result): return result
        case .failure(let failure): throw failure
        case .ready: preconditionFailure("the dialogue lets ready pass only once")
        }
    }

    /// The same, while segments are sent as they become known. If that fails, the engine is killed.
    private func result(feeding next: @escaping NextSegments) async throws -> EngineResult {
        try await withThrowingTaskGroup(of: EngineResult?.self) { group in
            group.addTask {
                try await withTaskCancellationHandler {
                    try await self.result()
                } onCancel: {
                    self.kill(.cancelled)
                }
            }
            group.addTask {
                while let segments = try await next() { try await self.send(segments) }
                return nil
            }
            defer { group.cancelAll() }
            while let answer = try await group.next() {
                if let answer { return answer }
            }
            throw ReelFailure(.engineEnded)
        }
    }

    private func send(_ segments: [StoredSegment]) async throws(ReelFailure) {
        // A line of all segments of a long job would take much memory at once.
        for start in stride(from: 0, to: segments.count, by: 500) {
            let part = Array(segments[start..<min(start + 500, segments.count)])
            _ = try? await execution.standardInputWriter.write(line(.segments(part)))
        }
    }

    private func line(_ input: EngineInput) throws(ReelFailure) -> [UInt8] {
        do { return try CanonicalJSON.bytes(of: input) + [UInt8(ascii: "\n")] } catch {
            throw ReelFailure(.requestUnwritable(said: "\(error)"))
        }
    }

    private func awaitAnswer() async -> Dialogue.Reply {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.waiter = continuation }
                return state.answer.take()
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func deliver(_ answer: Dialogue.Reply) {
        let waiter = state.withLock { state in
            if state.waiter == nil { state.answer = answer }
            return state.waiter.take()
        }
        waiter?.resume(returning: answer)
    }

    /// Kills the engine's process group, unless the dialogue is over: the process may then have been reaped, and its
    /// number may belong to another process.
    private func kill(_ reason: KillReason) {
        state.withLock { state in
            if state.dialogue.noteKill(reason) { try? execution.send(signal: .kill, toProcessGroup: true) }
        }
    }
}

// Work that runs in parallel with the requests.
extension EngineProcess {
    /// Reads the engine's lines until it is dead, watching it, and ends the dialogue.
    private func supervise() async {
        async let errors: Void = readErrors()
        async let _: Void = watch()
        async let _: Void = fetch()
        await readEvents()
        let end = await finish()
        await errors
        let answer = state.withLock { $0.dialogue.end(end, lastWords: standardError.lastLine) }
        if let answer { deliver(answer) }
    }

    private func readErrors() async {
        do {
            for try await buffer in execution.standardError { buffer.withUnsafeBytes { standardError.append($0) } }
        } catch {
            // Everything readable has been read.
        }
    }

    private func readEvents() async {
        var splitter = LineSplitter()
        do {
            for try await buffer in execution.standardOutput {
                let limit = state.withLock { $0.dialogue.longestLine }
                guard let lines = buffer.withUnsafeBytes({ splitter.split($0, limit: limit) }) else {
                    return kill(.nonsense(.longLine(limit: limit)))
                }
                lines.forEach(receive)
            }
        } catch {
            kill(.nonsense(.unreadable(said: "\(error)")))
        }
    }

    private func receive(_ line: [UInt8]) {
        let event = EngineEvent(line: line)
        let step = state.withLock { state -> Dialogue.Action in
            state.lastEvent = SuspendingClock().now
            return event.map { state.dialogue.receive($0) }
                ?? .kill(.nonsense(.noEvent(line: quoted(String(decoding: line, as: UTF8.self)))))
        }
        switch step {
        case .report(let progress, let report): report(progress)
        case .answer(let answer): deliver(answer)
        case .fetch(let order):
            let count = state.withLock { state in
                state.fetching += 1
                return state.fetching
            }
            // An engine waits for nearly each before the next one.
            guard count <= EngineProcess.mostOrders else { return kill(.nonsense(.strayFetch)) }
            orders.continuation.yield(order)
        case .kill(let reason): kill(reason)
        }
    }

    /// Carries out the engine's orders, two at a time, until cancelled.
    private func fetch() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await order in orders.stream {
                // Before later orders, which may bring the same bytes again.
                if let discarded = order.discarded { sources[order.source].discard(discarded) }
                if running == 2 {
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await self.carryOut(order) }
            }
            group.cancelAll()
        }
    }

    private func carryOut(_ order: FetchOrder) async {
        do throws(ReelFailure) {
            try await sources[order.source].fetch(order.range)
            let line = try line(.fetched(order))
            state.withLock { state in
                state.fetching -= 1
                state.lastEvent = SuspendingClock().now
            }
            _ = try? await execution.standardInputWriter.write(line)
        } catch {
            kill(.source(error))
        }
    }

    /// Kills the engine's remaining processes when its output has ended, and returns how it ended.
    private func finish() async -> EngineEnd? {
        let process = execution.processIdentifier.value
        // A dying process closes its output a moment before it ends.
        let patience = SuspendingClock().now.advanced(by: .seconds(1))
        while !isDead, EngineEnd(ofUnreaped: process) == nil, SuspendingClock().now < patience,
            (try? await Task.sleep(for: .milliseconds(5))) != nil
        {}
        if Task.isCancelled {
            kill(.cancelled)
        } else if EngineEnd(ofUnreaped: process) == nil {
            kill(.nonsense(.closedOutput))
        }
        await execution.teardown(using: EngineProcess.killingGroup)
        return EngineEnd(ofUnreaped: process)
    }

    private func watch() async {
        let process = execution.processIdentifier.value
        var watchdog = Watchdog(limits)
        while (try? await Task.sleep(for: watchdog.interval, clock: .suspending)) != nil {
            let use = ProcessUse(of: process)
            if let use, use.threads > limits.threads { return kill(.nonsense(.manyThreads(most: limits.threads))) }
            let lastEvent = state.withLock { state in
                // A stopped engine is not hung.
                if Children.own.areStopped || state.fetching > 0 { state.lastEvent = SuspendingClock().now }
                return state.dialogue.isWaiting ? state.lastEvent : nil
            }
            guard let lastEvent else { continue }
            let reason = watchdog.judge(now: SuspendingClock().now, lastEvent: lastEvent, cpu: use?.cpu)
            if let reason { return kill(reason) }
        }
    }
}

extension EngineEnd {
    /// How a child that is not reaped yet ended, without reaping it; nil while it lives.
    fileprivate init?(ofUnreaped process: pid_t) {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0,
            info._sifields._sigchld.si_pid == process
        else { return nil }
        let status = info._sifields._sigchld.si_status
        self = info.si_code == CInt(CLD_EXITED) ? .exited(code: status) : .signalled(signal: status)
    }
}

/// The last bytes that were written to it, in bounded memory.
final class ByteTail: Sendable {
    private let limit: Int
    private let bytes = Mutex<[UInt8]>([])

    init(limit: Int) { self.limit = limit }

    func append(_ more: some Collection<UInt8>) {
        bytes.withLock { bytes in
            bytes += more.suffix(limit)
            // Dropping rarely keeps the cost per byte constant.
            if bytes.count > 2 * limit { bytes.removeFirst(bytes.count - limit) }
        }
    }

    /// As UTF-8; invalid bytes are replaced.
    var text: String { bytes.withLock { String(decoding: $0.suffix(limit), as: UTF8.self) } }

    /// The last line that is not empty.
    var lastLine: String? {
        text.split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }
}

/// Cuts a stream of bytes into lines.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// The lines that end within `bytes`, without their ends; nil if one has more bytes than `limit`.
    mutating func split(_ bytes: some Collection<UInt8>, limit: Int) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var pending = bytes[...]
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest + pending[..<end]
            guard line.count <= limit else { return nil }
            lines.append(line)
            rest = []
            pending = pending[pending.index(after: end)...]
        }
        rest += pending
        return rest.count > limit ? nil : lines
    }
}

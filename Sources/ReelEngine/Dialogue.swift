internal import ReelCore

/// The state machine of a session: which event answers which request, and how the end of the engine answers it.
struct Dialogue: Sendable {
    typealias Report = @Sendable (EngineProgress) -> Void

    enum Reply: Sendable {
        case ready(EngineIdentity)
        case result(EngineResult)
        case failure(ReelFailure)
    }

    enum Action {
        case report(EngineProgress, Report)
        case answer(Reply)
        case fetch(FetchOrder)
        case kill(KillReason)
    }

    private enum Phase {
        case starting
        case idle
        case working(EngineRequest, Report, last: EngineProgress?)
        case ended(ReelFailure)
    }

    /// Of the sources whose bytes the engine may ask for.
    private let sizes: [Int64]
    private var phase = Phase.starting
    /// Why the engine is being killed; nil if it is not. The first reason counts.
    private(set) var killReason: KillReason?
    /// What the engine was doing when it was killed: the other side may send another request before it is dead.
    private var killedAt: EnginePlace?

    init(sizes: [Int64] = []) { self.sizes = sizes }

    /// Whether the engine owes an event.
    var isWaiting: Bool {
        switch phase {
        case .starting, .working: killReason == nil
        case .idle, .ended: false
        }
    }

    /// The greatest length of the engine's next line, in bytes.
    var longestLine: Int {
        if case .working(let request, _, _) = phase { request.longestAnswer } else { EngineRequest.longestLine }
    }

    var isOver: Bool { if case .ended = phase { true } else { false } }

    /// Notes that a request is sent. Throws the failure that ended the engine, if it has ended.
    mutating func begin(_ request: EngineRequest, _ report: @escaping Report) throws(ReelFailure) {
        switch phase {
        case .idle: phase = .working(request, report, last: nil)
        case .ended(let failure): throw failure
        case .starting, .working: preconditionFailure("an engine takes one request at a time")
        }
    }

    mutating func receive(_ event: EngineEvent) -> Action {
        switch (phase, event) {
        case (.starting, .ready(let identity)):
            phase = .idle
            return .answer(.ready(identity))
        case (.working(let request, let report, _), .progress(let progress)):
            phase = .working(request, report, last: progress)
            return .report(progress, report)
        case (.working(let request, _, _), .result(let result)):
            if let part = result.flaw(answering: request) { return .kill(.nonsense(.unfitResult(part: part))) }
            phase = .idle
            return .answer(.result(result))
        case (.working(let request, _, _), .failure(let failure)):
            return receive(failure, isPossible: failure.mayAnswer(request))
        case (.starting, .failure(let failure)): return receive(failure, isPossible: failure.mayPreventStart)
        case (.working, .fetch(let order)) where isPossible(order): return .fetch(order)
        case (_, .fetch): return .kill(.nonsense(.strayFetch))
        case (_, .ready): return .kill(.nonsense(.secondReady))
        case (_, .progress): return .kill(.nonsense(.strayProgress))
        case (_, .result): return .kill(.nonsense(.strayResult))
        case (_, .failure(let failure)):
            return .kill(.nonsense(failure.isShort ? .strayFailure(failure: failure) : .longFailure))
        }
    }

    private func isPossible(_ order: FetchOrder) -> Bool {
        guard sizes.indices.contains(order.source) else { return false }
        return [order.range, order.discarded ?? order.range].allSatisfy { range in
            !range.isEmpty && range.lowerBound >= 0 && range.upperBound <= sizes[order.source]
        }
    }

    private mutating func receive(_ failure: ReelFailure, isPossible: Bool) -> Action {
        guard isPossible else { return .kill(.nonsense(.unfitFailure(code: failure.reason.code))) }
        guard failure.isShort else { return .kill(.nonsense(.longFailure)) }
        phase = .idle
        return .answer(.failure(failure))
    }

    /// Notes why the engine is being killed. Returns false if another reason was noted before, or the engine has ended.
    mutating func noteKill(_ reason: KillReason) -> Bool {
        guard killReason == nil, !isOver else { return false }
        killReason = reason
        killedAt = place
        return true
    }

    /// The engine is dead. The answer goes to the caller that waits for one.
    mutating func end(_ end: EngineEnd?, lastWords: String?) -> Reply? {
        let failure = failure(end, lastWords)
        switch phase {
        case .ended: return nil
        case .idle:
            phase = .ended(failure)
            return nil
        case .starting, .working:
            phase = .ended(failure)
            return .failure(failure)
        }
    }

    private func failure(_ end: EngineEnd?, _ lastWords: String?) -> ReelFailure {
        let place = killedAt ?? place
        let lastWords = lastWords.map(quoted)
        return switch killReason {
        case .cancelled: ReelFailure(.engineInterrupted(place: place))
        case .finished: ReelFailure(.engineEnded)
        case .hung(let hang, let limit):
            ReelFailure(.engineHung(place: place, hang: hang, seconds: limit.inSeconds, lastWords: lastWords))
        case .source(let failure): failure
        case .nonsense(let nonsense):
            ReelFailure(.engineNonsense(place: place, nonsense: nonsense, lastWords: lastWords))
        case nil: ReelFailure(.engineDied(place: place, end: end ?? .vanished, lastWords: lastWords))
        }
    }

    private var place: EnginePlace {
        switch phase {
        case .starting: .start
        case .idle, .ended: .idle
        case .working(.reverse(let request), _, let last), .working(.reverseAudio(let request), _, let last):
            .pass(number: request.pass, frames: last.flatMap(\.frames))
        case .working(.recon(let request), _, _): .recon(source: request.source.name)
        case .working(.choose, _, _): .choice
        case .working(.assemble, _, _): .assembly
        case .working(.pictures, _, _): .pictures
        }
    }
}

extension EngineProgress {
    /// The frames being processed; nil if it names none.
    fileprivate var frames: Range<Int>? {
        if case .video(_, _, let frames) = self, !frames.isEmpty { frames } else { nil }
    }
}

extension Duration {
    fileprivate var inSeconds: Rational {
        Rational(components.seconds) + Rational(components.attoseconds / 1_000_000_000_000_000, 1000)
    }
}

enum KillReason: Sendable {
    case cancelled
    /// It is no longer needed.
    case finished
    /// It hung: in which way, and for how long.
    case hung(EngineHang, Duration)
    /// It broke the protocol: in which way.
    case nonsense(EngineNonsense)
    /// Bytes of a source that it needs cannot be had.
    case source(ReelFailure)
}

/// At most 200 characters of a program's output, safe to show: control characters are replaced.
func quoted(_ text: some StringProtocol) -> String {
    let shown = text.unicodeScalars.prefix(200).map { scalar in
        scalar.properties.generalCategory == .control ? "\u{FFFD}" : Character(scalar)
    }
    return String(shown) + (shown.count < text.unicodeScalars.count ? "…" : "")
}

extension EngineNonsense {
    fileprivate static var longFailure: EngineNonsense { .longLine(limit: ReelFailure.longestOfEngine) }
}

/// How long an engine with a request may be silent. Time in which the machine sleeps does not count.
package struct EngineLimits: Sendable {
    /// Without an event and without using any CPU.
    package var stall: Duration
    /// Without an event, even if it uses CPU.
    package var silence: Duration
    /// The most threads. Codecs start some for each processor; engines share the number that their user, or the
    /// service, may have.
    package var threads: Int

    /// Limits of a working engine; the defaults are those of a slow disk and a hard codec on a machine with many
    /// processors.
    package init(stall: Duration = .seconds(120), silence: Duration = .seconds(600), threads: Int = 2000) {
        self.stall = stall
        self.silence = silence
        self.threads = threads
    }
}

/// Decides whether an engine that owes an event is hung.
struct Watchdog {
    private let limits: EngineLimits
    private var usedCPU: UInt64?
    private var lastUse: SuspendingClock.Instant?

    init(_ limits: EngineLimits) { self.limits = limits }

    /// How often to look: often enough for the shorter limit, at most once a second.
    var interval: Duration { max(.milliseconds(10), min(.seconds(1), min(limits.stall, limits.silence) / 8)) }

    /// The reason to kill the engine if it is hung; nil if it is not.
    ///
    /// - Parameters:
    ///   - lastEvent: when it last reported something, or got a request.
    ///   - cpu: clock ticks that it has used so far; nil if unknown, which counts as no progress.
    mutating func judge(now: SuspendingClock.Instant, lastEvent: SuspendingClock.Instant, cpu: UInt64?) -> KillReason? {
        if cpu != usedCPU {
            usedCPU = cpu
            lastUse = now
        }
        if lastEvent.duration(to: now) >= limits.silence { return .hung(.silent, limits.silence) }
        let lastSign = max(lastEvent, lastUse ?? lastEvent)
        if lastSign.duration(to: now) >= limits.stall { return .hung(.idle, limits.stall) }
        return nil
    }
}

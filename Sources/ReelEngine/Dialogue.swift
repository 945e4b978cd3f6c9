internal import ReelCore

/// What the two sides of a session may say when: which event is an answer, and what an end means for it.
struct Dialogue: Sendable {
    typealias Report = @Sendable (EngineProgress) -> Void

    /// What a waiting side gets.
    enum Answer: Sendable {
        case ready(EngineIdentity)
        case result(EngineResult)
        case failure(ReelFailure)
    }

    /// What is to be done about an event.
    enum Step {
        case report(EngineProgress, Report)
        case answer(Answer)
        case condemn(Verdict)
    }

    private enum Phase {
        case starting
        case idle
        case working(EngineRequest, Report, last: EngineProgress?)
        case ended(ReelFailure)
    }

    private var phase = Phase.starting
    /// Why the engine is being killed, if it is; the first reason stays.
    private(set) var verdict: Verdict?
    /// What the engine was at when it was condemned: the other side may ask for more before it is dead.
    private var condemnedAt: String?

    /// Whether the engine owes an event.
    var isWaiting: Bool {
        switch phase {
        case .starting, .working: verdict == nil
        case .idle, .ended: false
        }
    }

    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    /// A request goes out. Throws what ended the engine, if it has ended.
    mutating func begin(_ request: EngineRequest, _ report: @escaping Report) throws(ReelFailure) {
        switch phase {
        case .idle: phase = .working(request, report, last: nil)
        case .ended(let failure): throw failure
        case .starting, .working: preconditionFailure("an engine takes one request at a time")
        }
    }

    mutating func receive(_ event: EngineEvent) -> Step {
        switch (phase, event) {
        case (.starting, .ready(let identity)):
            phase = .idle
            return .answer(.ready(identity))
        case (.working(let request, let report, _), .progress(let progress)):
            phase = .working(request, report, last: progress)
            return .report(progress, report)
        case (.working, .result(let result)):
            phase = .idle
            return .answer(.result(result))
        case (.working, .failure(let failure)), (.starting, .failure(let failure)):
            phase = .idle
            return .answer(.failure(failure))
        case (_, .ready): return .condemn(.nonsense("said twice that it is ready"))
        case (_, .progress): return .condemn(.nonsense("reported progress without a request"))
        case (_, .result): return .condemn(.nonsense("gave a result without a request"))
        case (_, .failure(let failure)): return .condemn(.nonsense("failed without a request: \(failure.message)"))
        }
    }

    /// False where it was condemned before, or has ended.
    mutating func condemn(_ verdict: Verdict) -> Bool {
        guard self.verdict == nil, !isOver else { return false }
        self.verdict = verdict
        condemnedAt = place
        return true
    }

    /// The engine is dead. The answer is for whoever waits for one.
    mutating func end(_ exit: EngineExit?, lastWords: String?) -> Answer? {
        let failure = failure(exit, lastWords)
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

    private func failure(_ exit: EngineExit?, _ lastWords: String?) -> ReelFailure {
        let place = condemnedAt ?? place
        let words = lastWords.map { "; it last said: \(quoted($0))" } ?? ""
        switch verdict {
        case .cancelled: return ReelFailure(.interrupted, "interrupted \(place)", cause: .transient)
        case .finished: return ReelFailure(.job, "the engine was ended", cause: .transient)
        case .hung(let how): return ReelFailure(.job, "engine hung \(place): \(how)\(words)", cause: .crash)
        case .nonsense(let what): return ReelFailure(.job, "engine \(what), \(place)\(words)", cause: .crash)
        case nil: return ReelFailure(.job, "engine \(exit?.text ?? "vanished") \(place)\(words)", cause: .crash)
        }
    }

    /// What the engine was at.
    private var place: String {
        switch phase {
        case .starting: "at its start"
        case .idle, .ended: "between two requests"
        case .working(.reverse(let request), _, let last), .working(.reverseAudio(let request), _, let last):
            if let last, last.firstFrame < last.endFrame {
                "at frames \(last.firstFrame)..<\(last.endFrame) of pass \(request.pass)"
            } else {
                "at the start of pass \(request.pass)"
            }
        case .working(.recon(let request), _, _): "reading \(request.source)"
        case .working(.assemble, _, _): "assembling"
        case .working(.verify(let request), _, _): "verifying \(request.file)"
        }
    }
}

/// Why an engine is killed.
enum Verdict: Sendable {
    case cancelled
    /// Nobody needs it any more.
    case finished
    /// How long it did nothing.
    case hung(String)
    /// What it did against the protocol.
    case nonsense(String)
}

/// At most 200 characters of what a program wrote, fit to be shown: control characters are replaced.
func quoted(_ text: some StringProtocol) -> String {
    let shown = text.unicodeScalars.prefix(200).map { scalar in
        scalar.properties.generalCategory == .control ? "\u{FFFD}" : Character(scalar)
    }
    return String(shown) + (shown.count < text.unicodeScalars.count ? "…" : "")
}

internal import Glibc
internal import ReelCore

// Words for what an engine was doing and how it ended, as parts of sentences.

extension EnginePlace {
    var words: String {
        switch self {
        case .start: "at its start"
        case .idle: "between two requests"
        case .recon(let source): "reading \(source)"
        case .choice: "choosing how to encode"
        case .pass(let number, let frames?): "at frames \(frames) of pass \(number)"
        case .pass(let number, nil): "at the start of pass \(number)"
        case .assembly: "assembling"
        case .pictures: "making pictures"
        }
    }
}

extension EngineHang {
    var words: String {
        switch self {
        case .silent: "no event"
        case .idle: "no event and no CPU used"
        }
    }
}

extension EngineEnd {
    var words: String {
        switch self {
        case .exited(let code): "exited with code \(code)"
        case .signalled(SIGKILL): "died of signal 9 (SIGKILL: perhaps the kernel ran out of memory)"
        case .signalled(let number): "died of signal \(number) (\(Self.names[number] ?? "unknown"))"
        case .vanished: "vanished"
        }
    }

    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE",
        SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]
}

extension EngineNonsense {
    var words: String {
        switch self {
        case .longLine(let limit): "wrote a line of more than \(limit) bytes"
        case .unreadable(let said): "cannot be read from: \(said)"
        case .noEvent(let line): "wrote a line that is not an event: \(line)"
        case .unfitResult(let part): "answered with \(part.rawValue) that do not fit the request"
        case .unfitFailure(let code): "failed in a way that no engine can: \(code)"
        case .secondReady: "reported twice that it is ready"
        case .strayProgress: "reported progress without a request"
        case .strayResult: "gave a result without a request"
        case .strayFailure(let failure): "failed without a request: \(failure.words)"
        case .closedOutput: "closed its output"
        case .manyThreads(let most): "started more than \(most) threads"
        }
    }
}

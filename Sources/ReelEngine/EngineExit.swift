internal import Glibc
internal import ReelCore

/// How a process ended.
enum EngineExit: Sendable {
    case exited(CInt)
    case signalled(CInt)

    /// How a child that is not reaped yet ended, without reaping it; nil while it lives.
    static func peek(_ process: pid_t) -> EngineExit? {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0,
            info._sifields._sigchld.si_pid == process
        else { return nil }
        let status = info._sifields._sigchld.si_status
        return info.si_code == CInt(CLD_EXITED) ? .exited(status) : .signalled(status)
    }

    /// The same as a fact of a failure.
    var end: EngineEnd {
        switch self {
        case .exited(let code): .exited(code: code)
        case .signalled(let number): .signalled(signal: number)
        }
    }
}

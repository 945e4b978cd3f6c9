internal import Glibc

/// How a process ended.
enum EngineExit: Sendable {
    case exited(CInt)
    case signalled(CInt)

    /// How a child ended that nobody has reaped yet, without reaping it; nil while it lives.
    static func peek(_ process: pid_t) -> EngineExit? {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0,
            info._sifields._sigchld.si_pid == process
        else { return nil }
        let status = info._sifields._sigchld.si_status
        return info.si_code == CInt(CLD_EXITED) ? .exited(status) : .signalled(status)
    }

    var text: String {
        switch self {
        case .exited(let code): "exited with code \(code)"
        case .signalled(SIGKILL): "died of signal 9 (SIGKILL: perhaps the kernel ran out of memory)"
        case .signalled(let number): "died of signal \(number) (\(Self.names[number] ?? "unknown"))"
        }
    }

    private static let names: [CInt: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE",
        SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]
}

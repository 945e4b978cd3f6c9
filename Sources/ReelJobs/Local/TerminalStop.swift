internal import Glibc
internal import Synchronization

/// Ctrl-Z at the terminal: without this, it would stop the coordinator, and its worker would go on.
enum TerminalStop {
    /// The guard of the worker; 0 if there is none.
    private static let guardian = Atomic<Int32>(0)

    /// From now on SIGTSTP stops the engines before this process, and SIGCONT lets both go on.
    static func reach(_ guardian: Int32) {
        Self.guardian.store(guardian, ordering: .relaxed)
        let earlier = signal(SIGTSTP) { _ in
            // Only what is safe in the handler of a signal (POSIX 2.4.3): memory that is there already, kill and raise.
            let guardian = TerminalStop.guardian.load(ordering: .relaxed)
            if guardian > 0 { kill(guardian, SIGUSR1) }
            raise(SIGSTOP)
            if guardian > 0 { kill(guardian, SIGUSR2) }
        }
        // A shell without job control has its programs ignore it.
        if unsafeBitCast(earlier, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGTSTP, SIG_IGN) }
    }

    /// The guard has ended, and its number may belong to another process. From now on SIGTSTP stops this process alone.
    static func release() { guardian.store(0, ordering: .relaxed) }
}

internal import Glibc

/// A program that runs beside the suite, and is ended with it, even if the suite is killed.
struct BackgroundProcess {
    private let shell: pid_t
    /// The writing end of a pipe. The shell reads the other end, and ends the program when this one is closed, at the
    /// latest at the end of this process.
    private let lifeline: Int32

    init(_ command: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Trouble("no pipe to be had") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let script = "\"$@\" & read -r _; kill $!; wait $!"
        shell = try spawn(
            ["sh", "-c", script, "sh"] + command, input: .open(ends[0]), output: .write("/dev/null"),
            errors: .write("/dev/null"))
        lifeline = ends[1]
    }

    /// Returns when the program has ended.
    func end() {
        close(lifeline)
        var status: Int32 = 0
        while waitpid(shell, &status, 0) < 0, errno == EINTR {}
    }
}

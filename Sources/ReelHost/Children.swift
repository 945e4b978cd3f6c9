package import Glibc
internal import Synchronization

/// The children of this process. A child that this process did not start was left behind by an engine: an engine that
/// is not confined can move a process into a session of its own, where no signal to the engine's group reaches it, and
/// end. Only a process that adopts orphans (``OwnProcess``) gets such children.
package final class Children: Sendable {
    package static let own = Children()

    private struct State {
        var adopts = false
        var isStopped = false
        /// How many are being started: their numbers are not known yet.
        var starting = 0
        var known: Set<pid_t> = []
    }

    private let state = Mutex(State())

    private init() {}

    /// Whether the children do nothing now, because `stop` was called.
    package var areStopped: Bool { state.withLock(\.isStopped) }

    /// Stops the process groups of all children, also of children that are started later, until `goOn` is called.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for process in state.known { kill(-process, SIGSTOP) }
        }
    }

    /// Lets stopped children continue.
    package func goOn() {
        state.withLock { state in
            state.isStopped = false
            for process in state.known { kill(-process, SIGCONT) }
        }
    }

    func adopt() { state.withLock { $0.adopts = true } }

    /// Announces that a child is about to be started.
    package func start() -> Start { Start(self) }

    /// A child that is being started, is running, or has ended and is not reaped.
    package final class Start: Sendable {
        private let children: Children
        private let process = Mutex<pid_t?>(nil)

        init(_ children: Children) {
            self.children = children
            children.state.withLock { $0.starting += 1 }
        }

        /// Tells the process number of the child.
        package func isRunning(as number: Int32) {
            process.withLock { $0 = number }
            children.state.withLock { state in
                state.starting -= 1
                state.known.insert(number)
                if state.isStopped { kill(-number, SIGSTOP) }
            }
        }

        /// Call it when the child could not be started, or is reaped. Kills the processes that it left behind.
        package func end() {
            let number = process.withLock(\.self)
            children.state.withLock { state in
                if let number { state.known.remove(number) } else { state.starting -= 1 }
            }
            children.endStrangers()
        }
    }

    /// Kills and reaps children that this process did not start, and their children, which thereby become children of
    /// this process. While a child is being started, it looks like such a stranger: then the end of that start does
    /// this.
    private func endStrangers() {
        for _ in 0..<1000 {
            let strangers = state.withLock { state in
                state.adopts && state.starting == 0 ? Self.all.subtracting(state.known) : []
            }
            guard !strangers.isEmpty else { return }
            for process in strangers {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
        }
    }

    /// A thread's children are in a file of /proc.
    private static var all: Set<pid_t> {
        var found: Set<pid_t> = []
        guard let folder = opendir("/proc/self/task") else { return found }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/self/task/\(name)/children", "re") else { continue }
            defer { fclose(file) }
            var text = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&text, 1, text.count, file)
            found.formUnion(
                String(decoding: text[..<count], as: UTF8.self).split(separator: " ").compactMap { pid_t($0) })
        }
        return found
    }
}

/// How much of its machine a process uses.
package struct ProcessUse {
    /// User and system time of all its threads, in clock ticks.
    package let cpu: UInt64
    package let threads: Int

    /// Nil if /proc cannot be read.
    package init?(of process: pid_t) {
        guard let file = fopen("/proc/\(process)/stat", "re") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 1024)
        let count = fread(&line, 1, line.count, file)
        // The name of the program, in parentheses, may contain any character; utime, stime and num_threads are fields
        // 14, 15 and 20 of proc(5).
        let fields =
            String(decoding: line[..<count], as: UTF8.self)
            .split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 17, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
            let threads = Int(fields[17])
        else { return nil }
        (cpu, self.threads) = (user + system, threads)
    }

    /// Seconds of CPU time that a process has taken, by the kernel's count; 0 once it has ended.
    package static func cpuSeconds(of process: pid_t) -> Double {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

internal import Foundation
internal import ReelCore
internal import ReelHost
internal import ReelQueue
internal import Subprocess
internal import Synchronization
internal import SystemPackage

/// A Redis and a worker of this process alone, for as long as a body runs: what `run` and `ui` work with.
struct LocalCluster: Sendable {
    let programs: Programs
    let store: String
    let slots: Int
    let memoryTotal: Int64
    let sandbox: SandboxMode
    /// Where Redis keeps its board from one cluster to the next. Nil to forget it: then the worker leaves jobs of the store
    /// alone that the board does not have.
    var boardFolder: String?

    /// From one report of the worker to the next: how often progress can change.
    static let beat = Duration.milliseconds(500)

    /// Starts both, runs the body meanwhile, and ends both, however the body ends. Neither of them remains then, even if this
    /// process is killed.
    ///
    /// - Parameter body: gets a function that waits until Redis answers, and returns its address.
    /// - Throws: `.unreachable` if they cannot be started or end by themselves, and what the body throws.
    func with<Result: Sendable>(
        _ body: @escaping @Sendable (_ redis: @Sendable () async throws -> RedisAddress) async throws -> Result
    ) async throws(ReelFailure) -> Result {
        let folder = try PrivateFolder()
        let url = "unix://\(folder.path)/redis.sock"
        let address = try RedisAddress(url)
        let configuration = try configuration(folder, url)
        let start = Children.own.start()
        defer {
            LocalCluster.endOrphans(of: folder.path)
            start.end()
        }
        return try await ReelFailure.unifying {
            let outcome = try await Subprocess.run(
                configuration, input: .inputWriter, output: .discarded, error: .sequence
            ) { execution in
                start.isRunning(as: execution.processIdentifier.value)
                TerminalStop.reach(execution.processIdentifier.value)
                defer { TerminalStop.release() }
                return try await withThrowingTaskGroup(of: Ended<Result>.self) { group in
                    group.addTask { .guardian(try await LocalCluster.tail(of: execution.standardError)) }
                    group.addTask {
                        .body(
                            try await body {
                                try await waitForRedis(address, folder.path)
                                return address
                            })
                    }
                    // The guard ends when its standard input does, and run() waits for the guard.
                    defer { group.cancelAll() }
                    let first = try await group.next()
                    guard case .body(let result) = first else {
                        // Cancelling the task ends the guard, too, and either end may come first.
                        guard !Task.isCancelled, case .guardian(let tail) = first else { throw CancellationError() }
                        throw ReelFailure(.localWorkerEnded(said: tail))
                    }
                    try await execution.standardInputWriter.finish()
                    _ = try await group.next()
                    return result
                }
            }
            return outcome.closureResult
        }
    }

    /// Kills the processes that a killed guard has left running: those whose arguments name the folder, which belongs
    /// to this process alone. A guard that ended in order has removed the folder.
    private static func endOrphans(of folder: String) {
        let files = FileManager.default
        guard files.fileExists(atPath: folder) else { return }
        for process in ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(pid_t.init) {
            let arguments = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline"))
            guard arguments?.range(of: Data(folder.utf8)) != nil else { continue }
            kill(process, SIGKILL)
        }
    }

    private enum Ended<Result: Sendable>: Sendable {
        case guardian(String)
        case body(Result)
    }

    private func configuration(_ room: PrivateFolder, _ url: String) throws(ReelFailure) -> Configuration {
        let folder = room.path
        guard let redis = Programs.installed("redis-server") else { throw ReelFailure(.redisNotInstalled) }
        let settings = """
            port 0
            unixsocket "\(folder)/redis.sock"
            unixsocketperm 700
            dir "\(boardFolder ?? folder)"
            appendonly \(boardFolder == nil ? "no" : "yes")
            save ""
            maxmemory-policy noeviction
            """
        for (name, text) in [("redis.conf", settings), ("guard", Guard.script)] {
            guard FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(text.utf8)) else {
                throw ReelFailure(.folderUnwritable(path: folder, errno: nil))
            }
        }
        let worker =
            [
                try programs.path("reel-worker"), "--redis", url, "--store", store, "--slots", "\(slots)",
                "--memory-total", "\(memoryTotal)", "--grace", "0", "--beat",
                "\(LocalCluster.beat / .seconds(1))", "--sandbox", sandbox.rawValue,
            ] + (boardFolder == nil ? ["--alone"] : []) + (room.isInTemporary ? ["--scratch", folder] : [])
        var options = PlatformOptions()
        // A process group of its own: Ctrl-C at a terminal reaches the coordinator alone, which ends the others in order.
        options.processGroupID = 0
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(15))]
        return Configuration(
            executable: .path("/bin/sh"),
            arguments: Arguments(["\(folder)/guard", folder, redis, "500"] + worker),
            environment: LocalCluster.environment, platformOptions: options)
    }

    /// Its programs are this process's alone, and take the files that its user names, without a farm's limits.
    static var environment: Environment {
        .inherit.updating(["REEL_NAMESPACE": nil, "REEL_SOURCE_ROOTS": nil, "REEL_CONFIG": ""])
    }

    private func waitForRedis(_ address: RedisAddress, _ folder: String) async throws {
        let board = RedisBoard(address, name: "reel-coordinator-start")
        let deadline = ContinuousClock.now + .seconds(15)
        while true {
            do {
                return try await board.ping()
            } catch {
                guard ContinuousClock.now < deadline else {
                    let log = (try? String(contentsOfFile: folder + "/redis.log", encoding: .utf8)) ?? ""
                    throw ReelFailure(.redisSilent(said: LocalCluster.lastLine(log)))
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// The last line that worker and guard wrote before they ended.
    private static func tail(of output: SubprocessOutputSequence) async throws -> String {
        var text: [UInt8] = []
        for try await buffer in output {
            buffer.withUnsafeBytes { text += $0 }
            if text.count > 1 << 16 { text.removeFirst(text.count - 1 << 12) }
        }
        return lastLine(String(decoding: text, as: UTF8.self))
    }

    private static func lastLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "it said nothing"
    }
}

/// The shell script that runs the worker and the Redis of a coordinator, and ends them. It reads a pipe that only the
/// coordinator holds open: however that process ends, SIGKILL included, the pipe ends, and the guard then ends worker and
/// Redis and removes their folder. They could not do so themselves: redis-server cannot watch its parent, and PDEATHSIG
/// fires when the starting thread ends.
enum Guard {
    /// Arguments: the private folder, redis-server's path, hundredths of a second that the worker has to end in, the
    /// worker's command. Exits with the worker's status.
    static let script = """
        folder=$1 server=$2 patience=$3
        shift 3
        exec 3<&0 </dev/null

        # A signal that comes before both are started would leave one running: start both first, then end.
        told=
        trap 'told=yes' HUP INT TERM
        # The worker stops its engines and lets them go on. Until it heeds these signals it ignores them, as its starter does.
        trap '' USR1 USR2
        setsid "$server" "$folder/redis.conf" >"$folder/redis.log" 2>&1 3<&- &
        redis=$!
        setsid "$@" 3<&- &
        worker=$!
        watcher=
        trap 'kill -USR1 "$worker" 2>/dev/null' USR1
        trap 'kill -USR2 "$worker" 2>/dev/null' USR2

        finish() {
            trap '' HUP INT TERM
            kill -TERM "$worker" 2>/dev/null
            while [ "$patience" -gt 0 ] && kill -0 "$worker" 2>/dev/null; do
                sleep 0.01
                patience=$((patience - 1))
            done
            kill -KILL "$worker" "$redis" $watcher 2>/dev/null
            wait "$worker" "$redis" 2>/dev/null
            rm -rf "$folder"
        }
        trap 'finish; exit 0' HUP INT TERM
        if [ -n "$told" ]; then finish; exit 0; fi

        # A trap runs only between commands or in a wait, so another shell does the reading.
        (trap - HUP INT TERM USR1 USR2; read -r _ <&3; kill -TERM $$) &
        watcher=$!
        exec 3<&-

        # A signal ends the wait, too.
        while :; do
            wait "$worker"
            status=$?
            kill -0 "$worker" 2>/dev/null || break
        done
        finish
        exit "$status"
        """
}

/// Ctrl-Z at the terminal: without this, it would stop the coordinator, and its worker would go on.
enum TerminalStop {
    /// The process of the worker's guard; 0 if no guard runs.
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

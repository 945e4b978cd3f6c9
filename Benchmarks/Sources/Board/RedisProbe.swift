internal import Foundation
internal import Glibc

/// Figures that Redis reports about itself, read without the board.
struct RedisProbe {
    let url: String

    struct Reading {
        /// Bytes that hold data and connections.
        var memory = 0
        /// Bytes written to the append-only file, as long as it is not rewritten.
        var log = 0
        /// Seconds of processor time that the server took.
        var cpu = 0.0
        /// Functions run, and seconds spent in them.
        var scripts = 0
        var scriptTime = 0.0
        /// Seconds of processor time that this program took.
        var ownCPU = 0.0
        /// Seconds of processor time that the machine spent on anything.
        var allCPU = 0.0
        var time = ContinuousClock.now
    }

    func read() throws -> Reading {
        let facts = try info()
        func number(_ name: String) -> Double { facts[name].flatMap(Double.init) ?? 0 }
        var reading = Reading()
        reading.memory = Int(number("used_memory"))
        reading.log = Int(number("aof_current_size"))
        reading.cpu = number("used_cpu_user") + number("used_cpu_sys")
        // cmdstat_fcall:calls=3,usec=120,usec_per_call=40.00,…
        for field in ["fcall", "fcall_ro"].flatMap({ (facts["cmdstat_\($0)"] ?? "").split(separator: ",") }) {
            let parts = field.split(separator: "=")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            if parts[0] == "calls" { reading.scripts += Int(value) }
            if parts[0] == "usec" { reading.scriptTime += value / 1e6 }
        }
        reading.ownCPU = ownCPU()
        reading.allCPU = try allCPU()
        return reading
    }

    /// Empties Redis and its append-only file.
    func clear() throws {
        _ = try cli(["FLUSHALL"])
        _ = try cli(["BGREWRITEAOF"])
        try waitForRewrite()
    }

    /// Whether Redis rewrites its append-only file as it grows, as it does by default. Returns when it does not rewrite.
    func setRewriting(_ on: Bool) throws {
        _ = try cli(["CONFIG", "SET", "auto-aof-rewrite-percentage", on ? "100" : "0"])
        try waitForRewrite()
    }

    private func waitForRewrite() throws {
        while true {
            let facts = try info()
            if facts["aof_rewrite_in_progress"] == "0", facts["aof_rewrite_scheduled"] == "0" { return }
            usleep(20_000)
        }
    }

    /// How many members a sorted set has.
    func count(_ key: String) throws -> Int {
        guard let count = Int(try cli(["ZCARD", key]).prefix { !$0.isNewline }) else {
            throw Trouble("redis-cli does not say how many members \(key) has")
        }
        return count
    }

    private func info() throws -> [String: String] {
        var facts: [String: String] = [:]
        for line in try cli(["INFO", "everything"]).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            facts[String(line[..<colon])] = String(line[line.index(after: colon)...])
        }
        return facts
    }

    private func cli(_ command: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-cli", "-u", url] + command
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Trouble("redis-cli \(command.joined(separator: " ")) failed")
        }
        return text
    }

    private func ownCPU() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func allCPU() throws -> Double {
        // cpu  user nice system idle iowait irq softirq steal guest guest_nice, all in ticks
        let line = try String(contentsOfFile: "/proc/stat", encoding: .utf8).prefix { $0 != "\n" }
        let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        guard ticks.count == 8 else { throw Trouble("/proc/stat begins with: \(line)") }
        return (ticks.reduce(0, +) - ticks[3] - ticks[4]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

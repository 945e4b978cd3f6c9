internal import Foundation
internal import Glibc

/// What Redis tells of itself, past the board.
struct RedisProbe {
    let url: String

    struct Reading {
        /// Bytes that hold data and connections.
        var memory = 0
        /// Bytes written to the append-only file, as long as it is not rewritten.
        var log = 0
        /// How often it was rewritten.
        var rewrites = 0
        /// Seconds of processor time that the server took.
        var cpu = 0.0
        /// Scripts run, and seconds spent in them.
        var scripts = 0
        var scriptTime = 0.0
        /// Seconds of processor time that this program took.
        var ownCPU = 0.0
        var time = ContinuousClock.now
    }

    func read() throws -> Reading {
        let facts = try info()
        func number(_ name: String) -> Double { facts[name].flatMap(Double.init) ?? 0 }
        var reading = Reading()
        reading.memory = Int(number("used_memory"))
        reading.log = Int(number("aof_current_size"))
        reading.rewrites = Int(number("aof_rewrites"))
        reading.cpu = number("used_cpu_user") + number("used_cpu_sys")
        // cmdstat_evalsha:calls=3,usec=120,usec_per_call=40.00,…
        for field in (facts["cmdstat_evalsha"] ?? "").split(separator: ",") {
            let parts = field.split(separator: "=")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            if parts[0] == "calls" { reading.scripts = Int(value) }
            if parts[0] == "usec" { reading.scriptTime = value / 1e6 }
        }
        reading.ownCPU = ownCPU()
        return reading
    }

    /// Empties Redis and what it has counted.
    func clear() throws {
        _ = try cli(["FLUSHALL"])
        _ = try cli(["BGREWRITEAOF"])
        while try info()["aof_rewrite_in_progress"] != "0" || info()["aof_rewrite_scheduled"] != "0" { usleep(20_000) }
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
}

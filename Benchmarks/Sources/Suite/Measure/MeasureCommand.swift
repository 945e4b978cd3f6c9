internal import ArgumentParser
internal import CProcess
internal import Foundation
internal import Synchronization

/// A process of its own for each measurement: the kernel then adds up in it what all descendants took, once each was
/// waited for. Those whose parents did not wait come to this process, which does.
struct MeasureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Runs a command and prints as JSON what it and all its descendants took.")

    @Option(help: "Where its standard output goes.")
    var output = "/dev/null"

    @Option(help: "Where its standard error goes.")
    var errors = "/dev/null"

    @Option(help: "What it reads on standard input.")
    var input = "/dev/null"

    @Argument(parsing: .postTerminator)
    var command: [String]

    private static let interval: useconds_t = 100_000

    func run() throws {
        guard reel_become_subreaper() == 0 else { throw Trouble("this system does not let a process wait for orphans") }
        let sampler = Sampler()
        let before = MeasureCommand.inputAndOutput()
        let began = ContinuousClock.now
        let child = try spawn(command, input: .read(input), output: .write(output), errors: .write(errors))
        sampler.start()
        var measurement = Measurement()
        measurement.status = waitForAll(child) { measurement.wall = (ContinuousClock.now - began) / .seconds(1) }
        let after = MeasureCommand.inputAndOutput()
        (measurement.peakSum, measurement.peakFiles) = sampler.stop()

        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        measurement.user = MeasureCommand.seconds(usage.ru_utime)
        measurement.system = MeasureCommand.seconds(usage.ru_stime)
        measurement.peakRSS = usage.ru_maxrss * 1024
        func grown(_ name: String) -> Int { (after[name] ?? 0) - (before[name] ?? 0) }
        (measurement.read, measurement.written) = (grown("rchar"), grown("wchar"))
        (measurement.readFromDisk, measurement.writtenToDisk) = (grown("read_bytes"), grown("write_bytes"))
        print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
    }

    /// Waits for the child, whose status it returns, and for every other descendant.
    private func waitForAll(_ child: pid_t, whenEnded: () -> Void) -> Int {
        var result = 0
        while true {
            var status: Int32 = 0
            let process = wait(&status)
            if process < 0, errno == EINTR { continue }
            if process < 0 { return result }
            guard process == child else { continue }
            whenEnded()
            let signal = status & 0x7f
            result = Int(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
        }
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// Bytes that this process's reaped descendants read and wrote: those of the whole process, less its own threads'.
    private static func inputAndOutput() -> [String: Int] {
        var sum = counts("/proc/self/io")
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in threads {
            for (name, count) in counts("/proc/self/task/\(thread)/io") { sum[name, default: 0] -= count }
        }
        return sum
    }

    private static func counts(_ path: String) -> [String: Int] {
        var found: [String: Int] = [:]
        for line in Descendants.text(path).split(separator: "\n") {
            let parts = line.split(separator: ":")
            if parts.count == 2, let count = Int(parts[1].drop { $0 == " " }) { found[String(parts[0])] = count }
        }
        return found
    }

    /// Looks at the descendants on a thread of its own.
    private final class Sampler: Sendable {
        private let descendants = Mutex(Descendants())

        func start() {
            Thread.detachNewThread { [self] in
                while true {
                    descendants.withLock { $0.look() }
                    usleep(MeasureCommand.interval)
                }
            }
        }

        func stop() -> (sum: Int, files: Int) { descendants.withLock { ($0.peakSum, $0.peakFiles) } }
    }
}

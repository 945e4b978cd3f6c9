internal import Foundation
internal import Glibc
internal import Subprocess
internal import SystemPackage

/// The suite's folder and settings; runs and measures commands.
struct SuiteRunner: Sendable {
    /// Holds the sources, which stay, and outputs, which are removed.
    let folder: String
    /// How often each command runs.
    let rounds: Int
    /// Whether measurements that take minutes are left out or cut short.
    let isQuick: Bool
    /// Folder of reel's programs.
    let programs: String

    init(folder: String, rounds: Int, isQuick: Bool) throws {
        (self.folder, self.rounds, self.isQuick) = (folder, rounds, isQuick)
        programs =
            URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().path
        for name in ["sources", "work-\(getpid())"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
    }

    var bench: String { programs + "/reel-bench" }
    var coordinator: String { programs + "/reel-coordinator" }
    /// Path, without extension, of a command's output; the next command overwrites it.
    var output: String { work("output") }

    /// A path in this process's own folder, so that two suites do not overwrite each other's files.
    func work(_ name: String) -> String { "\(folder)/work-\(getpid())/\(name)" }

    /// Runs a command and measures it; throws if it fails.
    func measure(_ name: String, _ command: [String], input: String = "/dev/null") async throws -> Measurement {
        let (output, errors) = (work("standard-output"), work("standard-error"))
        let line = try await text(
            [bench, "measure", "--output", output, "--errors", errors, "--input", input, "--"] + command)
        let measurement = try JSONDecoder().decode(Measurement.self, from: Data(line.utf8))
        guard measurement.status == 0 else {
            let last = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            throw Trouble("\(name) ended with \(measurement.status): \(last.suffix(2000))")
        }
        say(String(format: "%@: %.2f s, %.2f s of CPU", name, measurement.wall, measurement.cpu))
        return measurement
    }

    /// What the measured command wrote on standard output.
    var standardOutput: String { (try? String(contentsOfFile: work("standard-output"), encoding: .utf8)) ?? "" }

    /// Runs a command and returns its standard output; throws if it fails.
    func text(_ command: [String]) async throws -> String {
        let result = try await Subprocess.run(
            command[0].contains("/") ? .path(.init(command[0])) : .name(command[0]),
            arguments: Arguments(Array(command.dropFirst())),
            output: .string(limit: 64 << 20), error: .string(limit: 1 << 20))
        guard result.terminationStatus.isSuccess else {
            throw Trouble("\(command.joined(separator: " ")): \(result.standardError.suffix(2000))")
        }
        return result.standardOutput
    }

    /// Removes everything except the sources.
    func clear() { remove("\(folder)/work-\(getpid())") }

    func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    func size(_ path: String) throws -> Int {
        guard let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
            throw Trouble("\(path) has no size")
        }
        return size
    }

    /// Reads a file into the page cache, so that the first command to read it has no disadvantage.
    func warm(_ path: String) async throws { _ = try await text(["cp", path, "/dev/null"]) }

    /// Drops a file from the page cache, as if it had not been read for a long time.
    func cool(_ path: String) async throws {
        _ = try await text(["dd", "status=none", "if=" + path, "iflag=nocache", "count=0"])
    }

    /// Keeps this process off the first core while the body runs, and leaves that core to others.
    func leavingFirstCore<Result>(_ body: () async throws -> Result) async throws -> Result {
        let last = ProcessInfo.processInfo.processorCount - 1
        guard last > 0 else { return try await body() }
        func keep(to cores: String) async throws { _ = try await text(["taskset", "-acp", cores, "\(getpid())"]) }
        try await keep(to: "1-\(last)")
        do {
            let result = try await body()
            try await keep(to: "0-\(last)")
            return result
        } catch {
            try await keep(to: "0-\(last)")
            throw error
        }
    }

    func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

extension SuiteRunner {
    /// The folder of the checkout that holds the programs.
    var segmentScript: String { root + "/Benchmarks/segment-script" }

    /// The programs are in .build/TRIPLE/release of the checkout.
    var root: String {
        URL(fileURLWithPath: programs).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }
}

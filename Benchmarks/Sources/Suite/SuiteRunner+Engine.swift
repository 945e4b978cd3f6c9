internal import Foundation
internal import Glibc
internal import ReelEngine

extension SuiteRunner {
    /// Measures one request to an engine, with what follows it on the engine's standard input.
    func measure(_ name: String, engine input: [EngineInput]) async throws -> Measurement {
        let (fifo, answers) = (work("requests"), work("standard-output"))
        for path in [fifo, answers] { remove(path) }
        guard mkfifo(fifo, 0o600) == 0 else { throw Trouble("cannot make \(fifo)") }
        // Opened for reading and writing, so that opening does not wait for the engine. The engine ends at the end of its
        // standard input.
        let requests = FileHandle(fileDescriptor: open(fifo, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        async let taken = measure(name, [programs + "/reel-engine"], input: fifo)
        // The pipe may be full until the engine has read from it.
        let lines = try input.map { try JSONEncoder().encode($0) + [UInt8(ascii: "\n")] }
        try await Task.detached { for line in lines { try requests.write(contentsOf: line) } }.value
        let deadline = ContinuousClock.now + .seconds(600)
        while !hasAnswer(answers) {
            guard ContinuousClock.now < deadline else { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        try requests.close()
        let measurement = try await taken
        guard standardOutput.contains("\"result\"") else {
            throw Trouble("\(name): the engine said \(standardOutput.suffix(1000))")
        }
        return measurement
    }

    private func hasAnswer(_ path: String) -> Bool {
        let said = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return said.contains("\"result\"") || said.contains("\"failure\"")
    }
}

internal import Foundation
internal import Glibc
internal import ReelCore
internal import ReelEngine

extension SuiteRunner {
    /// Measures one request to an engine, with what follows it on the engine's standard input.
    func measure(_ name: String, engine input: [EngineInput]) async throws -> Measurement {
        try await converse(name) { requests in
            try await send(input, to: requests)
            try await waitForAnswer()
        }.measurement
    }

    /// Sends an engine a request, and a last line when it can do no more without that. Returns the seconds of what it did
    /// before, and from the last line to its answer.
    func measure(
        _ name: String, engine input: [EngineInput], late: EngineInput
    ) async throws -> (before: Double, after: Double) {
        try await converse(name) { requests in
            let began = ContinuousClock.now
            try await send(input, to: requests)
            let idle = try await waitUntilIdle()
            let sent = ContinuousClock.now
            try await send([late], to: requests)
            try await waitForAnswer()
            return ((idle - began) / .seconds(1), (ContinuousClock.now - sent) / .seconds(1))
        }.result
    }

    /// Starts an engine, which ends after the body.
    private func converse<Result: Sendable>(
        _ name: String, _ body: (FileHandle) async throws -> Result
    ) async throws -> (measurement: Measurement, result: Result) {
        let fifo = work("requests")
        for path in [fifo, answers] { remove(path) }
        guard mkfifo(fifo, 0o600) == 0 else { throw Trouble("cannot make \(fifo)") }
        // Opened for reading and writing, so that opening does not wait for the engine. The engine ends at the end of its
        // standard input.
        let requests = FileHandle(fileDescriptor: open(fifo, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        async let taken = measure(name, [programs + "/reel-engine"], input: fifo)
        let result: Result
        do {
            try await send(
                [.confinement(Confinement(scope: .nothing, mode: .off, sourceRoots: nil))], to: requests)
            result = try await body(requests)
        } catch {
            try? requests.close()
            throw error
        }
        try requests.close()
        let measurement = try await taken
        guard standardOutput.contains("\"result\"") else {
            throw Trouble("\(name): the engine said \(standardOutput.suffix(1000))")
        }
        return (measurement, result)
    }

    private var answers: String { work("standard-output") }

    private func send(_ input: [EngineInput], to requests: FileHandle) async throws {
        let lines = try input.map { try JSONEncoder().encode($0) + [UInt8(ascii: "\n")] }
        // The pipe may be full until the engine has read from it.
        try await Task.detached { for line in lines { try requests.write(contentsOf: line) } }.value
    }

    private static let patience = Duration.seconds(600)

    private func waitForAnswer() async throws {
        let deadline = ContinuousClock.now + Self.patience
        while !hasAnswer, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
    }

    private var hasAnswer: Bool {
        let said = (try? String(contentsOfFile: answers, encoding: .utf8)) ?? ""
        return said.contains("\"result\"") || said.contains("\"failure\"")
    }

    /// Waits until the engine has reported the same for two seconds, and returns when it first did.
    private func waitUntilIdle() async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now + Self.patience
        var (last, since) = ("", ContinuousClock.now)
        while last.isEmpty || ContinuousClock.now - since < .seconds(2) {
            guard !hasAnswer, ContinuousClock.now < deadline else { throw Trouble("the engine does not wait") }
            let said = (try? String(contentsOfFile: answers, encoding: .utf8)) ?? ""
            let report = said.split(separator: "\n").last { $0.contains("\"progress\"") }.map(String.init) ?? ""
            if report != last { (last, since) = (report, ContinuousClock.now) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return since
    }
}

internal import Foundation
internal import ReelCore
internal import ReelQueue

/// A worker without media: it claims, beats and completes. It runs on its board's thread, so that a call costs only
/// the way to Redis and back.
actor SimulatedWorker {
    private let board: RedisBoard
    private let id: WorkerID
    private var held: Claim?
    /// Frames of the pass that it holds.
    private var encoded = 0
    private var log = CallLog()
    private let clock = ContinuousClock()

    nonisolated var unownedExecutor: UnownedSerialExecutor { board.unownedExecutor }

    init(_ address: RedisAddress, number: Int) {
        board = RedisBoard(address, name: "worker-\(number)")
        id = WorkerID("host-\(number / 4)-\(10_000 + number)-5f3a")
    }

    /// Connects and registers, and takes a pass if told so; none of this is measured.
    func prepare(claiming: Bool = false) async throws {
        try await beat()
        if claiming { try await claim() }
        log = CallLog()
    }

    /// Pass after pass without a pause, a beat in each, until a moment or until there is nothing to claim.
    func rush(until end: ContinuousClock.Instant) async throws -> CallLog {
        while clock.now < end, try await claim() {
            try await beat()
            try await complete()
        }
        return log
    }

    /// Passes that take `pass` each, the first of them under way, a beat every five seconds and a reap every three, as real workers do it.
    func work(pass: Duration, from start: ContinuousClock.Instant, until end: ContinuousClock.Instant) async throws
        -> CallLog
    {
        // The passes are staggered, as in a fleet that has worked for a while.
        var passEnd = start + pass * Double.random(in: 0..<1)
        var nextBeat = start + .seconds(5) * Double.random(in: 0..<1)
        var nextReap = start + .seconds(3) * Double.random(in: 0..<1)
        while true {
            let next = min(passEnd, nextBeat, nextReap)
            guard next < end else { break }
            pause(until: next)
            if next == passEnd {
                try await complete()
                guard try await claim() else { throw Trouble("there is nothing left to claim: publish more") }
                passEnd += pass
            } else if next == nextBeat {
                try await beat()
                nextBeat += .seconds(5)
            } else {
                let began = clock.now
                _ = try await board.reap()
                log.reap.add(clock.now - began)
                nextReap += .seconds(3)
            }
        }
        return log
    }

    /// Finds nothing, waits for a hint or a second, asks again.
    func idle(until end: ContinuousClock.Instant) async throws -> CallLog {
        pause(until: clock.now + .seconds(1) * Double.random(in: 0..<1))
        while clock.now < end {
            guard try await !claim() else { throw Trouble("there is something to claim: an idle fleet has nothing") }
            try await board.waitForWork(seconds: 1)
        }
        return log
    }

    /// Gives back what it holds.
    func release() async throws {
        if let held { try await board.release(held) }
        held = nil
    }

    /// Blocks the thread, which this worker alone uses: a timer of the runtime would cost a thread switch.
    private func pause(until moment: ContinuousClock.Instant) {
        Thread.sleep(forTimeInterval: max(0, (moment - clock.now) / .seconds(1)))
    }

    // MARK: Calls

    /// Claims; returns whether there was a pass.
    @discardableResult
    func claim() async throws -> Bool {
        let began = clock.now
        held = try await board.claim(SampleJob.offer(id))
        log.claim.add(clock.now - began)
        encoded = 0
        return held != nil
    }

    func beat() async throws {
        encoded += 24
        let report = SampleJob.report(id, holding: held, encoded: encoded)
        let began = clock.now
        let reply = try await board.beat(report)
        log.beat.add(clock.now - began)
        guard reply.answers.values.allSatisfy({ $0 == .ok }) else { throw Trouble("\(id) lost a pass that it held") }
    }

    func complete() async throws {
        guard let claim = held else { return }
        let result = SampleJob.result(of: claim)
        let began = clock.now
        let answer = try await board.complete(claim, worker: id, result: result)
        log.complete.add(clock.now - began)
        guard answer == .ok else { throw Trouble("pass \(claim.index) of \(claim.job) was \(answer), not recorded") }
        log.completed += 1
        held = nil
    }
}

/// A failure of a measurement.
struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

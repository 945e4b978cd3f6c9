import Dispatch
import Foundation
import Logging
import ReelServer
import ReelStore
import Synchronization
import Testing

/// What becomes of uses of a store that does not answer.
@Suite struct StoreAccessTests {
    /// Calls that do not return before the test says so.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func pass() {
            semaphore.wait()
            semaphore.signal()
        }

        func open() { semaphore.signal() }
    }

    /// How many uses run now.
    private final class Running: Sendable { let count = Atomic(0) }

    private func access(threads: Int, read: @escaping @Sendable () -> Void = {}) -> StoreAccess {
        let reading = StoreAccess.Reading(isThere: true, freeBytes: 7)
        return StoreAccess(threads: StoreExecutor(threads: threads), log: Logger(label: "test"), first: reading) {
            read()
            return reading
        }
    }

    private func eventually(_ condition: () async -> Bool) async throws -> Bool {
        for _ in 0..<3000 {
            if await condition() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    @Test func usesOfLargeJobsTakeTurnsAndHoldUpNothingElse() async throws {
        let gate = Gate()
        let running = Running()
        let reading = StoreAccess.Reading(isThere: true, freeBytes: 7)
        let access = StoreAccess(
            threads: StoreExecutor(threads: 1), largeThreads: StoreExecutor(threads: 1), log: Logger(label: "test"),
            first: reading
        ) { reading }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    try await access.use(isLarge: true) {
                        #expect(running.count.add(1, ordering: .relaxed).newValue == 1)
                        gate.pass()
                        running.count.subtract(1, ordering: .relaxed)
                    }
                }
            }
            #expect(try await eventually { running.count.load(ordering: .relaxed) == 1 })
            // The one thread for all other uses is free.
            #expect(try await access.use { 7 } == 7)
            gate.open()
            try await group.waitForAll()
        }
        #expect(running.count.load(ordering: .relaxed) == 0)
    }

    @Test func whoIsCancelledWaitsNoLongerForACallThatDoesNotReturn() async throws {
        let gate = Gate()
        defer { gate.open() }
        let executor = StoreExecutor(threads: 1)
        let waiter = Task { try await executor.run { gate.pass() } }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test func whatIsRunReturnsOrThrowsAsItsBodyDoes() async throws {
        let access = access(threads: 2)
        #expect(try await access.use { 5 } == 5)
        await #expect(throws: CocoaError.self) {
            try await access.use { () async throws -> Int in throw CocoaError(.fileNoSuchFile) }
        }
    }

    @Test func aUseHasALimit() async throws {
        let gate = Gate()
        defer { gate.open() }
        let access = access(threads: 2)
        await #expect(throws: (any Error).self) { try await access.use(atMost: .milliseconds(10)) { gate.pass() } }
        #expect(try await access.use { 5 } == 5)
    }

    @Test("if more calls hang than there are threads, all of them and the later ones are answered")
    func allThreadsHeld() async throws {
        let gate = Gate()
        let access = access(threads: 2)
        let watch = Task { await access.run() }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { (try? await access.use(atMost: .seconds(600)) { gate.pass() }) != nil }
            }
            for await isDone in group { #expect(!isDone) }
        }
        #expect(access.isHanging)
        #expect(access.reading == StoreAccess.Reading(isThere: true, freeBytes: 7))
        let spare = try await access.use {
            1
        } orElse: {
            2
        }
        #expect(spare == 2)
        gate.open()
        #expect(try await eventually { !access.isHanging })
        #expect(
            try await access.use {
                1
            } orElse: {
                2
            } == 1)
        watch.cancel()
        await watch.value
    }

    @Test func aStoreWhoseReadingDoesNotComeBackHangs() async throws {
        let gate = Gate()
        let access = access(threads: 2) { gate.pass() }
        #expect(!access.isHanging)
        let watch = Task { await access.run() }
        #expect(try await eventually { access.isHanging })
        gate.open()
        #expect(try await eventually { !access.isHanging })
        watch.cancel()
        await watch.value
    }
}

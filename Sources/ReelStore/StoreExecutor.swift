internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs what waits for a store, or hashes its files, on a few threads of its own. On those of Swift's pool, which has
/// one for each core, everything else would wait for it: for ever, if a call of the system does not return, as with a file
/// server that is away.
package final class StoreExecutor: TaskExecutor {
    /// The one of this process.
    package static let shared = StoreExecutor(threads: 16)
    /// One thread for what uses large jobs (`JobEntry.isLarge`), which then hold up one another and nothing else.
    package static let forLargeJobs = StoreExecutor(threads: 1)

    private let jobs = Mutex<[UnownedJob]>([])
    private let available = DispatchSemaphore(value: 0)

    /// - Parameter threads: how many; they last as long as the process.
    package init(threads: Int) {
        for _ in 0..<threads {
            let thread = Thread { [self] in
                while true {
                    available.wait()
                    let job = jobs.withLock { $0.removeFirst() }
                    job.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
            thread.start()
        }
    }

    /// Runs a job as soon as a thread is free, after all earlier jobs.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        available.signal()
    }

    /// Runs a body in a task of its own, and returns what it returns. If the caller's task is cancelled, the body's is, too, and
    /// the caller waits no longer, even if the body does not return.
    package func run<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let (answers, answer) = AsyncStream<Result<Answer, any Error>>.makeStream()
        let task = Task(executorPreference: self) {
            do { answer.yield(.success(try await body())) } catch { answer.yield(.failure(error)) }
            answer.finish()
        }
        defer { task.cancel() }
        for await result in answers { return try result.get() }
        throw CancellationError()
    }
}

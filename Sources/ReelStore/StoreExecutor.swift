internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs tasks that wait for a store, or hash its files, on a few threads of its own. Swift's pool has one thread for
/// each core: everything else there would wait for such a task, forever if a system call does not return because a file
/// server is away.
package final class StoreExecutor: TaskExecutor {
    package static let shared = StoreExecutor(threads: 16)
    /// One thread for tasks on large jobs (`JobEntry.isLarge`), which then delay one another and nothing else.
    package static let forLargeJobs = StoreExecutor(threads: 1)

    private let jobs = Mutex<[UnownedJob]>([])
    private let available = DispatchSemaphore(value: 0)

    /// - Parameter threads: number of threads, which last as long as the process.
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

    /// Runs a body in a task of its own, and returns its value. If the caller's task is cancelled, so is the body's,
    /// and the caller stops waiting, even if the body does not return.
    package func run<Answer: Sendable>(_ body: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
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

import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import Testing

/// What a worker does with jobs that take more than it allows.
@Suite struct QuotaTests {
    private func quotas(jobCPU: Int64) -> Quotas {
        var quotas = Quotas()
        quotas[.jobCPU] = jobCPU
        return quotas
    }

    @Test func aJobThatHasTakenItsCPUTimeIsLeftToOtherWorkers() async throws {
        try await withWorker(quotas: quotas(jobCPU: 100)) { worker in
            let job = try await worker.publish()
            let other = try await worker.another("w2", quotas: quotas(jobCPU: 1000))
            worker.engines.burn(40)
            try await worker.work {
                try await worker.board.status(job.id)?.excluded[worker.worker.text] != nil
            }
            let status = try #require(try await worker.board.status(job.id))
            #expect(status.passes.done == 3 && status.cpuSeconds == 120)
            #expect(
                status.excluded[worker.worker.text]?.reason.reason
                    == .quotaExceeded(quota: .jobCPU, asked: nil, most: 100))
            // Each pass had an engine of its own, and none was begun for the fourth.
            #expect(worker.engines.started.count == 3)
            try await other.workToEnd(of: job.id)
            #expect(try await worker.board.status(job.id)?.state == .done)
        }
    }
}

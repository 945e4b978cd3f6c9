import Foundation
import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
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
            try await worker.work { try await worker.board.status(job.id)?.excluded[worker.worker.text] != nil }
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

    /// An engine that was taken over can leave records of files of any size, of which the disk holds nothing.
    @Test(arguments: [Quotas.Quota.passTime, .jobTime])
    func segmentsThatTakeLongToCompareEndAPassWithItsTime(quota: Quotas.Quota) async throws {
        var quotas = Quotas()
        quotas[quota] = 1
        try await withWorker(store: .folder, quotas: quotas, clockRunsFreely: true) { worker in
            let job = try await worker.publish()
            try await plant(bytes: 1 << 42, in: job, worker)
            let clock = ContinuousClock()
            let begun = clock.now
            try await worker.work { try await worker.board.status(job.id)?.excluded[worker.worker.text] != nil }
            // Its checksum would take a quarter of an hour or more.
            #expect(clock.now - begun < .seconds(300))
            let failure = try await worker.board.status(job.id)?.excluded[worker.worker.text]?.reason.reason
            #expect(failure == .quotaExceeded(quota: quota, asked: nil, most: 1))
            #expect(worker.engines.passes == [])
        }
    }

    /// A sparse segment of the first pass, with a record of another checksum.
    private func plant(bytes: Int64, in job: StoredJob, _ worker: WorkerFixture) async throws {
        let planned = PlannedSegments(plan: job.plan, indexes: try await job.indexes(in: worker.store))
        let content = try #require(planned.contents(of: job.plan.passes[0]).first)
        guard case .video(let frames) = content.part else { return }
        let record = SegmentRecord(
            content: content, clip: 0, token: "7e", frames: frames.count, packets: frames.count, bytes: bytes,
            checksum: String(repeating: "0", count: 64), timeBase: job.plan.video.format.timeBase, reorderDepth: 0,
            extradataHash: "")
        let place = job.entry.place(of: record.name)
        #expect(FileManager.default.createFile(atPath: place.data.name, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: place.data.name))
        try file.truncate(atOffset: UInt64(bytes))
        try file.close()
        try JSONEncoder().encode(record).write(to: URL(filePath: place.record.name))
    }
}

import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

extension ServiceTests {
    /// Results, from the service or from a store alone.
    @Suite struct ResultTests {
        private func expectNone(_ bench: JobBench, _ id: JobID, because expected: FailureReason) async throws {
            let results = try bench.service.results()
            let destination = Destination("\(bench.folder)/out.mkv", overwrite: false)
            #expect(await reason { _ = try results.result(of: id) } == expected)
            #expect(await reason { try results.deliver(id, to: destination) } == expected)
            #expect(await reason { _ = try results.verify(id) } == expected)
            #expect(!FileManager.default.fileExists(atPath: destination.path))
        }

        @Test func unknownJobs() async throws {
            let id = JobID("0123456789abcdef")
            try await expectNone(try await JobBench(), id, because: .jobUnknown(job: id))
        }

        @Test func jobsThatAreNotDone() async throws {
            let bench = try await JobBench()
            let id = try await bench.publish(bench.job())
            try await expectNone(bench, id, because: .noResult(job: id, state: nil))
            _ = try await bench.service.cancel(id)
            try await expectNone(bench, id, because: .noResult(job: id, state: .cancelled))
        }

        @Test func aResultIsDeliveredAndStays() async throws {
            let bench = try await JobBench()
            let id = try bench.finish(bench.job())
            let results = JobResults(in: bench.store)
            let destination = Destination("\(bench.folder)/out.mkv", overwrite: false)
            try results.deliver(id, to: destination)
            #expect(try String(contentsOfFile: destination.path, encoding: .utf8) == JobBench.output)
            #expect(
                await reason { try results.deliver(id, to: destination) } == .outputExists(path: destination.path))
            try results.deliver(id, to: Destination(destination.path, overwrite: true))
            let verified = try results.verify(id)
            #expect(verified.path == (try results.result(of: id).path))
            #expect(verified.bytes == 8)
            #expect(verified.sha256 == JobBench.outputHash)
        }

        @Test func theNameMustFitTheContainer() async throws {
            let bench = try await JobBench()
            let id = try bench.finish(bench.job())
            let path = "\(bench.folder)/out.mp4"
            let found = await reason {
                try bench.service.results().deliver(id, to: Destination(path, overwrite: false))
            }
            #expect(found == .outputContainerDiffers(job: id, container: .mkv, output: path))
        }

        @Test func aCopyThatHasChangedIsNoResult() async throws {
            let bench = try await JobBench()
            let id = try bench.finish(bench.job())
            let results = try bench.service.results()
            let copy = "\(bench.folder)/out.mkv"
            try results.deliver(id, to: Destination(copy, overwrite: false))
            #expect(try results.verify(id, copy: copy).path == copy)
            try "desrever".write(toFile: copy, atomically: false, encoding: .utf8)
            guard
                case .resultDiffers(let job, copy, 8, _, 8, JobBench.outputHash) = await reason({
                    _ = try results.verify(id, copy: copy)
                })
            else {
                Issue.record("the change was not found")
                return
            }
            #expect(job == id)
        }
    }
}

import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

extension ServiceTests {
    /// Results, from the service or from a store alone.
    @Suite struct ResultTests {
        private func expectNone(_ fixture: JobFixture, _ id: JobID, because expected: FailureReason) async throws {
            let results = try fixture.service.results()
            let destination = Destination("\(fixture.folder)/out.mkv", overwrite: false)
            #expect(await reason { _ = try await results.result(of: id) } == expected)
            #expect(await reason { try await results.deliver(id, to: destination) } == expected)
            #expect(await reason { _ = try await results.verify(id) } == expected)
            #expect(!FileManager.default.fileExists(atPath: destination.path))
        }

        @Test func unknownJobs() async throws {
            let id = JobID("0123456789abcdef")
            try await expectNone(try await JobFixture(), id, because: .jobUnknown(job: id))
        }

        @Test func jobsThatAreNotDone() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            try await expectNone(fixture, id, because: .noResult(job: id, state: nil))
            _ = try await fixture.service.cancel(id)
            try await expectNone(fixture, id, because: .noResult(job: id, state: .cancelled))
        }

        @Test func aResultIsDeliveredAndStays() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let results = JobResults(in: fixture.store)
            let destination = Destination("\(fixture.folder)/out.mkv", overwrite: false)
            try await results.deliver(id, to: destination)
            #expect(try String(contentsOfFile: destination.path, encoding: .utf8) == JobFixture.output)
            #expect(
                await reason { try await results.deliver(id, to: destination) } == .outputExists(path: destination.path)
            )
            try await results.deliver(id, to: Destination(destination.path, overwrite: true))
            let verified = try await results.verify(id)
            let stored = try await results.result(of: id)
            #expect(verified.path == stored.locator.name)
            #expect(verified.bytes == 8)
            #expect(verified.sha256 == JobFixture.outputHash)
        }

        @Test func theNameMustFitTheContainer() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let path = "\(fixture.folder)/out.mp4"
            let found = await reason {
                try await fixture.service.results().deliver(id, to: Destination(path, overwrite: false))
            }
            #expect(found == .outputContainerDiffers(job: id, container: .mkv, output: path))
        }

        @Test func aCopyThatHasChangedIsNoResult() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let results = try fixture.service.results()
            let copy = "\(fixture.folder)/out.mkv"
            try await results.deliver(id, to: Destination(copy, overwrite: false))
            #expect(try await results.verify(id, copy: copy).path == copy)
            try "desrever".write(toFile: copy, atomically: false, encoding: .utf8)
            guard
                case .resultDiffers(let job, copy, 8, _, 8, JobFixture.outputHash) = await reason({
                    _ = try await results.verify(id, copy: copy)
                })
            else {
                Issue.record("the change was not found")
                return
            }
            #expect(job == id)
        }
    }
}

import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import ReelTestSupport
import Testing

extension ServiceTests {
    /// Webhooks between a submission, the store and the board.
    @Suite struct Webhooks {
        let fixture: JobFixture
        init() async throws { fixture = try await JobFixture() }

        private func posted(_ urls: String...) async throws -> JobID {
            var job = try fixture.job()
            job.webhooks = urls
            return try await fixture.service.post(job).id
        }

        /// The URLs that the board has of a job.
        private func kept(_ id: JobID) throws -> Set<String> {
            Set(try fixture.raw("HKEYS", "reel2:{main}:job:\(id):webhooks").split(separator: "\n").map(String.init))
        }

        private func record(_ id: JobID) throws -> JobRecord { try fixture.store.job(id).read() }

        @Test func aJobThatIsPostedAgainGetsTheOtherWebhooksToo() async throws {
            let id = try await posted("https://a.example/")
            #expect(try record(id).webhooks == ["https://a.example/"])
            #expect(try await posted("https://b.example/") == id)
            #expect(try kept(id) == ["https://a.example/", "https://b.example/"])
            #expect(try await fixture.service.dueWebhook() == nil)
            _ = try await fixture.service.cancel(id)
            var told: Set<String> = []
            while let due = try await fixture.service.dueWebhook() {
                #expect(try await fixture.service.settle(due, .sent) == .sent)
                told.insert(due.url)
            }
            #expect(told == ["https://a.example/", "https://b.example/"])
            // Anew, it is the job of those alone that post it then.
            #expect(try await posted("https://c.example/") == id)
            #expect(try kept(id) == ["https://c.example/"])
            #expect(try record(id).webhooks == ["https://c.example/"])
        }

        @Test func aNinthIsRefused() async throws {
            for number in 0..<BoardPolicy.webhooksKept { _ = try await posted("https://\(number).example/") }
            let failure = await #expect(throws: ReelFailure.self) { try await posted("https://other.example/") }
            let id = try fixture.job().id
            #expect(failure?.reason == .webhooksTooMany(job: id, most: BoardPolicy.webhooksKept))
            #expect(try await fixture.board.state(of: id) == .probing)
        }

        @Test func aBoardThatIsRebuiltHasThoseOfTheRecord() async throws {
            let id = try await posted("https://a.example/")
            try fixture.raw("FLUSHALL")
            try await fixture.service.join()
            #expect(try await fixture.service.recover().count == 1)
            #expect(try kept(id) == ["https://a.example/"])
            // The same if the job is posted again instead.
            try fixture.raw("FLUSHALL")
            try await fixture.service.join()
            #expect(try await posted("https://b.example/") == id)
            #expect(try kept(id) == ["https://a.example/", "https://b.example/"])
        }

        @Test func aJobThatOnlyTheStoreHasTakesNone() async throws {
            let id = try fixture.finish(fixture.job())
            let failure = await #expect(throws: ReelFailure.self) { try await posted("https://a.example/") }
            #expect(failure?.reason == .jobNotOnBoard(job: id))
        }
    }
}

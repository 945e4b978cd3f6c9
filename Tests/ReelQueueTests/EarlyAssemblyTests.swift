import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// An assembly that begins while passes are still in hand.
    @Suite struct EarlyAssembly {
        let fixture: BoardFixture
        let job = JobID("a1")

        init() throws { fixture = try BoardFixture() }

        /// The first of three passes is finished, the others are held.
        private func tail() async throws -> [Claim] {
            try await fixture.publish()
            try await fixture.complete(fixture.take())
            return [try await fixture.take(), try await fixture.take()]
        }

        @Test func itWaitsForTheLastPassesAndEndsTheJob() async throws {
            let held = try await tail()
            let assembly = try await fixture.take("w2")
            #expect(assembly.work == .assembly && assembly.index == 3)
            #expect(try await fixture.state() == .running)
            #expect(try await fixture.claim("w3") == nil)
            await #expect(throws: ReelFailure.self) { try await fixture.complete(assembly, by: "w2") }
            for pass in held { #expect(try await fixture.complete(pass) == .ok) }
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.claim("w3") == nil)
            #expect(try await fixture.beat("w2", holding: [assembly]).answers[assembly.token] == .ok)
            #expect(try await fixture.complete(assembly, by: "w2") == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func itBeginsWithTheSoundAndTheVideosEnd() async throws {
            try await fixture.publish(BoardFixture.job(passes: 4, audio: 1))
            let (sound, end, middle, start) = (
                try await fixture.take(), try await fixture.take(), try await fixture.take(), try await fixture.take()
            )
            #expect(sound.work == .audio)
            try await fixture.complete(middle)
            #expect(try await fixture.claim("w2") == nil)
            try await fixture.complete(end)
            #expect(try await fixture.claim("w2") == nil)
            try await fixture.complete(sound)
            #expect(try await fixture.take("w2").work == .assembly)
            try await fixture.complete(start)
            #expect(try await fixture.state() == .assembling)
        }

        @Test func passesThatWaitGoFirst() async throws {
            let held = try await tail()
            try await fixture.fail(held[0], .transient)
            #expect(try await fixture.claim("w2") == nil)
            try fixture.makeDue()
            #expect(try await fixture.take("w2").index == 1)
            #expect(try await fixture.take("w3").work == .assembly)
        }

        /// The next worker would only wait, too; the next pass that is finished offers the assembly again.
        @Test(arguments: ["released", "lost", "failed"])
        func oneThatIsGivenBackComesAgainWithTheNextPass(_ how: String) async throws {
            let held = try await tail()
            let assembly = try await fixture.take("w2")
            switch how {
            case "released": try await fixture.board.release(assembly)
            case "failed": #expect(try await fixture.fail(assembly, .transient, by: "w2") == .retry)
            default:
                try fixture.raw("ZADD", "reel2:{main}:lease", "1", "a1/3/\(assembly.token)")
                #expect(try await fixture.reaper().reap() == 0)
            }
            #expect(try await fixture.claim("w2") == nil)
            #expect(try await fixture.board.retries(job) == 0)
            try await fixture.complete(held[0])
            let again = try await fixture.take("w2")
            #expect(again.work == .assembly && again.token != assembly.token)
            try await fixture.complete(held[1])
            #expect(try await fixture.complete(again, by: "w2") == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func onlyExistingResultsAreListed() async throws {
            let held = try await tail()
            #expect(try await fixture.board.results(job, at: [1, 2]).isEmpty)
            try await fixture.complete(held[1])
            #expect(try await fixture.board.results(job, at: [1, 2]) == [2: BoardFixture.result(of: held[1])])
        }
    }
}

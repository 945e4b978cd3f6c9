import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// An assembly that begins while passes are still in hand.
    @Suite struct EarlyAssembly {
        let bench: Bench
        let job = JobID("a1")

        init() throws { bench = try Bench() }

        /// The first of three passes is finished, the others are held.
        private func tail() async throws -> [Claim] {
            try await bench.publish()
            try await bench.complete(bench.take())
            return [try await bench.take(), try await bench.take()]
        }

        @Test func itWaitsForTheLastPassesAndEndsTheJob() async throws {
            let held = try await tail()
            let assembly = try await bench.take("w2")
            #expect(assembly.pass == .assembly && assembly.index == 3)
            #expect(try await bench.state() == .running)
            #expect(try await bench.claim("w3") == nil)
            await #expect(throws: ReelFailure.self) { try await bench.complete(assembly, by: "w2") }
            for pass in held { #expect(try await bench.complete(pass) == .ok) }
            #expect(try await bench.state() == .assembling)
            #expect(try await bench.claim("w3") == nil)
            #expect(try await bench.beat("w2", holding: [assembly]).answers[assembly.token] == .ok)
            #expect(try await bench.complete(assembly, by: "w2") == .ok)
            #expect(try await bench.state() == .done)
        }

        @Test func itBeginsWithTheSoundAndTheVideosEnd() async throws {
            let passes = [Pass.audio(0)] + Bench.passes(3)
            _ = try await bench.board.put(Bench.job(passes: 4), passes: passes)
            let (sound, end, middle, start) = (
                try await bench.take(), try await bench.take(), try await bench.take(), try await bench.take()
            )
            #expect(sound.pass == passes[0])
            try await bench.complete(middle)
            #expect(try await bench.claim("w2") == nil)
            try await bench.complete(end)
            #expect(try await bench.claim("w2") == nil)
            try await bench.complete(sound)
            #expect(try await bench.take("w2").pass == .assembly)
            try await bench.complete(start)
            #expect(try await bench.state() == .assembling)
        }

        @Test func passesThatWaitGoFirst() async throws {
            let held = try await tail()
            try await bench.fail(held[0], .transient)
            #expect(try await bench.claim("w2") == nil)
            try bench.makeDue()
            #expect(try await bench.take("w2").index == 1)
            #expect(try await bench.take("w3").pass == .assembly)
        }

        /// The next worker would only wait, too; the next pass that is finished offers the assembly again.
        @Test(arguments: ["released", "lost", "failed"])
        func oneThatIsGivenBackComesAgainWithTheNextPass(_ how: String) async throws {
            let held = try await tail()
            let assembly = try await bench.take("w2")
            switch how {
            case "released": try await bench.board.release(assembly)
            case "failed": #expect(try await bench.fail(assembly, .transient, by: "w2") == .retry)
            default:
                try bench.raw("ZADD", "reel2:{main}:lease", "1", "a1/3/\(assembly.token)")
                #expect(try await bench.reaper().reap() == 0)
            }
            #expect(try await bench.claim("w2") == nil)
            #expect(try await bench.board.retries(job) == 0)
            try await bench.complete(held[0])
            let again = try await bench.take("w2")
            #expect(again.pass == .assembly && again.token != assembly.token)
            try await bench.complete(held[1])
            #expect(try await bench.complete(again, by: "w2") == .ok)
            #expect(try await bench.state() == .done)
        }

        @Test func onlyExistingResultsAreListed() async throws {
            let held = try await tail()
            #expect(try await bench.board.results(job, at: [1, 2]).isEmpty)
            try await bench.complete(held[1])
            #expect(try await bench.board.results(job, at: [1, 2]) == [2: Bench.result(of: held[1])])
        }
    }
}

import Foundation
import Glibc
import ReelCore
import ReelQueue
import ReelTestSupport
import ReelWords
import Testing

/// The board of a Redis that three sentinels watch over: what it takes to go on when its master is gone.
@Suite struct SentinelTests {
    @Test(.timeLimit(.minutes(10)), arguments: [Trouble.killed, .frozen])
    func theBoardGoesOnWithTheNewMaster(_ trouble: Trouble) async throws {
        let farm = try await SentinelFarm()
        let board = RedisBoard(
            try RedisAddress(farm.url), name: "test", patience: RedisPatience(.seconds(120)))
        let other = RedisBoard(try RedisAddress(farm.url), name: "other", patience: RedisPatience(.seconds(120)))
        _ = try await board.put(BoardFixture.job(passes: 3))
        let id = JobID("a1")
        let first = try await other.status(id)
        #expect(first?.state == .running)
        try await farm.awaitReplica()
        var servers = [try farm.master()]
        // Back and forth: the replica takes over, then the first master, which has become its replica, does.
        for _ in 0..<2 {
            let master = try farm.master()
            let began = ContinuousClock.now
            switch trouble {
            case .killed: farm.kill(master)
            case .frozen: farm.freeze(master)
            }
            // One call waits for an answer that never comes, the other connection rests.
            #expect(try await board.status(id)?.state == .running)
            #expect(try await other.status(id)?.state == .running)
            #expect(ContinuousClock.now - began < .seconds(60))
            servers.append(try await farm.master(after: master))
            switch trouble {
            case .killed: try await farm.restart(master)
            case .frozen: farm.thaw(master)
            }
            try await farm.awaitReplica()
        }
        #expect(servers.count == 3 && servers[0] == servers[2])
        #expect(try await board.cancel(id))
        #expect(try await other.status(id)?.state == .cancelled)
    }

    enum Trouble: Sendable { case killed, frozen }

    @Test(.timeLimit(.minutes(10)))
    func whatSentinelsDoNotKnowIsNamed() async throws {
        let farm = try await SentinelFarm()
        let unknown = RedisBoard(try RedisAddress(farm.url + "x"), name: "test")
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await unknown.ping() })
        #expect(failure.cause == .permanent && failure.exitCode == 4)
        for port in farm.sentinels { #expect(failure.words.contains("127.0.0.1:\(port) knows no master mainx")) }

        // One that is gone and one that is a server of something else do not keep the others from answering.
        let free = try SentinelFarm.freePort()
        let some = farm.url(of: [free, try farm.master(), farm.sentinels[2]])
        try await RedisBoard(try RedisAddress(some), name: "test").ping()

        let gone = RedisBoard(try RedisAddress(farm.url(of: [free])), name: "test")
        let refused = try #require(await #expect(throws: ReelFailure.self) { try await gone.ping() })
        #expect(refused.cause == .transient)
        #expect(refused.words.contains("no sentinel names the master: 127.0.0.1:\(free): Connection refused"))
    }
}

import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import ReelWords
import Synchronization
import Testing

extension BoardTests {
    @Suite struct Connecting {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test func aRestartOfRedisKeepsAll() async throws {
            try await fixture.publish(BoardFixture.job(passes: 3))
            try await fixture.complete(fixture.take())
            let claim = try await fixture.take()
            try await fixture.fail(fixture.take(), .transient)
            try await fixture.beat(holding: [claim], encoded: 5)
            let before = try #require(try await fixture.board.status(claim.job))

            fixture.server.kill()
            let failure = await #expect(throws: ReelFailure.self) { try await fixture.board.ping() }
            #expect(failure?.kind == .unreachable)
            #expect(failure?.cause == .transient)
            try fixture.server.start()

            try await fixture.board.ping()
            let after = try #require(try await fixture.board.status(claim.job))
            #expect((after.state, after.passes, after.failures) == (before.state, before.passes, before.failures))
            #expect((after.framesEncoded, after.framesDecoded) == (before.framesEncoded, before.framesDecoded))
            #expect(try await fixture.beat(holding: [claim]).answers == [claim.token: .ok])
            #expect(try await fixture.complete(claim) == .ok)
            let raw = try RawRedis(socket: fixture.server.socket)
            try raw("ZADD", "reel2:{main}:job:a1:retry", "1", "2")
            try raw("ZADD", "reel2:{main}:timer", "1", "a1")
            try await fixture.complete(fixture.take())
            #expect(try await fixture.take().work == .assembly)
        }

        @Test func aLostConnectionIsReopened() async throws {
            try await fixture.board.ping()
            try fixture.raw("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            await #expect(throws: ReelFailure.self) { try await fixture.board.ping() }
            try await fixture.board.ping()
            #expect(try fixture.raw("CLIENT", "LIST").contains("name=test"))
        }

        @Test(.timeLimit(.minutes(10)))
        func aPatientBoardRepeatsCallsWhileRedisIsAway() async throws {
            let patience = RedisPatience(.seconds(100))
            let boards = try (0..<3).map { _ in try BoardFixture.open(fixture.server, patience: patience) }
            // The last has no connection when Redis ends.
            for board in boards.dropLast() { try await board.ping() }
            try await fixture.publish()
            fixture.server.kill()
            async let answers = boards[0].status(JobID("a1"))
            async let later = boards[2].status(JobID("a1"))
            async let cancelled = boards[1].cancel(JobID("a1"))
            try fixture.server.start()
            #expect(try await answers != nil)
            #expect(try await later != nil)
            #expect(try await cancelled)
        }

        @Test(.timeLimit(.minutes(10)))
        func aPatientBoardThatNeverReachedRedisSaysSoAtOnce() async throws {
            let board = RedisBoard(
                try RedisAddress("unix://\(fixture.server.folder)/none.sock"), name: "test",
                patience: RedisPatience(.seconds(3600)))
            let failure = await #expect(throws: ReelFailure.self) { try await board.ping() }
            #expect(failure?.kind == .unreachable)
        }

        @Test(.timeLimit(.minutes(10)))
        func aCallThatWaitsForRedisSaysSoAndEndsWithItsTask() async throws {
            let (away, said) = AsyncStream.makeStream(of: ReelFailure.self)
            let board = try BoardFixture.open(
                fixture.server, patience: RedisPatience(.seconds(3600)) { said.yield($0) })
            try await board.ping()
            fixture.server.kill()
            let call = Task { try await board.ping() }
            for await failure in away {
                #expect(failure.kind == .unreachable)
                break
            }
            call.cancel()
            let failure = await #expect(throws: ReelFailure.self) { try await call.value }
            #expect(failure?.kind == .interrupted)
            try fixture.server.start()
        }

        @Test func noAnswerInTimeIsAFailure() async throws {
            let board = try BoardFixture.open(fixture.server, timing: BoardTiming(answerTimeout: .milliseconds(100)))
            try await board.ping()
            try fixture.raw("CLIENT", "PAUSE", "3000")
            let failure = await #expect(throws: ReelFailure.self) { try await board.ping() }
            #expect(failure?.words.hasSuffix("no answer in time") == true)
            try fixture.raw("CLIENT", "UNPAUSE")
            try await board.ping()
        }

        /// Another Redis may have the board by now, at the same name.
        @Test func aClientLeavesARedisThatIsNotTheMaster() async throws {
            func connections() throws -> [Substring] {
                let clients = try fixture.raw("CLIENT", "LIST").split(separator: "\n").filter {
                    $0.contains("name=test ")
                }
                return clients.compactMap { $0.split(separator: " ").first }.sorted()
            }
            try await fixture.publish()
            let before = try connections()
            try fixture.raw("REPLICAOF", "127.0.0.1", "1")
            let failure = await #expect(throws: ReelFailure.self) { try await fixture.board.cancel(JobID("a1")) }
            try fixture.raw("REPLICAOF", "NO", "ONE")
            #expect(failure?.cause == .transient)
            #expect(failure?.words.contains("READONLY") == true)
            #expect(try await fixture.board.cancel(JobID("a1")))
            #expect(try connections() != before)
        }

        @Test func aMissingServerIsUnreachable() async throws {
            let board = RedisBoard(try RedisAddress("unix://\(fixture.server.folder)/none.sock"), name: "test")
            for _ in 0..<3 {
                let failure = await #expect(throws: ReelFailure.self) { try await board.ping() }
                #expect(failure?.exitCode == 4)
                #expect(failure?.words.contains("none.sock") == true)
            }
        }

        @Test func databasesAndPasswords() async throws {
            let second = RedisBoard(try RedisAddress("\(fixture.server.url)?db=2"), name: "second")
            _ = try await second.put(BoardFixture.job(passes: 1))
            #expect(try await fixture.state() == nil)
            #expect(try await second.status(JobID("a1"))?.state == .running)

            try fixture.raw("ACL", "SETUSER", "reel", "on", ">secret", "~*", "+@all")
            let path = fixture.server.socket
            try await RedisBoard(try RedisAddress("unix://reel:secret@\(path)"), name: "test").ping()
            let failure = await #expect(throws: ReelFailure.self) {
                try await RedisBoard(try RedisAddress("unix://reel:wrong@\(path)"), name: "test").ping()
            }
            #expect(failure?.words.contains("WRONGPASS") == true)
            #expect(failure?.cause == .permanent)
            #expect(failure?.words.contains("wrong@") == false)
        }

        @Test func overTCP() async throws {
            var port = Int.random(in: 20_000..<32_000)
            while (try? fixture.raw("CONFIG", "SET", "port", "\(port)")) == nil { port += 1 }
            for host in ["127.0.0.1", "localhost"] {
                let board = RedisBoard(try RedisAddress("redis://admin:admin@\(host):\(port)/1"), name: "test")
                _ = try await board.put(BoardFixture.job(host, passes: 1))
                #expect(try await board.status(JobID(host))?.state == .running)
            }
            try fixture.raw("CONFIG", "SET", "port", "0")
            let late = RedisBoard(try RedisAddress("redis://127.0.0.1:\(port)"), name: "test")
            let failure = await #expect(throws: ReelFailure.self) { try await late.ping() }
            #expect(failure?.cause == .transient)
        }

        @Test func aBoardLeavesNoThreadAndNoConnection() async throws {
            func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            func clients() throws -> Int {
                try fixture.raw("CLIENT", "LIST").split(separator: "\n").count { $0.contains("name=passing") }
            }
            let before = try threads()
            for _ in 0..<50 { try await RedisBoard(try RedisAddress(fixture.server.url), name: "passing").ping() }
            let deadline = ContinuousClock.now + .seconds(180)
            while ContinuousClock.now < deadline, try threads() > before + 10 || clients() > 0 { usleep(5000) }
            #expect(try threads() <= before + 10)
            #expect(try clients() == 0)
        }

        @Test func unsuitableSettingsOfRedisAreNamed() async throws {
            #expect(try await fixture.board.diagnostics() == [])
            try fixture.raw("CONFIG", "SET", "appendonly", "no", "maxmemory", "1gb", "maxmemory-policy", "allkeys-lru")
            let warnings = try await fixture.board.diagnostics()
            try fixture.raw("CONFIG", "SET", "appendonly", "yes", "maxmemory", "0", "maxmemory-policy", "noeviction")
            let address = "\(try RedisAddress(fixture.server.url))"
            #expect(warnings == [.redisWithoutLog(address: address), .redisEvicts(address: address)])
            #expect(warnings[0].words.contains("appendonly yes"))
        }

        @Test func waitingBoardsLeaveTheCooperativePoolFree() async throws {
            let waiters = try (0..<16).map { _ in try BoardFixture.open(fixture.server) }
            final class Count: Sendable { let value = Atomic(0) }
            let ended = Count()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for waiter in waiters {
                    group.addTask {
                        try await waiter.waitForWork(seconds: 5)
                        ended.value.add(1, ordering: .relaxed)
                    }
                }
                for _ in 0..<20 { try await fixture.board.ping() }
                #expect(ended.value.load(ordering: .relaxed) == 0)
                try await group.waitForAll()
            }
        }

        @Test func jobsAreListedOldestFirstAndForgotten() async throws {
            for id in ["c", "a", "b"] {
                try await fixture.publish(BoardFixture.job(id, passes: 1))
                // The list counts in milliseconds.
                usleep(2000)
            }
            #expect(try await fixture.board.latestJobs(ended: 50).jobs.map(\.job.id.text) == ["c", "a", "b"])
            let refusal = await #expect(throws: ReelFailure.self) { try await fixture.board.forget(JobID("a")) }
            #expect(refusal?.kind == .usage)
            try await fixture.complete(fixture.take())
            for id in ["c", "a", "b"] { _ = try await fixture.board.cancel(JobID(id)) }
            for id in ["a", "b", "c"] { try await fixture.board.forget(JobID(id)) }
            try await fixture.board.forget(JobID("c"))
            #expect(try await fixture.board.latestJobs(ended: 50).jobs.isEmpty)
            #expect(try fixture.raw("KEYS", "*job*").isEmpty)
        }

        @Test func jobsOfManyExchangesAreListedBesideOneThatCannotBeRead() async throws {
            let ids = (0..<60).map { String(format: "j%02d", $0) }
            for id in ids { try await fixture.publish(BoardFixture.job(id, passes: 1)) }
            try fixture.raw("HSET", "reel2:{main}:job:j30", "job", "{")
            // The first exchange finds no functions, and is made again.
            try fixture.raw("FUNCTION", "FLUSH")
            let list = try await fixture.board.list((ids + ["gone"]).map(JobID.init))
            #expect(list.jobs.map(\.job.id.text) == ids.filter { $0 != "j30" })
            #expect(list.unreadable.keys.map(\.text) == ["j30"])
            #expect(list.unreadable.values.allSatisfy { $0.reason.code == "board-unreadable" })
        }

        @Test func expiredJobsLeaveTheList() async throws {
            let brief = try BoardFixture.open(fixture.server, timing: BoardTiming(retention: .milliseconds(1)))
            _ = try await brief.put(BoardFixture.job("old", passes: 1))
            #expect(try await brief.cancel(JobID("old")))
            usleep(5000)
            #expect(try fixture.raw("EXISTS", "reel2:{main}:job:old") == "0")
            #expect(try await brief.latestJobs(ended: 50).jobs.isEmpty)
            _ = try await brief.put(BoardFixture.job("new", passes: 1))
            #expect(try fixture.raw("ZRANGE", "reel2:{main}:jobs", "0", "-1") == "new")
            #expect(try fixture.raw("KEYS", "*:old*").isEmpty)
        }

        @Test func eventsTellWhatHappened() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.complete(fixture.take())
            try await fixture.complete(fixture.take())
            let events = try fixture.raw("XRANGE", "reel2:{main}:events", "-", "+").split(separator: "\n")
            let names = zip(events, events.dropFirst()).filter { $0.0 == "event" }.map(\.1)
            #expect(
                names == ["begun", "published", "claimed", "assembling", "completed", "claimed", "done", "completed"])
        }
    }
}

@Suite struct RedisAddressTests {
    @Test(arguments: [
        ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
        ("redis://queue.example:7000/3", "redis://queue.example:7000/3"),
        ("redis://queue.example:7000/", "redis://queue.example:7000"),
        ("redis://me:secret@queue.example", "redis://me@queue.example:6379"),
        ("redis://:secret@queue.example", "redis://queue.example:6379"),
        ("redis://[::1]:7000", "redis://[::1]:7000"),
        ("REDIS://host", "redis://host:6379"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("unix:///run/redis.sock?db=4", "unix:///run/redis.sock?db=4"),
        ("unix://me:secret@/run/redis.sock", "unix://me@/run/redis.sock"),
        ("unix:///run/with%20space.sock", "unix:///run/with space.sock"),
        ("rediss://me:secret@host/2?ca=/ca.pem&cert=c&key=k", "rediss://me@host:6379/2"),
        ("redis+sentinel://s1,s2:7,[::1]/main", "redis+sentinel://s1:26379,s2:7,[::1]:26379/main"),
        ("rediss+sentinel://me:secret@s1:1,s2:2/main/3", "rediss+sentinel://me@s1:1,s2:2/main/3"),
    ])
    func isRead(_ url: String, as shown: String) throws {
        let address = try RedisAddress(url, transport: NoTransport())
        #expect(address.description == shown)
        #expect(!"\(address)".contains("secret"))
    }

    @Test(arguments: [
        "", "localhost", "localhost:6379", "http://host", "redis://", "redis://host:99999", "redis://host,other",
        "redis://host?ca=x", "rediss://host?db=1", "rediss://host?ca=", "rediss://host?ca=a&ca=b",
        "rediss://host?cert=c",
        "redis+sentinel://s1,s2", "redis+sentinel://s1,/main", "redis+sentinel://s1/main/2/3",
        "redis+sentinel://s1/main/x",
        "redis+sentinel://s1:0/main", "redis+sentinel://,s1/main",
        "redis://host/one", "redis://host/-1", "redis://host?db=1", "unix://run/redis.sock", "unix://", "unix:///",
        "unix:///run/s?db=x", "unix:///run/s?x=1", "unix:///" + String(repeating: "p", count: 107),
    ])
    func isRefused(_ url: String) {
        let failure = #expect(throws: ReelFailure.self) { try RedisAddress(url, transport: NoTransport()) }
        #expect(failure?.kind == .usage && failure?.owner == .request)
    }

    @Test func aBuildWithoutTLSSaysSoAndDoesNotShowThePassword() throws {
        let failure = #expect(throws: ReelFailure.self) { try RedisAddress("rediss://me:secret@host") }
        #expect(failure?.words.contains("this build of reel has no TLS") == true)
        #expect(failure?.words.contains("secret") == false)
        #expect(failure?.words.contains("me@host") == true)
    }
}

private struct NoTransport: SecureTransport {
    func secure(
        _ host: HostPort, by files: TLSFiles, within limit: Duration, dial: () throws(ConnectionError) -> CInt
    ) throws(ConnectionError) -> any SecureStream {
        throw ConnectionError(message: "no transport")
    }
}

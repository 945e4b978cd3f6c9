import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import ReelWords
import Testing

extension BoardTests {
    /// Permissions of the users of `deploy/redis-users.acl`: all that their programs need, and no others.
    @Suite struct Access {
        static let users = ["reel-worker", "reel-coordinator"]
        let server: RedisServer
        let admin: RawRedis

        init() throws {
            server = try RedisServer()
            admin = try RawRedis(socket: server.socket)
        }

        /// Has the administrator's user load the functions.
        @discardableResult
        private func prepare() async throws -> Bool { try await fixture("reel-admin").board.prepare() }

        @Test func everyUserMayDoAllThatItsProgramDoes() async throws {
            let (coordinator, worker) = (try fixture("reel-coordinator"), try fixture("reel-worker"))
            #expect(try await prepare())
            #expect(try await !prepare())
            #expect(try await fixture("reel-admin").board.diagnostics() == [])
            try admin("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "100000")
            for user in [coordinator, worker] {
                try await user.board.ping()
                #expect(try await user.board.diagnostics() == [])
            }
            #expect(try await worker.board.isEmpty())
            #expect(try await worker.board.auditAfterRestart() == Audit())

            let stored = [
                0: RecordedResult(token: "old", result: PassResult(segments: [], statistics: .init(), diagnostics: []))
            ]
            let published = try await coordinator.board.put(
                BoardFixture.job(passes: 6), finished: stored)
            #expect(published == .published)
            let (store, other) = (StoreID("0123456789abcdef"), StoreID("fedcba9876543210"))
            #expect(try await worker.board.store(expecting: nil) == nil)
            #expect(try await worker.board.store(expecting: store) == store)
            #expect(try await coordinator.board.store(expecting: other) == store)
            try await worker.board.waitForWork(seconds: 1)
            try await worker.beat()
            let held = try await worker.take()
            try await worker.beat(holding: [held], encoded: 3, wholeChunks: 1)
            try await look(coordinator.board, at: held)
            #expect(try await worker.board.readmit(WorkerID("w1"), to: [held.job]) == 0)
            for user in [coordinator, worker] { #expect(try await user.board.audit() == Audit(jobs: 1, repairs: 0)) }
            try await settleEverywhere(worker)
            try await worker.complete(held)
            try await worker.board.trim(held.job)
            try await controlEverything(coordinator, worker)
            try await takeASecondCopy(coordinator, worker)
            try await probeTogether(coordinator, worker)
            #expect(
                try await worker.board.disprove(held, worker: WorkerID("w1"), job: BoardFixture.job(passes: 6)) == false
            )
            for user in [coordinator, worker] {
                #expect(try await user.board.lock("a1", token: "aa", for: .seconds(9), again: false))
                #expect(try await user.board.lock("a1", token: "aa", for: .seconds(9), again: true))
                try await user.board.unlock("a1", token: "aa")
                try await user.board.forget(JobID("a1"))
            }
            try await worker.board.depart(WorkerID("w1"))

            // Redis refused no command, not even one whose refusal is ignored, and every function was called.
            #expect(try admin("ACL", "LOG").isEmpty)
            let called = try admin("SLOWLOG", "GET", "-1").matches(of: /reel2_(\w+)/).map { String($0.1) }
            let known = Library.text.matches(of: /\n(?:transition|removal|look)\('(\w+)'/).map { String($0.1) }
            // Two of the functions are for programs of release 0.1.0.
            #expect(Set(called).subtracting(["version"]) == Set(known).subtracting(["upload", "restore"]))
        }

        /// Redis 7.0 replays what was written in one transaction as the user `default`.
        @Test func theBoardSurvivesARestartOfRedis() async throws {
            let (coordinator, worker) = (try fixture("reel-coordinator"), try fixture("reel-worker"))
            try await prepare()
            try await coordinator.publish()
            try await worker.beat()
            try await worker.complete(worker.take())
            let held = try await worker.take()
            try server.awaitLog()
            server.kill()
            try server.start()
            // The functions are there, too, before a client calls one.
            #expect(try RawRedis(socket: server.socket)("FCALL_RO", "reel2_version", "0") == "\(Library.version)")
            // Each finds its connection broken first.
            for user in [coordinator, worker] { try? await user.board.ping() }
            #expect(try await coordinator.state() == .running)
            #expect(try await worker.board.auditAfterRestart() == Audit(jobs: 1, repairs: 0))
            #expect(try await worker.beat(holding: [held]).answers == [held.token: .ok])
            #expect(try await coordinator.board.status(held.job)?.passes.done == 1)
            #expect(try !server.serverLog().contains("NOPERM"))
        }

        @Test(arguments: users)
        func whatNoProgramNeedsIsRefused(_ user: String) throws {
            let client = try RawRedis(socket: server.socket)
            try client("AUTH", user, #require(RedisServer.passwords[user]))
            try admin("SET", "other", "value")
            // Functions run with the rights of the user that calls them.
            try admin(
                "FUNCTION", "LOAD", "REPLACE",
                """
                #!lua name=foreign
                redis.register_function('foreign', function() return redis.call('HGET', 'other', 'field') end)
                """)
            let refused = [
                "FLUSHALL", "FLUSHDB", "CONFIG GET *", "KEYS *", "SCAN 0", "SHUTDOWN", "ACL LIST", "MONITOR",
                "CLIENT LIST", "CLIENT KILL TYPE normal", "SCRIPT FLUSH", "EVAL 1 0", "EVALSHA 1 0", "SCRIPT LOAD 1",
                "FUNCTION LIST", "FUNCTION FLUSH", "FUNCTION DELETE foreign", "FUNCTION KILL", "SAVE",
                "REPLICAOF NO ONE", "SWAPDB 0 1", "RENAME reel2:{main}:jobs reel2:{main}:x", "PUBLISH reel2:{main}:x 1",
                "SUBSCRIBE reel2:{main}:x", "HGET other field", "ZADD other 1 x", "HSET reel:{other}:jobs a 1",
                "FCALL foreign 0", "BGREWRITEAOF", "SELECT 1", "CONFIG SET maxmemory 0", "SETBIT other 4294967295 1",
            ]
            let library = ["FUNCTION", "LOAD", "REPLACE", "#!lua name=mine\nredis.register_function('f', print)"]
            let trouble = #expect(throws: RawRedis.Trouble.self) { try client.send(library) }
            #expect(trouble?.message.contains("permission") == true)
            for command in refused {
                let trouble = #expect(throws: RawRedis.Trouble.self, "\(command)") {
                    try client.send(command.split(separator: " ").map(String.init))
                }
                #expect(
                    trouble?.message.contains(/permission|can't access/) == true,
                    "\(command): \(trouble?.message ?? "")")
            }
            #expect(try admin("GET", "other") == "value")
        }

        @Test("the administrator's user loads functions, and changes nothing")
        func administratorChangesNothing() async throws {
            try await prepare()
            let client = try RawRedis(socket: server.socket)
            try client("AUTH", "reel-admin", #require(RedisServer.passwords["reel-admin"]))
            for command in [
                "SET reel2:{main}:x 1", "DEL reel2:{main}:jobs", "HSET reel2:{main}:x a 1", "FCALL reel2_drain 0",
                "EVAL return 0", "FLUSHALL", "FUNCTION DELETE reel2", "FUNCTION FLUSH", "CONFIG GET *", "SELECT 1",
            ] {
                let trouble = #expect(throws: RawRedis.Trouble.self, "\(command)") {
                    try client.send(command.split(separator: " ").map(String.init))
                }
                #expect(trouble?.message.contains("permission") == true, "\(command): \(trouble?.message ?? "")")
            }
        }

        @Test("users of one namespace neither see nor change the board of another")
        func namespaces() async throws {
            try await prepare()
            let (mine, theirs) = (Namespace.main, try Namespace("tenant-2"))
            try admin("ACL", "SETUSER", "guest", "on", ">guest", "~reel2:{tenant-2}:*", "+@all", "-@admin")
            func board(_ user: String, _ namespace: Namespace) throws -> BoardFixture {
                let password = RedisServer.passwords[user] ?? user
                let login = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let address = try RedisAddress("unix://\(user):\(login)@\(server.socket)")
                return BoardFixture(
                    server, raw: admin, board: RedisBoard(address, name: user, namespace: namespace))
            }
            let (host, guest) = (try board("reel-coordinator", mine), try board("guest", theirs))
            #expect(try await host.publish() == .published)
            #expect(try await guest.state() == nil)
            #expect(try await guest.publish(BoardFixture.job(passes: 2)) == .published)
            while let claim = try await guest.claim() { try await guest.complete(claim) }
            #expect(try await guest.state() == .done)
            #expect(try await host.state() == .running)
            #expect(try await host.board.status(JobID("a1"))?.passes.done == 0)
            let keys = Set(try admin("KEYS", "*").split(separator: "\n").map { $0.prefix { $0 != "}" } })
            #expect(keys == ["reel2:{main", "reel2:{tenant-2"])
            for intruder in [try board("guest", mine), try board("reel-coordinator", theirs)] {
                for attempt in [
                    { try await intruder.board.cancel(JobID("a1")) }, { try await intruder.claim() != nil },
                    { try await intruder.state() != nil }, { try await intruder.board.queue(count: 100).jobs.isEmpty },
                ] as [() async throws -> Bool] {
                    let failure = await #expect(throws: ReelFailure.self) { try await attempt() }
                    guard case .redisRefused(_, let said, _) = failure?.reason else {
                        Issue.record("\(String(describing: failure))")
                        continue
                    }
                    #expect(said.contains("NOPERM"))
                }
            }
            for name in ["", "a:b", "a}", "a*", "ä", String(repeating: "a", count: 65)] {
                #expect(throws: ReelFailure.self) { try Namespace(name) }
            }
        }

        /// Also what scripts do in states that no test of a user brings about.
        @Test func everyCommandThatReelKnowsIsGrantedAndNoOther() throws {
            let granted = [try Access.granted(to: Access.users[0]), try Access.granted(to: Access.users[1])]
            let sources = try Access.sources("", suffix: ".swift") + Access.sources("Scripts", suffix: ".lua")
            #expect(sources.count > 60)
            // A server that sentinels name is asked for its role.
            var known = Set(["FCALL", "FCALL_RO", "CLIENT|SETNAME", "ROLE"])
            for source in sources {
                for match in source.matches(of: /redis\.p?call\('([A-Z]+)'|send\(\s*\["([A-Z]+)"/) {
                    if let word = match.1 ?? match.2 { known.insert(String(word)) }
                }
            }
            // An administrator loads the functions, and the service manager repairs the log before Redis starts.
            known.subtract(["FUNCTION", "BGREWRITEAOF"])
            #expect(granted[0].union(granted[1]) == known)
            let shared = try Access.sources("Scripts/Shared", suffix: ".lua").joined()
                .matches(of: /redis\.p?call\('([A-Z]+)'/).map { String($0.1) }
            for user in granted { #expect(user.isSuperset(of: shared)) }
        }

        @Test(arguments: ["reel-worker:wr0ng@", "nobody:wr0ng@", ""])
        func whoIsNotLetInLearnsItForGood(_ login: String) async throws {
            let board = RedisBoard(try RedisAddress("unix://\(login)\(server.socket)"), name: "test")
            let failure = try #require(await #expect(throws: ReelFailure.self) { try await board.ping() })
            #expect(failure.cause == .permanent && failure.exitCode == 4)
            #expect(failure.words.contains(login.isEmpty ? "NOAUTH" : "WRONGPASS"))
            #expect(!failure.words.contains("wr0ng"))
        }
    }
}

extension BoardTests.Access {
    private func fixture(_ user: String, timing: BoardTiming = BoardTiming()) throws -> BoardFixture {
        let password = RedisServer.passwords[user]?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let address = try RedisAddress("unix://\(user):\(password)@\(server.socket)")
        return BoardFixture(server, raw: admin, board: RedisBoard(address, name: user, timing: timing))
    }

    /// Everything that a coordinator shows.
    private func look(_ board: RedisBoard, at held: Claim) async throws {
        #expect(try await board.status(held.job)?.passes.live == 1)
        #expect(try await board.strip(held.job, cells: 3)?.cells.map(\.live).reduce(0, +) == 1)
        #expect(try await board.passes(held.job, in: 0..<3)?.compactMap(\.worker) == [WorkerID("w1")])
        #expect(try await board.jobs(of: "nobody") == 0)
        for list in [try await board.queue(count: 100).jobs, try await board.latestJobs(ended: 50).jobs] {
            #expect(list.map(\.job.id) == [held.job])
        }
        #expect(try await board.jobCounts().active == 1)
        #expect(try await board.workers().map(\.holds.count) == [1])
        #expect(try await board.live(held.job) == [held.index: WorkerID("w1")])
        #expect(try await board.results(held.job).keys.sorted() == [0])
        _ = try await board.events(after: board.placeOfNow(), atMost: .milliseconds(1))
        _ = (try await board.pace(), try await board.passDiagnostics(held.job))
        #expect(try await board.figures().slots.busy == 1)
        #expect(try await board.rates().count == 60)
        #expect(try await board.jobs(before: nil, count: 5).map(\.id) == [held.job])
        let action = JournalAction(who: "anna", role: "admin", address: "::1", action: "drain", status: 200)
        try await board.note(action)
        #expect(try await board.journal(before: nil, count: 5).map(\.action) == [action])
        // Nobody takes what a worker writes for what a person did.
        let worker = try fixture("reel-worker").board
        await #expect(throws: ReelFailure.self) { try await worker.note(action) }
        try admin("ACL", "LOG", "RESET")
        #expect(try await board.journal(before: nil, count: 5).count == 1)
    }

    /// Every way in which a worker gives a pass back.
    private func settleEverywhere(_ worker: BoardFixture) async throws {
        #expect(try await worker.fail(worker.take(), .transient) == .retry)
        #expect(try await worker.fail(worker.take("w2"), .crash, by: "w2") == .retry)
        try await worker.board.release(worker.take())
        let lost = try await worker.take()
        for user in Self.users {
            let reaper = try fixture(user, timing: BoardTiming(lease: .milliseconds(-1))).board
            try admin("ZADD", "reel2:{main}:lease", "1", "a1/\(lost.index)/\(lost.token)")
            #expect(try await reaper.reap() == (user == "reel-worker" ? 1 : 0))
        }
        #expect(try await worker.board.results(lost.job).count == 1)
    }

    /// Every command of a user to a job or a worker.
    private func controlEverything(_ coordinator: BoardFixture, _ worker: BoardFixture) async throws {
        let (board, job) = (coordinator.board, JobID("a1"))
        #expect(try await board.pause(job) == .running)
        #expect(try await worker.claim() == nil)
        #expect(try await board.resume(job) == .running)
        #expect(try await board.weigh(job, 2) == .running)
        #expect(try await board.describe(job, "{}"))
        #expect(try await board.list([job]).jobs.map(\.job.weight) == [2])
        #expect(try await board.hook(job, "https://a.example/") == .added)
        #expect(try await worker.fail(worker.take(), .permanent) == .jobFailed)
        #expect(try await board.retry(job) == .failed)
        #expect(try await board.drain(.worker, "w1"))
        #expect(try await board.drain(.host, "elsewhere"))
        #expect(try await worker.beat().drained == .worker)
        #expect(try await worker.claim() == nil)
        #expect(try await board.drainedHosts() == ["elsewhere"])
        #expect(try await board.undrain(.worker, "w1"))
        #expect(try await board.undrain(.host, "elsewhere"))
        for user in [coordinator, worker] {
            let claim = try await worker.take()
            try await worker.complete(claim)
            #expect(try await user.invalidate(claim, index: claim.index, token: claim.token) == 1)
        }
        #expect(try await board.cancel(job))
        #expect(try await coordinator.publish(BoardFixture.job(passes: 6)) == .published)
        while let claim = try await worker.claim() { try await worker.complete(claim) }
        #expect(try await coordinator.state() == .done)
        #expect(try await board.hook(job, "https://a.example/") == .due)
        #expect(try await board.dispatched(#require(try await board.dispatch()), .sent) == .sent)
    }

    /// A job that one user begins and the other plans, and one that is abandoned.
    private func probeTogether(_ coordinator: BoardFixture, _ worker: BoardFixture) async throws {
        let job = BoardFixture.job("p1", passes: 1)
        let begun = try await coordinator.begin(job)
        #expect(try await coordinator.board.attend(job.id, waiter: "c1", claim: begun)?.holds == true)
        #expect(try await coordinator.board.leave(job.id, waiter: "c1", claim: begun) == .stays)
        let probe = try await worker.take()
        try await worker.beat(holding: [probe])
        let made = RecordedResult(
            token: "t", result: PassResult(segments: [], statistics: .init(), diagnostics: [.said("w")]))
        let published = try await worker.board.publish(
            job, finished: [0: made], claim: probe)
        #expect(published == .published)
        #expect(try await worker.take().work == .assembly)
        #expect(try await coordinator.board.cancel(job.id))

        let other = JobID("p2")
        for attempt in ["abandoned", "refused"] {
            let begun = try await coordinator.begin(BoardFixture.job("p2"))
            #expect(try await coordinator.board.attend(other, waiter: "c1", claim: begun)?.state == .probing)
            let isAbandoned = attempt == "abandoned"
            if !isAbandoned { #expect(try await coordinator.fail(begun, .permanent, by: "c1") == .jobFailed) }
            let departure = try await coordinator.board.leave(
                other, waiter: "c1", claim: begun, abandoning: isAbandoned)
            let removal: Removal = try #require(departure.removal)
            try await coordinator.board.forget(other, removal: removal)
            #expect(try await coordinator.state("p2") == nil)
        }
    }

    /// The rarest of claims: a pass that another holds.
    private func takeASecondCopy(_ coordinator: BoardFixture, _ worker: BoardFixture) async throws {
        try await coordinator.publish(BoardFixture.job("b2", passes: 2))
        try await worker.beat("w2")
        let slow = try await worker.take("w2")
        let quick = try await worker.take("w1")
        // It was claimed long ago and has done next to nothing since.
        let entry = try admin("HGET", "reel2:{main}:job:b2:live", "\(slow.index)").split(separator: " ")
        try admin("HSET", "reel2:{main}:job:b2:live", "\(slow.index)", "\(entry[0]) 1000 1 1 w2")
        try await worker.complete(quick)
        #expect(try await worker.take("w1").index == slow.index)
        #expect(try await coordinator.board.cancel(JobID("b2")))
    }

    /// The commands that the file of users grants to one of them.
    private static func granted(to user: String) throws -> Set<String> {
        let words =
            try file("deploy/redis-users.acl").split(separator: "\n")
            .first { $0.hasPrefix("user \(user) ") }?.split(separator: " ") ?? []
        return Set(words.filter { $0.hasPrefix("+") }.map { $0.dropFirst().uppercased() })
    }

    private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The files below a folder of ReelQueue.
    private static func sources(_ name: String, suffix: String) throws -> [String] {
        let folder = "Sources/ReelQueue/\(name)"
        return try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(suffix) }.map { try file("\(folder)/\($0)") }
    }
}

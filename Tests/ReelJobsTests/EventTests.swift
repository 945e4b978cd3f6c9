import ReelCore
import ReelJobs
import ReelQueue
import Synchronization
import Testing

extension ServiceTests {
    /// Events as a program reads them from a service.
    @Suite struct EventTests {
        /// Reads events until a job ends.
        private func read(_ feed: EventFeed) async throws -> [BoardEvent] {
            var events: [BoardEvent] = []
            while !Task.isCancelled, events.last?.happening.isEnd != true {
                events += try await feed.wait(atMost: .seconds(60))
            }
            return Array(events.prefix(1 + (events.firstIndex { $0.happening.isEnd } ?? events.count)))
        }

        /// A job that runs, is paused, goes on, and is cancelled.
        private func live(_ fixture: JobFixture, _ name: String) async throws -> JobID {
            let id = try await fixture.publish(fixture.job(name))
            _ = try await fixture.service.pause(id)
            _ = try await fixture.service.resume(id)
            _ = try await fixture.service.cancel(id)
            return id
        }

        private let life: [BoardEvent.Happening] = [
            .init(.begun, worker: WorkerID("test")), .init(.published), .init(.paused), .init(.resumed),
            .init(.cancelled),
        ]

        @Test func eventsComeInOrder() async throws {
            let fixture = try await JobFixture()
            let place = try await fixture.service.now()
            let id = try await live(fixture, "clip")
            let events = try await read(fixture.service.events(after: place))
            #expect(events.map(\.happening) == life)
            #expect(events.allSatisfy { $0.job == id })
        }

        @Test func eventsOfOtherJobsAreLeftOut() async throws {
            let fixture = try await JobFixture()
            let place = try await fixture.service.now()
            _ = try await live(fixture, "one")
            let id = try await live(fixture, "other")
            let events = try await read(fixture.service.events(after: place, of: id))
            #expect(events.map(\.happening) == life)
            #expect(events.allSatisfy { $0.job == id })
        }

        @Test func aReaderGoesOnAfterThePlaceThatItKept() async throws {
            let fixture = try await JobFixture()
            let place = try await fixture.service.now()
            _ = try await live(fixture, "clip")
            let all = try await read(fixture.service.events(after: place))
            for (number, event) in all.dropLast().enumerated() {
                let kept = try #require(BoardEvent.Place(event.place.description))
                #expect(kept == event.place)
                #expect(try await read(fixture.service.events(after: kept)) == Array(all[(number + 1)...]))
            }
        }

        @Test(arguments: ["", "1", "1-", "-1", "1-2-3", "a-b", "+1-0", "$", "1-0 COUNT"])
        func textsThatAreNoPlace(text: String) {
            #expect(BoardEvent.Place(text) == nil)
        }

        @Test func eventsThatComeLaterAreWaitedFor() async throws {
            let fixture = try await JobFixture()
            let feed = fixture.service.events(after: try await fixture.service.now())
            let reader = Task { try await read(feed) }
            _ = try await live(fixture, "clip")
            #expect(try await reader.value.map(\.happening) == life)
        }

        @Test func cancellingTheTaskEndsTheWait() async throws {
            let fixture = try await JobFixture()
            let feed = fixture.service.events()
            let reader = Task { try await read(feed) }
            reader.cancel()
            #expect(try await reader.value.isEmpty)
        }

        @Test func followingEndsWithTheJob() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            let looks = Counter()
            let follower = Task {
                await reason {
                    _ = try await service.follow(id) { view in
                        #expect(view.id == id.text)
                        looks.count()
                    }
                }
            }
            while looks.now == 0 { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await service.cancel(id)
            #expect(await follower.value == .jobCancelled(job: id))
        }

        @Test func aJobThatIsDoneNeedsNoFollowing() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let view = try await fixture.service.follow(id) { _ in Issue.record("there is nothing to see") }
            #expect(view.state == .done)
            #expect(view.outputSha256 == JobFixture.outputHash)
        }

        @Test func anUnknownJobCannotBeFollowed() async throws {
            let fixture = try await JobFixture()
            let id = JobID("0123456789abcdef")
            #expect(await reason { _ = try await fixture.service.follow(id) { _ in } } == .jobForgotten(job: id))
        }
    }
}

/// What a process that follows a job does while Redis cannot answer.
@Suite struct FollowTests {
    @Test func aRedisThatRefusesIsNotAskedMoreOften() async throws {
        let refused = Counter()
        // After a start it is still reading its log.
        let redis = try FakeRedis { words in
            if words.contains("PING") { return "+PONG\r\n" }
            refused.count()
            return "-LOADING Redis is loading the dataset in memory\r\n"
        }
        let board = RedisBoard(
            try RedisAddress(redis.url), name: "test", patience: RedisPatience(.seconds(1)))
        try await board.ping()
        let follow = Follow(JobID("a1"), on: board, interval: .milliseconds(100))
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await follow.untilEnd { _ in } })
        #expect(failure.kind == .unreachable && failure.cause == .transient)
        guard case .redisRefused(_, let said, true) = failure.reason else {
            Issue.record("\(failure.reason)")
            return
        }
        #expect(said.hasPrefix("LOADING"))
        #expect(refused.now <= 12)
    }
}

extension ServiceTests {
    /// What a process that follows a job does with the job's events.
    @Suite struct FollowingTests {
        @Test("The end of a job is noticed at once, however lately something else happened", .timeLimit(.minutes(10)))
        func theEndIsNoticedAtOnce() async throws {
            let jobs = try await JobFixture()
            let id = try await jobs.publish(try jobs.job())
            let follow = Follow(
                id, on: jobs.board, interval: .seconds(3600), rest: .seconds(3600))
            let looks = Counter()
            let status = try await follow.untilEnd { _ throws(ReelFailure) in
                guard looks.count() == 1 else { return }
                // Both events come after the first look.
                do {
                    try await jobs.fail(id)
                } catch {
                    throw .of(error)
                }
            }
            #expect(status.state == .failed)
            #expect(looks.now == 2)
        }
    }
}

/// What a feed reads of the board's stream, and from which place on.
@Suite struct EventFeedTests {
    /// Answers each read with an event of the next job of the list, then with none.
    private func redis(jobs: [String], reads: Counter, places: @escaping @Sendable (String) -> Void) throws -> FakeRedis
    {
        try FakeRedis { words in
            guard words.first == "XREAD" else { return Self.array(["2", "5000"].map(Self.text)) }
            places(words.last ?? "")
            let read = reads.count()
            guard read <= jobs.count else { return "*-1\r\n" }
            let fields = ["event", "completed", "job", jobs[read - 1], "index", "3", "worker", "w1"].map(Self.text)
            let entry = Self.array([Self.text("\(2000 + read)-0"), Self.array(fields)])
            return Self.array([Self.array([Self.text("reel2:{main}:events"), Self.array([entry])])])
        }
    }

    private static func text(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }

    private static func array(_ elements: [String]) -> String { "*\(elements.count)\r\n" + elements.joined() }

    @Test func eventsOfOtherJobsAreLeftOut() async throws {
        let (reads, places) = (Counter(), Places())
        let redis = try redis(jobs: ["b2", "a1"], reads: reads) { places.add($0) }
        let feed = EventFeed(RedisBoard(try RedisAddress(redis.url), name: "test"), of: JobID("a1"))
        let events = try await feed.wait(atMost: .seconds(30))
        #expect(events.map(\.happening) == [.init(.completed, index: 3, worker: WorkerID("w1"))])
        #expect(events.map(\.job) == [JobID("a1")])
        // From the millisecond before, then from the last event read.
        #expect(places.all == ["2004-0", "2001-0"])
        #expect(try await feed.wait(atMost: .milliseconds(20)).isEmpty)
        #expect(places.all[2] == "2002-0")
    }

    @Test func aFeedOfAllJobsHasTheEventsOfEach() async throws {
        let redis = try redis(jobs: ["b2", "a1"], reads: Counter()) { _ in }
        let feed = EventFeed(RedisBoard(try RedisAddress(redis.url), name: "test"))
        #expect(try await feed.wait(atMost: .seconds(30)).map(\.job) == [JobID("b2")])
        #expect(try await feed.wait(atMost: .seconds(30)).map(\.job) == [JobID("a1")])
    }
}

private final class Places: Sendable {
    private let places = Mutex<[String]>([])

    var all: [String] { places.withLock { $0 } }

    func add(_ place: String) { places.withLock { $0.append(place) } }
}

import ReelCore
import ReelJobs
import ReelQueue
import Synchronization
import Testing

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

/// The places that were asked for, in order.
private final class Places: Sendable {
    private let places = Mutex<[String]>([])

    var all: [String] { places.withLock { $0 } }

    func add(_ place: String) { places.withLock { $0.append(place) } }
}

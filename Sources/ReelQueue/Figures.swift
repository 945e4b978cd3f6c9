package import ReelCore

/// What a board has counted, and its jobs, passes and slots by state, for people and programs that watch a farm.
///
/// Counters only grow, until Redis loses them. After a crash of Redis they may miss, or count twice, what was under
/// way.
package struct BoardFigures: Hashable, Sendable {
    package var jobs = Jobs()
    /// Counter: jobs that ended, by the state in which they did. A failed job that is retried and ends again counts
    /// again.
    package var jobsEnded = Ended()
    package var passes = Passes()
    /// Counter: attempts at passes, assemblies and planning, by outcome. All outcomes are there, also if they never
    /// occurred. An attempt that ended because its job had ended or was planned anew, or because the other of two
    /// attempts was faster, is in none.
    package var attempts: [Attempt: Int] = [:]
    /// Counter: seconds from claim to result of finished passes, without planning and assemblies.
    package var passDuration = Histogram()
    /// Counter: seconds from when a pass could be claimed until it was, without planning, assemblies and backup
    /// attempts.
    package var passWait = Histogram()
    /// Counter: frames that finished passes decoded.
    package var framesDecoded = 0
    /// Counter: frames that finished passes encoded.
    package var framesEncoded = 0
    /// Counter: bytes of the outputs that assemblies made.
    package var outputBytes = 0
    /// Counter: leases that lapsed, also leases whose pass was finished all the same.
    package var leasesLost = 0
    package var webhooks = Webhooks()
    /// Seconds for which the pass that waits longest has been ready; nil if none is.
    package var oldestReady: Double?
    package var slots = Slots()
    /// Workers whose last beat is not older than a lease.
    package var workers = 0

    package init() {}

    /// Jobs by state; each counts once.
    package struct Jobs: Hashable, Sendable {
        /// Jobs that have no plan yet, without paused ones.
        package var probing = 0
        /// Jobs whose passes are worked on, without paused ones.
        package var running = 0
        /// Jobs whose passes are all finished, without paused ones.
        package var assembling = 0
        /// Jobs that have not ended and that a user paused, so that none of their passes is given out.
        package var paused = 0
        /// Jobs that ended well and are still on the board.
        package var done = 0
        package var failed = 0
        package var cancelled = 0
        /// Jobs that have not ended and cannot be read, so that none of their passes is given out.
        package var unreadable = 0

        package init(
            probing: Int = 0, running: Int = 0, assembling: Int = 0, paused: Int = 0, done: Int = 0, failed: Int = 0,
            cancelled: Int = 0, unreadable: Int = 0
        ) {
            (self.probing, self.running, self.assembling, self.paused) = (probing, running, assembling, paused)
            (self.done, self.failed, self.cancelled, self.unreadable) = (done, failed, cancelled, unreadable)
        }
    }

    package struct Ended: Hashable, Sendable {
        package var done = 0
        package var failed = 0
        package var cancelled = 0

        package init(done: Int = 0, failed: Int = 0, cancelled: Int = 0) {
            (self.done, self.failed, self.cancelled) = (done, failed, cancelled)
        }
    }

    /// Attempts to send webhooks, by what followed.
    package struct Webhooks: Hashable, Sendable {
        package var sent = 0
        /// Attempts that failed, and were followed by another.
        package var retried = 0
        package var givenUp = 0

        package init(sent: Int = 0, retried: Int = 0, givenUp: Int = 0) {
            (self.sent, self.retried, self.givenUp) = (sent, retried, givenUp)
        }
    }

    /// Passes by state; each counts once. The planning of a job counts as a pass, and so does an assembly that
    /// can be claimed, is held, or waits for a retry.
    package struct Passes: Hashable, Sendable {
        /// Passes that a worker can claim.
        package var ready = 0
        /// Passes that a worker holds.
        package var live = 0
        /// Passes that failed and wait until their retry is due.
        package var retrying = 0
        /// Passes of paused jobs that are neither finished nor held.
        package var paused = 0
        package var done = 0

        package init(ready: Int = 0, live: Int = 0, retrying: Int = 0, paused: Int = 0, done: Int = 0) {
            (self.ready, self.live, self.retrying, self.paused, self.done) = (ready, live, retrying, paused, done)
        }
    }

    /// Slots by state; each counts once.
    package struct Slots: Hashable, Sendable {
        /// Slots that hold a pass, also those of drained workers.
        package var busy = 0
        /// Slots that wait for work.
        package var free = 0
        /// Slots that took themselves out, since their engines crashed in one job after another.
        package var out = 0
        /// Slots without a pass that are given none, since their worker or host is drained.
        package var drained = 0

        package init(busy: Int = 0, free: Int = 0, out: Int = 0, drained: Int = 0) {
            (self.busy, self.free, self.out, self.drained) = (busy, free, out, drained)
        }
    }

    package enum Attempt: Hashable, Sendable, CaseIterable {
        /// Its result was recorded; of planning: its plan was published.
        case done
        case failed(FailureCause)
        case lost
        case released

        /// All outcomes, `failed` with each cause.
        package static let allCases: [Attempt] =
            [.done] + FailureCause.allCases.map { .failed($0) } + [.lost, .released]

        /// The outcome without the cause: `done`, `failed`, `lost` or `released`.
        package var outcome: String {
            switch self {
            case .done: "done"
            case .failed: "failed"
            case .lost: "lost"
            case .released: "released"
            }
        }

        package var cause: FailureCause? { if case .failed(let cause) = self { cause } else { nil } }

        /// Its name among the counters.
        package var counter: String { "attempts:\(outcome)" + (cause.map { ":\($0.rawValue)" } ?? "") }
    }

    package struct Histogram: Hashable, Sendable {
        /// The upper bounds of the buckets in seconds, ascending; a bucket includes its bound.
        package static let bounds = BoardPolicy.buckets.map { Double($0) / 1000 }

        /// The number of times in each bucket alone, and at the end of those above all bounds.
        package var counts: [Int]
        /// The sum of all times in seconds.
        package var sum: Double

        package var count: Int { counts.reduce(0, +) }

        package init(counts: [Int] = Array(repeating: 0, count: BoardPolicy.buckets.count + 1), sum: Double = 0) {
            (self.counts, self.sum) = (counts, sum)
        }

        /// - Parameter total: gives one of the totals of a counter: 0 is the number of times, 1 their sum in
        ///   milliseconds.
        fileprivate init(_ name: String, _ total: (String, Int) -> Int) {
            let buckets = BoardPolicy.buckets.map { "\(name):\($0)" } + ["\(name):more"]
            let milliseconds = buckets.map { total($0, 1) }.reduce(0, +)
            self.init(counts: buckets.map { total($0, 0) }, sum: Double(milliseconds) / 1000)
        }
    }
}

extension BoardFigures {
    /// Slots that could work now: the slots that hold a pass, and one for each pass that can be claimed.
    package var slotsWanted: Int { slots.busy + passes.ready }

    /// Reads the reply of the function `figures`. A text that is no total counts as 0.
    init(_ reply: Reply) throws(ReelFailure) {
        var parts = try ReplyReader(reply)
        let counters = try parts.dictionary().mapValues { totals in
            totals.split(separator: " ").map { Int($0).flatMap { Totals.counts.contains($0) ? $0 : nil } ?? 0 }
        }
        func counter(_ name: String, _ place: Int = 0) -> Int {
            let totals = counters[name] ?? []
            return totals.indices.contains(place) ? totals[place] : 0
        }
        jobs = Jobs(done: try parts.integer(), failed: try parts.integer(), cancelled: try parts.integer())
        workers = try parts.integer()
        slots = Slots(
            busy: try parts.integer(), free: try parts.integer(), out: try parts.integer(),
            drained: try parts.integer())
        try parts.end()
        jobsEnded = Ended(
            done: counter("jobs:done"), failed: counter("jobs:failed"), cancelled: counter("jobs:cancelled"))
        for attempt in Attempt.allCases { attempts[attempt] = counter(attempt.counter) }
        passDuration = Histogram("duration", counter)
        passWait = Histogram("wait", counter)
        framesDecoded = counter(Attempt.done.counter, 1)
        framesEncoded = counter(Attempt.done.counter, 2)
        outputBytes = counter("outputs", 1)
        leasesLost = counter("leases:lost")
        webhooks = Webhooks(
            sent: counter("webhooks:sent"), retried: counter("webhooks:retried"), givenUp: counter("webhooks:given-up"))
    }

    /// Reads a page of the function `backlog`, up to where it says how to go on, and adds it.
    fileprivate mutating func add(_ page: inout ReplyReader) throws(ReelFailure) {
        jobs.probing += try page.integer()
        jobs.running += try page.integer()
        jobs.assembling += try page.integer()
        jobs.paused += try page.integer()
        jobs.unreadable += try page.integer()
        passes.ready += try page.integer()
        passes.live += try page.integer()
        passes.retrying += try page.integer()
        passes.paused += try page.integer()
        passes.done += try page.integer()
        let (since, now) = (Double(try page.text()), Double(try page.integer()))
        if let since { oldestReady = max(0, (now - since) / 1000, oldestReady ?? 0) }
    }
}

extension RedisBoard {
    /// On a board of an earlier release, whose jobs are not all counted yet, Redis looks at each job that has not ended,
    /// 1000 in one call. With more, what happens between two calls may be in both or in neither.
    package func figures() throws(ReelFailure) -> BoardFigures {
        var figures = try BoardFigures(look("figures", [timing.leaseText, timing.retentionText]))
        var (created, skipped) = ("-inf", 0)
        while !created.isEmpty {
            var page = try ReplyReader(look("backlog", [created, String(skipped)]))
            try figures.add(&page)
            (created, skipped) = (try page.text(), try page.integer())
            try page.end()
        }
        return figures
    }
}

/// How fast work gets done: frames encoded and passes finished.
package struct Pace: Hashable, Sendable {
    package var framesPerSecond: Double
    package var passesPerSecond: Double

    package init(framesPerSecond: Double, passesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
        self.passesPerSecond = passesPerSecond
    }

    /// The speed if no work is done.
    package static let none = Pace(framesPerSecond: 0, passesPerSecond: 0)
}

extension Pace {
    /// Computes the speed from the slots of the key `pace`.
    ///
    /// - Parameters:
    ///   - slots: "slot frames passes" each.
    ///   - now: milliseconds since 1970.
    ///   - since: the start of the work, in milliseconds since 1970.
    init(_ slots: [String: String], now: Double, since: Double) {
        let length = Double(BoardPolicy.paceSlot)
        let slot = Int(now / length)
        // The oldest slot is left out, since it may be overwritten at any moment.
        let first = slot - (BoardPolicy.paceSlots - 2)
        var (frames, passes) = (0.0, 0.0)
        for entry in slots.values {
            let numbers = entry.split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3, numbers.allSatisfy(StatusReply.times.contains),
                (Double(first)...Double(slot)).contains(numbers[0])
            else { continue }
            frames += numbers[1]
            passes += numbers[2]
        }
        let begin = max(Double(first) * length, since)
        let seconds = max((now - begin) / 1000, 1)
        self.init(framesPerSecond: frames / seconds, passesPerSecond: passes / seconds)
    }
}

/// The speed of all jobs together in one minute.
package struct MinuteRate: Hashable, Sendable {
    /// The start of the minute, in seconds since 1970 by the board's clock.
    package var time: Int
    /// The frames that were encoded and the passes that were finished, in a second.
    package var pace: Pace

    /// - Parameters:
    ///   - slots: "minute frames passes" each. The number of a slot of five seconds is that of no minute of the last
    ///     hundred years.
    ///   - now: milliseconds since 1970.
    static func rates(_ slots: [String: String], now: Int) -> [MinuteRate] {
        var paces: [Int: Pace] = [:]
        for entry in slots.values {
            let numbers = entry.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 3, numbers.dropFirst().allSatisfy(Totals.counts.contains) else { continue }
            paces[numbers[0]] = Pace(
                framesPerSecond: Double(numbers[1]) / 60, passesPerSecond: Double(numbers[2]) / 60)
        }
        let minute = now / BoardPolicy.rateSlot
        return (minute - (BoardPolicy.rateSlots - 1)..<minute).map { number in
            MinuteRate(time: number * BoardPolicy.rateSlot / 1000, pace: paces[number] ?? .none)
        }
    }
}

extension RedisBoard {
    package func pace() throws(ReelFailure) -> Pace {
        let reply = try send(["HGETALL", keys[.pace]])
        let clock = try send(["TIME"])
        guard let slots = reply.dictionary, let now = clock.array?.first?.string.flatMap(Double.init) else {
            throw reply.surprise
        }
        return Pace(slots, now: now * 1000, since: 0)
    }

    package func rates() throws(ReelFailure) -> [MinuteRate] {
        var parts = try ReplyReader(look("rates", []))
        let (slots, now) = (try parts.dictionary(), try parts.integer())
        try parts.end()
        return MinuteRate.rates(slots, now: now)
    }
}

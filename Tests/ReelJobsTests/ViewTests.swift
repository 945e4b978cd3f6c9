import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import ReelTestSupport
import Testing

extension ServiceTests {
    /// What a service tells of jobs.
    @Suite struct ViewTests {
        @Test func unknownJobs() async throws {
            let fixture = try await JobFixture()
            let id = JobID("0123456789abcdef")
            #expect(await reason { _ = try await fixture.service.view(id) } == .jobUnknown(job: id))
            #expect(try await fixture.service.strip(id, cells: 10) == nil)
            #expect(try await fixture.service.jobs().jobs.isEmpty)
            #expect(try await fixture.service.queue().jobs.isEmpty)
            #expect(try await fixture.service.workers().isEmpty)
        }

        @Test func anIDThatWouldLeadOutOfTheStore() async throws {
            let fixture = try await JobFixture()
            try fixture.finish(fixture.job())
            let id = JobID("../jobs/\(try fixture.job().id)")
            #expect(await reason { _ = try await fixture.service.view(id) } == .jobUnknown(job: id))
        }

        @Test func aJobThatWaitsSaysWhyInTheProgramsWords() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            let board = fixture.board
            let service = JobService(store: nil, advice: { $0 == .noWorker ? "start one" : nil }, board: { board })
            let view = try await service.view(id)
            #expect(view.waitCode == "no-worker")
            #expect(view.waitReason == "no worker is connected: start one")
            #expect(try await service.queue().jobs.map(\.waitReason) == [view.waitReason])
            #expect(try await fixture.service.view(id).waitReason == "no worker is connected")
        }

        /// The board knows no more of a pass than its number and kind.
        @Test func withoutAStoreAFailureDoesNotSayItsFrames() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            try await fixture.fail(id)
            let board = fixture.board
            let blind = try await JobService(store: nil, board: { board }).view(id).failures
            let seeing = try await fixture.service.view(id).failures
            for failures in [blind, seeing] {
                #expect(failures.map(\.index) == [0])
                #expect(failures.map(\.kind) == ["video"])
            }
            #expect(blind.map(\.firstFrame) == [nil])
            #expect(seeing.map(\.firstFrame) == [10])
        }

        @Test func theClipsOfAnEditAndHowFarTheyAre() async throws {
            let fixture = try await JobFixture()
            var plan = JobFixture.plan
            var back = plan.clips[0]
            back.map.offset = Rational(4, 5)
            var gap = back
            (gap.rangeCount, gap.isBlack, gap.isHeard) = (1, true, false)
            gap.map = TimeMap(
                .forwards, source: TimeBase(1, 25), output: TimeBase(1, 25), start: Timestamp(0), end: Timestamp(1),
                offset: Rational(8, 5))
            plan.clips += [back, gap]
            plan.passes = [
                .video(pass: VideoPass(clips: [0], randomAccessPoint: 1, frames: 10..<20, chunkCount: 1)),
                .video(pass: VideoPass(clips: [0], randomAccessPoint: 0, frames: 0..<10, chunkCount: 1)),
                .video(pass: VideoPass(clips: [2], randomAccessPoint: 0, frames: 0..<1, chunkCount: 1)),
            ]
            let id = try await fixture.publish(fixture.job(), plan)
            _ = try await fixture.claim()
            let clips = try await fixture.service.view(id).clips
            // The second clip shows the same as the first.
            #expect(clips.map(\.source) == ["clip.mp4", nil])
            #expect(clips.map(\.direction) == [.backwards, .forwards])
            #expect(clips.map(\.passes) == [2, 1])
            #expect(clips.map(\.passesDone) == [0, 0])
            #expect(clips.map(\.passesLive) == [1, 0])
            let plain = try await fixture.publish(fixture.job("other"))
            #expect(try await fixture.service.view(plain).clips.isEmpty)
        }

        @Test func jobsAreChosenByStateLabelAndAge() async throws {
            let fixture = try await JobFixture()
            let (board, service) = (fixture.board, fixture.service)
            for (name, labels) in [("a", "x"), ("b", "x"), ("c", "y"), ("d", "x")] {
                let id = try await fixture.publish(fixture.job(name))
                _ = try await board.describe(id, #"{"labels":{"kind":"\#(labels)"}}"#)
                // Jobs of one millisecond have no order.
                let last = try await board.status(id)?.created ?? 0
                while try await board.clocks().board - last < 0.002 { await Task.yield() }
            }
            let ids = try await board.jobs()
            #expect(try await board.cancel(ids[0]))
            _ = try await board.pause(ids[3])
            func found(_ filter: JobFilter) async throws -> [Int] {
                try await service.ids(filter).compactMap { ids.firstIndex(of: $0) }
            }
            #expect(try await found(JobFilter()) == [0, 1, 2, 3])
            #expect(try await found(JobFilter(states: [.cancelled])) == [0])
            #expect(try await found(JobFilter(states: [.paused, .cancelled])) == [0, 3])
            #expect(try await found(JobFilter(states: [.running])) == [1, 2, 3])
            // There are no workers, and what is paused waits for people.
            #expect(try await found(JobFilter(states: [.waiting])) == [1, 2])
            #expect(try await found(JobFilter(labels: ["kind": "x"])) == [0, 1, 3])
            #expect(try await found(JobFilter(labels: ["kind": "x"], limit: 2)) == [1, 3])
            #expect(try await found(JobFilter(labels: ["kind": "x", "more": "x"])) == [])
            let third = try await service.view(ids[2]).created
            #expect(try await found(JobFilter(since: third)) == [2, 3])
            #expect(try await found(JobFilter(since: third + 3600)) == [])
            #expect(try await service.jobs(JobFilter(limit: 1)).jobs.map(\.id) == [ids[3].text])
            // The queue has no jobs that were cancelled.
            #expect(
                try await service.queue(JobFilter(labels: ["kind": "x"])).jobs.map(\.id) == [ids[1].text, ids[3].text])
        }

        /// 230 jobs, ten of them cancelled.
        private func manyJobs() async throws -> JobFixture {
            let fixture = try await JobFixture()
            for number in 0..<230 {
                let job = BoardJob(id: JobID("j\(number)"), source: "/a", need: 100, protocolVersion: 1)
                _ = try await fixture.board.begin(job, holder: WorkerID("test"))
                if number.isMultiple(of: 23) { _ = try await fixture.board.cancel(job.id) }
            }
            return fixture
        }

        @Test func moreJobsThanAPage() async throws {
            let fixture = try await manyJobs()
            #expect(try await fixture.service.ids(JobFilter(states: [.probing])).count == 220)
            #expect(try await fixture.service.ids(JobFilter(states: [.cancelled])).count == 10)
            #expect(try await fixture.service.jobs(JobFilter(states: [.probing], limit: 150)).jobs.count == 150)
        }

        @Test func jobsPageByPage() async throws {
            let fixture = try await manyJobs()
            let order = try await fixture.board.jobs(before: nil, count: 300).map(\.id.text)
            #expect(order.count == 230)
            func pages(_ filter: JobFilter, of count: Int) async throws -> [[String]] {
                var (pages, place) = ([[String]](), JobPlace?.none)
                repeat {
                    let page = try await fixture.service.page(filter, before: place, count: count)
                    pages.append(page.jobs.map(\.id))
                    place = page.next.flatMap { JobPlace("\($0)") }
                } while place != nil
                return pages
            }
            let all = try await pages(JobFilter(), of: 100)
            #expect(all.map(\.count) == [100, 100, 30])
            #expect(all.flatMap(\.self) == order)
            let cancelled = try await pages(JobFilter(states: [.cancelled]), of: 4)
            #expect(cancelled.map(\.count) == [4, 4, 2])
            #expect(Set(cancelled.joined()) == Set(stride(from: 0, to: 230, by: 23).map { "j\($0)" }))
            let last = try await fixture.service.view(JobID(order[0])).created
            #expect(try await fixture.service.page(JobFilter(since: last + 1), count: 5).next == nil)
        }

        @Test func onlyTheStoreKnowsAJobThatTheBoardHasForgotten() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let view = try await fixture.service.view(id)
            #expect(view.state == .done)
            #expect(view.framesEncoded == 20)
            #expect(view.outputSha256 == JobFixture.outputHash)
            let board = fixture.board
            let blind = JobService(store: nil) { board }
            #expect(await reason { _ = try await blind.view(id) } == .jobUnknown(job: id))
        }

        // MARK: Metrics

        @Test func countersAndStates() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            try await fixture.fail(id)
            try await fixture.publish(fixture.job("other"))
            _ = try await fixture.claim()
            let metrics = try await fixture.service.metrics()
            #expect(
                metrics.jobs == [
                    "probing": 0, "running": 1, "assembling": 0, "paused": 0, "done": 0, "failed": 1, "cancelled": 0,
                    "unreadable": 0,
                ])
            #expect(metrics.jobsEnded == ["done": 0, "failed": 1, "cancelled": 0])
            #expect(metrics.passes == ["ready": 1, "live": 1, "retrying": 0, "paused": 0, "done": 0])
            #expect(metrics.slots == ["busy": 0, "free": 0, "out": 0, "drained": 0])
            #expect((metrics.workers, metrics.leasesLost) == (0, 0))
            // The probes of two jobs and a failed pass.
            #expect(
                metrics.passAttempts.filter { $0.count > 0 }.map { "\($0.outcome) \($0.cause ?? "-") \($0.count)" }
                    == ["done - 2", "failed permanent 1"])
            #expect(metrics.passAttempts.count == 10)
            #expect(metrics.passWait.count == 2)
            #expect(metrics.passWait.buckets.map(\.le) == [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600])
            // Each bucket has those below it, too.
            #expect(metrics.passWait.buckets.last?.count == 2)
            #expect(metrics.passDuration.count == 0)
            #expect(metrics.oldestReadySeconds ?? -1 >= 0)
            let coded = try JSONDecoder().decode(MetricsView.self, from: JSONEncoder().encode(metrics))
            #expect(coded == metrics)
        }

        @Test func demandIsAnObjectOfItsName() async throws {
            let fixture = try await JobFixture()
            func demand() async throws -> [String: Double] {
                let data = try JSONEncoder().encode(try await fixture.service.demand())
                return try JSONDecoder().decode([String: [String: Double]].self, from: data)["demand"] ?? [:]
            }
            #expect(
                try await demand() == ["slotsWanted": 0, "slotsBusy": 0, "passesReady": 0, "passesInFlight": 0])
            try await fixture.publish(fixture.job())
            _ = try await fixture.claim()
            let found = try await demand()
            #expect(found["oldestReadySeconds"] ?? -1 >= 0)
            #expect(
                found.filter { $0.key != "oldestReadySeconds" }
                    == ["slotsWanted": 1, "slotsBusy": 0, "passesReady": 1, "passesInFlight": 1])
        }

        @Test func ratesAreMinutes() async throws {
            let fixture = try await JobFixture()
            let clock = try await fixture.board.clocks().board
            try fixture.raw("HSET", "reel2:{main}:pace", "m0", "\(Int(clock / 60) - 2) 120 60")
            let rates = try await fixture.service.rates()
            #expect(rates.minutes.count == 60)
            let busy = rates.minutes.filter { $0.framesPerSecond > 0 }
            #expect(busy.map(\.time) == [(Int(clock / 60) - 2) * 60])
            #expect(busy.map(\.framesPerSecond) == [2] && busy.map(\.passesPerSecond) == [1])
            let text = String(decoding: try JSONEncoder().encode(rates), as: UTF8.self)
            #expect(text.hasPrefix(#"{"minutes":[{"#))
        }
    }
}

import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
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

        @Test func moreJobsThanAPage() async throws {
            let fixture = try await JobFixture()
            for number in 0..<230 {
                let job = BoardJob(id: JobID("j\(number)"), source: "/a", need: 100, protocolVersion: 1)
                _ = try await fixture.board.begin(job, holder: WorkerID("test"))
                if number.isMultiple(of: 23) { _ = try await fixture.board.cancel(job.id) }
            }
            #expect(try await fixture.service.ids(JobFilter(states: [.probing])).count == 220)
            #expect(try await fixture.service.ids(JobFilter(states: [.cancelled])).count == 10)
            #expect(try await fixture.service.jobs(JobFilter(states: [.probing], limit: 150)).jobs.count == 150)
        }

        @Test func jobsPageByPage() async throws {
            let fixture = try await JobFixture()
            for number in 0..<230 {
                let job = BoardJob(id: JobID("j\(number)"), source: "/a", need: 100, protocolVersion: 1)
                _ = try await fixture.board.begin(job, holder: WorkerID("test"))
                if number.isMultiple(of: 23) { _ = try await fixture.board.cancel(job.id) }
            }
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
    }
}

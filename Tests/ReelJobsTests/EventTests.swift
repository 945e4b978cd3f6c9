import ReelCore
import ReelJobs
import ReelQueue
import Testing

extension ServiceTests {
    /// Events as a program reads them from a service.
    @Suite struct EventTests {
        /// Reads events until a job ends.
        private func read(_ feed: EventFeed) async throws -> [BoardEvent] {
            var events: [BoardEvent] = []
            for try await event in feed {
                events.append(event)
                if event.happening.isEnd { break }
            }
            return events
        }

        /// A job that runs, is paused, goes on, and is cancelled.
        private func live(_ bench: JobBench, _ name: String) async throws -> JobID {
            let id = try await bench.publish(bench.job(name))
            _ = try await bench.service.pause(id)
            _ = try await bench.service.resume(id)
            _ = try await bench.service.cancel(id)
            return id
        }

        private let life: [BoardEvent.Happening] = [
            .begun(holder: WorkerID("test")), .published, .paused, .unpaused, .cancelled,
        ]

        @Test func eventsComeInOrder() async throws {
            let bench = try await JobBench()
            let place = try await bench.service.now()
            let id = try await live(bench, "clip")
            let events = try await read(bench.service.events(after: place))
            #expect(events.map(\.happening) == life)
            #expect(events.allSatisfy { $0.job == id })
        }

        @Test func eventsOfOtherJobsAreLeftOut() async throws {
            let bench = try await JobBench()
            let place = try await bench.service.now()
            _ = try await live(bench, "one")
            let id = try await live(bench, "other")
            let events = try await read(bench.service.events(after: place, of: id))
            #expect(events.map(\.happening) == life)
            #expect(events.allSatisfy { $0.job == id })
        }

        @Test func aReaderGoesOnAfterThePlaceThatItKept() async throws {
            let bench = try await JobBench()
            let place = try await bench.service.now()
            _ = try await live(bench, "clip")
            let all = try await read(bench.service.events(after: place))
            for (number, event) in all.dropLast().enumerated() {
                let kept = try #require(BoardEvent.Place(event.place.description))
                #expect(kept == event.place)
                #expect(try await read(bench.service.events(after: kept)) == Array(all[(number + 1)...]))
            }
        }

        @Test(arguments: ["", "1", "1-", "-1", "1-2-3", "a-b", "+1-0", "$", "1-0 COUNT"])
        func textsThatAreNoPlace(text: String) {
            #expect(BoardEvent.Place(text) == nil)
        }

        @Test func eventsThatComeLaterAreWaitedFor() async throws {
            let bench = try await JobBench()
            let feed = bench.service.events(after: try await bench.service.now())
            let reader = Task { try await read(feed) }
            _ = try await live(bench, "clip")
            #expect(try await reader.value.map(\.happening) == life)
        }

        @Test func cancellingTheTaskEndsTheSequence() async throws {
            let bench = try await JobBench()
            let feed = bench.service.events()
            let reader = Task { try await read(feed) }
            reader.cancel()
            #expect(try await reader.value.isEmpty)
        }

        @Test func followingEndsWithTheJob() async throws {
            let bench = try await JobBench()
            let (service, id) = (bench.service, try await bench.publish(bench.job()))
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
            let bench = try await JobBench()
            let id = try bench.finish(bench.job())
            let view = try await bench.service.follow(id) { _ in Issue.record("there is nothing to see") }
            #expect(view.state == .done)
            #expect(view.outputSha256 == JobBench.outputHash)
        }

        @Test func anUnknownJobCannotBeFollowed() async throws {
            let bench = try await JobBench()
            let id = JobID("0123456789abcdef")
            #expect(await reason { _ = try await bench.service.follow(id) { _ in } } == .jobForgotten(job: id))
        }
    }
}

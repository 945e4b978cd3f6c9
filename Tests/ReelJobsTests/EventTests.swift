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

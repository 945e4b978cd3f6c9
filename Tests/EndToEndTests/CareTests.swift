import Foundation
import Glibc
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Staging, retention, draining and other needs of jobs and machines on a shared board.
    @Suite struct CareTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test func aStagedSourceIsNotNeededAnyMore() async throws {
            let clip = try await Clips.shared.crowd(frames: 60, size: "320x240")
            let source = try fixture.copy(clip, as: "clip.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--stage", "--lossless", "--pass-frames", "30"])
                #expect(fleet.names(id + "/source") == ["clip.mov"])
                try FileManager.default.removeItem(atPath: source)
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                #expect(try await eventually { fleet.names(id + "/source").isEmpty })
            }
        }

        @Test func aSourceThatNoHostSeesFailsTheJobUncharged() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source])
                try FileManager.default.removeItem(atPath: source)
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "failed" })
                let job = try await fleet.job(id)
                #expect(job.failures.isEmpty)
                #expect(
                    job.warnings.contains { $0.contains(" cannot take this job: on this host: cannot read \(source)") })
                let told = try await fleet.coordinator(["status", id]).output
                #expect(told.contains(/no worker can take this job: \S+: on this host: cannot read/), "\(told)")
            }
        }

        @Test func aFailedJobThatTheBoardHasForgottenIsRetriedFromTheStore() async throws {
            let clip = try await Clips.shared.crowd(frames: 60, size: "320x240")
            let source = try fixture.copy(clip, as: "clip.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "30"])
                try FileManager.default.moveItem(atPath: source, toPath: fixture.path("aside"))
                let worker = try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "failed" })
                // The store's record is written after the board's.
                let record = URL(fileURLWithPath: fleet.folder(id) + "/job.json")
                #expect(
                    try await eventually {
                        try String(contentsOf: record, encoding: .utf8).contains(#""state":"failed""#)
                    })
                try await fleet.kill(worker)
                try RawRedis(socket: fleet.socket)("FLUSHALL")
                try FileManager.default.moveItem(atPath: fixture.path("aside"), toPath: source)

                #expect(try await fleet.coordinator(["retry", id]).code == 0)
                #expect(try fleet.sight(id).state == "running")
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
            }
        }

        @Test func expiredJobsAreRemoved() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                let short = try await fleet.submit([source, "--retain", "1s"])
                let long = try await fleet.submit([source, "--crf", "30", "--keep-segments"])
                for id in [short, long] {
                    #expect(try await eventually { try fleet.sight(id).state == "done" })
                }
                #expect(!fleet.segments(long).isEmpty)
                // A worker looks for expired jobs when it starts; by then the second must be over.
                try await Task.sleep(for: .milliseconds(1100))
                try await fleet.startWorker()
                #expect(try await eventually { fleet.jobs == [long] })
                #expect(try await eventually { try fleet.sight(short).state == "" })
                #expect(try fleet.sight(long).state == "done")
            }
        }

        /// One worker holds a pass, its engine stopped, and another the assembly, all else being done.
        @Test func theAssemblyBeginsWhileAPassIsInFlight() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "12"])
                let slow = try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).done.count > 2 })
                kill(try #require(slow.children("reel-engine").first), SIGSTOP)
                // The pass is not to be done a second time.
                try RawRedis(socket: fleet.socket)("HSET", "reel2:{main}:job:\(id)", "copied", "100")
                try await fleet.startWorker()
                let passes = try fleet.sight(id).passes
                #expect(try await eventually { try fleet.sight(id).live[passes] != nil })
                let early = try fleet.sight(id)
                #expect(early.state == "running" && early.live.count == 2 && early.done.count == passes - 1)
                let token = try #require(early.live[passes]).token
                #expect(try await eventually { fleet.names(id + "/assemblies").contains("\(token).mov.part") })
                kill(try #require(slow.children("reel-engine").first), SIGCONT)
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                #expect(try fleet.sight(id).done[passes] == token)
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
            }
        }

        @Test func aSecondSignalHandsBackAtOnce() async throws {
            let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "48"])
                // Until its grace is over it holds the pass: half an hour.
                let worker = try await fleet.hold(id, of: fleet.startWorker(arguments: ["--grace", "1800"])).worker
                let done = try fleet.sight(id).done.count
                worker.send(SIGTERM)
                try await Task.sleep(for: .seconds(1))
                #expect(worker.isRunning)
                #expect(try fleet.sight(id).live.count == 1)
                worker.send(SIGTERM)
                #expect(try await eventually { !worker.isRunning })
                #expect(try await worker.outcome.code == 0)
                let job = try await fleet.job(id)
                #expect(job.passesLive == 0 && job.passesDone == done && job.failures.isEmpty)
                #expect(try BoardSight.leases(fleet.socket).isEmpty)
            }
        }

        @Test func aWorkerWhosePasswordIsWrongEnds() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let outcome = try await fixture.run(
                    .worker, ["--redis", "unix://:secret@\(fleet.socket)", "--store", fleet.store])
                #expect(outcome.code == 4)
                #expect(outcome.errorLines.last?.hasPrefix("reel-worker: Redis at unix://") == true, "\(outcome.error)")
                #expect(!outcome.error.contains("secret"))
            }
        }

        @Test func aDrainedHostStaysDrainedWhenItsWorkersStartAgain() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                #expect(try await eventually { try await !fleet.listedWorkers().isEmpty })
                let worker = try #require(await fleet.listedWorkers().first)
                let drained = try await fleet.coordinator(["drain", worker.host])
                #expect(drained.code == 0)
                #expect(
                    drained.errorLines == [
                        "reel-coordinator: host \(worker.host) is drained: its workers (1) finish what they hold, and "
                            + "claim nothing more until undrain"
                    ])
                let child = try #require(await fleet.workers.first)
                #expect(try await child.end().code == 0)
                #expect(
                    try await fleet.coordinator(["workers"]).output
                        == "no worker is connected\nhost \(worker.host) is drained, and no worker is there\n")

                let next = try await fleet.startWorker()
                #expect(try await eventually { try await !fleet.listedWorkers().isEmpty })
                #expect(try await fleet.listedWorkers().map(\.drained) == ["host"])
                let id = try await fleet.submit([source])
                #expect(
                    try await eventually {
                        let words = try await fleet.coordinator(["status", id]).output
                        return words.contains("every worker that could take it is drained: reel-coordinator undrain")
                    })
                #expect(try await fleet.coordinator(["undrain", worker.host]).code == 0)
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                let told = try await next.end().errorLines
                #expect(told.contains { $0.hasSuffix("claims nothing: its host is drained") })
                #expect(told.contains { $0.hasSuffix("claims again: it is no longer drained") })
            }
        }

        @Test func aDrainedWorkerWaitsUntilItEnds() async throws {
            try await Fleet.with(fixture, workers: 1) { fleet in
                #expect(try await eventually { try await !fleet.listedWorkers().isEmpty })
                let name = try #require(await fleet.listedWorkers().first?.id)
                #expect(try await fleet.coordinator(["drain", name]).code == 0)
                #expect(try await fleet.listedWorkers().map(\.drained) == ["worker"])
                let both = try await fleet.coordinator(["undrain", "nowhere", name])
                #expect(both.code == 2)
                #expect(
                    both.errorLines == [
                        "reel-coordinator: no worker or host is named nowhere; reel-coordinator workers lists those there are",
                        "reel-coordinator: worker \(name) claims again",
                    ])
                #expect(try await fleet.coordinator(["drain", name]).code == 0)
                let worker = try #require(await fleet.workers.first)
                #expect(worker.isRunning)
                #expect(try await worker.end().code == 0)
                #expect(try await fleet.coordinator(["drain", name]).code == 2)
            }
        }
    }
}

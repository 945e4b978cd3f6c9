import Foundation
import Glibc
import ReelTestSupport
import Testing

extension EndToEnd {
    /// If recon takes long, workers begin with the source's head while the rest is read.
    @Suite struct EarlyStartTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private static let frames = 1200

        private func submission(_ source: String, _ output: String) -> [String] {
            ["submit", source, "--wait", "-o", fixture.path(output), "--json", "--lossless", "--pass-frames", "24"]
        }

        /// Without a table of its packets. `damaged` is one that cannot be decoded.
        private func source(frames: Int = EarlyStartTests.frames, damaged: Int? = nil) async throws -> String {
            let film = try await Clips.shared.crowd(frames: frames, size: "160x120")
            let copy = fixture.path("film.mp4")
            let outcome = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-i", film, "-map", "0", "-c", "copy", "-movflags", "frag_keyframe+empty_moov", copy])
            try #require(outcome.code == 0, "\(outcome.error)")
            guard let damaged else { return copy }
            let places = try await fixture.run(
                .ffprobe,
                ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pos", "-of", "csv=p=0", copy])
            let place = try #require(UInt64(places.output.split(separator: "\n")[damaged].prefix { $0 != "," }))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: copy))
            defer { try? file.close() }
            try file.seek(toOffset: place)
            try file.write(contentsOf: [0xff, 0xff, 0xff, 0xff])
            return copy
        }

        private func jobs(_ fleet: Fleet) async throws -> [JobJSON] {
            let outcome = try await fleet.coordinator(["status", "--json"])
            return try JSONDecoder().decode([JobJSON].self, from: Data(outcome.output.utf8))
        }

        /// The last output of `--wait`.
        private func view(_ outcome: Outcome) throws -> JobJSON {
            let line = try #require(outcome.output.split(separator: "\n").last)
            return try JSONDecoder().decode(JobJSON.self, from: Data(line.utf8))
        }

        /// A worker removes the head a moment after the whole job's end.
        private func expectOnly(_ id: String, _ fleet: Fleet) async throws {
            let isAlone = try await eventually {
                let stored = try FileManager.default.contentsOfDirectory(atPath: fleet.store + "/jobs")
                return try await jobs(fleet).map(\.id) == [id] && stored == [id]
            }
            #expect(isAlone)
        }

        /// The head's job, once it is on the board.
        private func head(_ fleet: Fleet) async throws -> JobJSON {
            // The whole job is probed meanwhile.
            let isThere = try await eventually {
                try await jobs(fleet).contains { $0.state != "probing" }
            }
            try #require(isThere)
            return try #require(try await jobs(fleet).first { $0.state != "probing" })
        }

        @Test func theHeadIsDoneOnceAndBeforeReconEnds() async throws {
            let source = try await source()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(
                    submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                #expect(head.warnings.contains { $0.contains("only the head of the source") })
                #expect((EarlyStartTests.frames / 20...EarlyStartTests.frames / 6).contains(head.frames))

                // One pass is in flight when recon ends, and goes on in the head's job.
                try #require(try await eventually { try fleet.sight(head.id).done.count >= 2 })
                let engine = try await fleet.hold(head.id).engine
                defer { Glibc.kill(engine, SIGCONT) }
                let done = try fleet.sight(head.id).done.count
                slow.go()
                try #require(try await jobs(fleet).count == 2)
                let whole = try #require(try await jobs(fleet).first { $0.id != head.id })
                #expect(try await eventually { try await fleet.job(whole.id).passesDone == done })
                Glibc.kill(engine, SIGCONT)

                let outcome = try await submitting.outcome
                try #require(outcome.code == 0, "\(outcome.error)")
                let view = try view(outcome)
                #expect(view.id == whole.id)
                #expect(view.frames == EarlyStartTests.frames)
                #expect(view.framesEncoded == EarlyStartTests.frames)
                // The head's last pass, which comes first, may be short.
                let short = 23 - (head.frames - 1) % 24
                #expect(view.framesDecoded == EarlyStartTests.frames - 24 * (done + 1) + short)
                try await fixture.expectExactlyReversed(source, fixture.path("out.nut"))
                // Nothing of the head remains.
                try await expectOnly(whole.id, fleet)

                // A finished job needs no head.
                try slow.forget()
                let again = try await fleet.startCoordinator(submission(source, "other.nut"), slow.program)
                try await Task.sleep(for: .seconds(5))
                #expect(try await jobs(fleet).map(\.id) == [whole.id])
                slow.go()
                let second = try await again.outcome
                #expect(second.code == 0)
                #expect(second.error.contains("is done already"))
            }
        }

        @Test func aWorkerGoesOnWithTheHeadOfAnInterruptedSubmitter() async throws {
            try await expectGoneOnWith(code: 130) { submitting in
                submitting.send(SIGINT)
                return try await submitting.outcome
            }
        }

        @Test func aWorkerGoesOnWithTheHeadOfAKilledSubmitter() async throws {
            try await expectGoneOnWith(code: 128 + 9) { submitting in try await submitting.kill() }
        }

        /// Expects that the job is done without its submitter, and that segments of its head are not made again.
        private func expectGoneOnWith(code: Int, _ end: (Child) async throws -> Outcome) async throws {
            let source = try await source()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                let whole = try #require(try await jobs(fleet).first { $0.id != head.id })
                #expect(try await eventually { try await fleet.job(head.id).state == "done" })
                #expect(try await end(submitting).code == code)
                slow.go()
                #expect(try await eventually { try fleet.sight(whole.id).state == "done" })
                #expect(try await fleet.job(whole.id).framesDecoded == EarlyStartTests.frames - head.frames)
                try await fixture.expectExactlyReversed(source, "\(fleet.folder(whole.id))/output.nut")
                try await expectOnly(whole.id, fleet)
            }
        }

        @Test func aDamagedHeadIsNotUsed() async throws {
            let source = try await source(damaged: 30)
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                #expect(try await eventually { try await fleet.job(head.id).state == "failed" })
                slow.go()
                // Only decoding from the source's start shows the frames there.
                let view = try view(try await submitting.outcome)
                #expect(view.warnings.contains { $0.hasPrefix("all of the video was decoded") }, "\(view.warnings)")
                #expect(view.warnings.contains { $0.contains("does not decode") }, "\(view.warnings)")
            }
        }

        @Test func aRemovedHeadDoesNotStopTheJob() async throws {
            let source = try await source()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                _ = try await fleet.coordinator(["cancel", head.id])
                try #require(try await fleet.coordinator(["remove", head.id]).code == 0)
                slow.go()
                let outcome = try await submitting.outcome
                #expect(outcome.code == 0, "\(outcome.error)")
                try await fixture.expectExactlyReversed(source, fixture.path("out.nut"))
            }
        }

        @Test func aJobThatIsBegunAgainLeavesNoHead() async throws {
            let source = try await source()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                let order = ["submit", source, "--lossless", "--pass-frames", "24"]
                /// Submits it with a head; returns the whole job's id.
                func begin() async throws -> String {
                    let submitting = try await fleet.startCoordinator(order, slow.program)
                    _ = try await head(fleet)
                    slow.go()
                    let id = try await submitting.outcome.output.trimmingCharacters(in: .newlines)
                    try #require(fleet.jobs.count == 2 && fleet.jobs.contains(id))
                    try slow.forget()
                    return id
                }
                let id = try await begin()
                #expect(try await fleet.submit(order.dropFirst() + ["--force"]) == id)
                #expect(try await jobs(fleet).map(\.id) == [id])
                #expect(fleet.jobs == [id])

                // The head is removed with the whole job, whatever the whole job's state.
                for words in ["cancel", "remove"] { _ = try await fleet.coordinator([words, id]) }
                try #require(try await begin() == id)
                #expect(try await fleet.coordinator(["cancel", id]).code == 0)
                #expect(try await fleet.coordinator(["remove", id]).code == 0)
                #expect(fleet.jobs == [])
                #expect(try await jobs(fleet).isEmpty)

                // Nor does one that cannot be placed.
                try Data().write(to: URL(fileURLWithPath: fleet.folder(id)))
                #expect(try await fleet.coordinator(order).code == 4)
                #expect(try await jobs(fleet).isEmpty)
                #expect(fleet.jobs == [id])
            }
        }

        @Test func aHeadThatIsBeingRemovedStaysEnded() async throws {
            // Long enough that its head is not done meanwhile.
            let source = try await source(frames: 4800)
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                let worker = try #require(await fleet.workers.first)
                try #require(try await eventually { try !fleet.sight(head.id).live.isEmpty })
                // The worker is stopped and cannot release its pass, so the removal cannot end.
                worker.send(SIGSTOP)
                let whole = try #require(try await jobs(fleet).first { $0.id != head.id })
                let cancelling = try await fleet.startCoordinator(["cancel", whole.id])
                let isCancelled = try await eventually {
                    try fleet.sight(head.id).state == "cancelled"
                }
                let said = try await cancelling.kill()
                let state = try fleet.sight(head.id).state
                #expect(isCancelled, "\(state) \(said)")
                _ = try await submitting.kill()
                slow.go()
                try RawRedis(socket: fleet.socket)("FLUSHALL")
                #expect(try await fleet.coordinator(["recover"]).code == 0)
                #expect(try await jobs(fleet).isEmpty)
            }
        }

        @Test func theHeadsAssemblyKeepsNoWorkerWaiting() async throws {
            let source = try await source(frames: 4800)
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 3) { fleet in
                let submitting = try await fleet.startCoordinator(submission(source, "out.nut"), slow.program)
                let head = try await head(fleet)
                // Two passes lag, but not the one with which the assembly begins. A worker does one of them a second time,
                // then begins the assembly early.
                var stopped: [pid_t] = []
                defer { for engine in stopped { Glibc.kill(engine, SIGCONT) } }
                for worker in await fleet.workers.prefix(2) {
                    stopped.append(try await fleet.hold(head.id, of: worker).engine)
                }
                let passes = try fleet.sight(head.id).passes
                try #require(try await eventually { try fleet.sight(head.id).live[passes] != nil })
                slow.go()
                // The worker that waits there has other work as soon as the whole job has a plan.
                #expect(try await eventually { try fleet.sight(head.id).live[passes] == nil })
                for engine in stopped { Glibc.kill(engine, SIGCONT) }
                #expect(try await submitting.outcome.code == 0)
            }
        }
    }
}

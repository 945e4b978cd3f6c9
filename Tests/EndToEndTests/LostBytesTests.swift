import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Segments that vanish or change after their passes were recorded as finished: they are made again, and the output is
    /// exact.
    @Suite struct LostBytesTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Has a job done by one worker, and `harm` done to a segment of a finished pass while another pass is in hand.
        private func expectDone(
            passFrames: Int = 40, whenever harm: @Sendable (_ segment: String) throws -> Void
        ) async throws {
            let clip = try await Clips.shared.crowd(frames: 160, size: "640x360")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "\(passFrames)"])
                // The first pass is the sound.
                let held = try await fleet.hold(id, index: 3, of: fleet.startWorker())
                let (index, token) = try #require(try fleet.sight(id).done.first { $0.key > 0 })
                let name = try #require(
                    fleet.segments(id).first { $0.hasPrefix("c0v") && $0.hasSuffix(".\(token).nut") })
                try harm("\(fleet.folder(id))/segments/\(name)")
                kill(held.engine, SIGCONT)
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                let recordings = try BoardSight.events("completed", fleet.socket)
                #expect(recordings["\(id)/\(index)"] == 2)
                #expect(recordings.filter { $0.value > 1 }.count == 1)
                #expect(try await fleet.job(id).failures.count <= 1)
            }
        }

        @Test func aSegmentOfWhichBytesChange() async throws {
            try await expectDone { segment in
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
                defer { try? file.close() }
                let middle = try file.seekToEnd() / 2
                try file.seek(toOffset: middle)
                let bytes = try #require(try file.read(upToCount: 570))
                try file.seek(toOffset: middle)
                try file.write(contentsOf: Data(bytes.map { ~$0 }))
            }
        }

        @Test func aSegmentThatVanishes() async throws {
            try await expectDone { segment in
                try FileManager.default.removeItem(atPath: segment)
                try FileManager.default.removeItem(atPath: segment + ".json")
            }
        }

        @Test func aSegmentThatIsCutOff() async throws {
            try await expectDone { segment in
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
                defer { try? file.close() }
                try file.truncate(atOffset: try file.seekToEnd() / 2)
            }
        }

        /// A job that failed for another reason, and lost segments after that: what is there is taken over, the rest is
        /// made again.
        @Test(arguments: ["retry", "submit"])
        func segmentsOfAFailedJob(command: String) async throws {
            let clip = try await Clips.shared.crowd(frames: 160, size: "640x360")
            let (source, away) = (try fixture.copy(clip, as: "crowd.mov"), fixture.path("away.mov"))
            try await Fleet.with(fixture, workers: 0) { fleet in
                let submission = [source, "--lossless", "--pass-frames", "20"]
                let id = try await fleet.submit(submission)
                let held = try await fleet.hold(id, index: 5, of: fleet.startWorker())
                try FileManager.default.moveItem(atPath: source, toPath: away)
                kill(held.engine, SIGCONT)
                #expect(try await eventually { try fleet.sight(id).state == "failed" })
                try FileManager.default.moveItem(atPath: away, toPath: source)
                let done = try fleet.sight(id).done
                let lost = done.filter { $0.key > 0 }.sorted { $0.key < $1.key }.prefix(2)
                #expect(lost.count == 2 && done.count > 3)
                for (place, pass) in lost.enumerated() {
                    let name = try #require(fleet.segments(id).first { $0.hasSuffix(".\(pass.value).nut") })
                    let segment = "\(fleet.folder(id))/segments/\(name)"
                    if place == 0 {
                        try FileManager.default.removeItem(atPath: segment)
                    } else {
                        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
                        bytes[bytes.count / 2] ^= 1
                        try bytes.write(to: URL(fileURLWithPath: segment))
                    }
                }
                try await fleet.startWorker()
                let again = try await fleet.coordinator([command] + (command == "retry" ? [id] : submission))
                #expect(again.code == 0, "\(again.error)")
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                let tokens = try fleet.sight(id).done
                #expect(Set(done.keys.filter { tokens[$0] != done[$0] }) == Set(lost.map(\.key)))
            }
        }

        /// A submitter that cannot read the source leaves finished work of others.
        @Test(arguments: ["store", "engine"])
        func whatIsFinishedSurvivesASubmitterInTrouble(trouble: String) async throws {
            let clip = try await Clips.shared.crowd(frames: 160, size: "640x360")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let submission = [source, "--lossless", "--pass-frames", "20"]
                let id = try await fleet.submit(submission)
                let held = try await fleet.hold(id, index: 4, of: fleet.startWorker())
                #expect(try await fleet.coordinator(["cancel", id]).code == 0)
                try await fleet.kill(held.worker)
                let finished = fleet.segments(id).filter { $0.hasSuffix(".nut.json") }
                #expect(finished.count >= 3)

                let sources = fleet.store + "/sources"
                let files = FileManager.default
                try files.removeItem(atPath: sources)
                var program = Program.coordinator
                if trouble == "store" {
                    #expect(files.createFile(atPath: sources, contents: nil))
                } else {
                    let folder = fixture.path("broken")
                    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                    try files.copyItem(
                        atPath: Program.folder + "/reel-coordinator", toPath: folder + "/reel-coordinator")
                    try files.createSymbolicLink(atPath: folder + "/reel-engine", withDestinationPath: "/bin/false")
                    program = .at(folder + "/reel-coordinator")
                }
                let outcome = try await fleet.startCoordinator(["submit"] + submission, program).outcome
                #expect(outcome.code == 4, "\(outcome.error)")
                #expect(fleet.segments(id).filter { $0.hasSuffix(".nut.json") } == finished)
                if trouble == "store" { try files.removeItem(atPath: sources) }

                try await fleet.startWorker()
                let again = try await fleet.coordinator(["submit"] + submission)
                #expect(again.code == 0, "\(again.error)")
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
            }
        }

        @Test(arguments: ["x", ""])
        func aJobWhoseRecordCannotBeReadCanBeEndedAndRemoved(record: String) async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let jobs = [try await fleet.submit([source]), try await fleet.submit([source, "--crf", "30"])]
                for id in jobs {
                    let file = try #require(FileHandle(forWritingAtPath: fleet.folder(id) + "/job.json"))
                    try file.truncate(atOffset: record.isEmpty ? 3 << 30 : 0)
                    if !record.isEmpty { try file.write(contentsOf: Data(record.utf8)) }
                    try file.close()
                }
                let removed = try await fleet.coordinator(["remove", jobs[0]])
                #expect(removed.code == 2, "it has not ended")
                #expect(try await fleet.coordinator(["cancel", jobs[0]]).code == 0)
                #expect(try await fleet.coordinator(["remove", jobs[0]]).code == 0)
                #expect(fleet.jobs == [jobs[1]])
                // The other fails for that reason, and harms no third.
                let third = try await fleet.submit([source, "--crf", "40"])
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(third).state == "done" })
                #expect(try await eventually { try fleet.sight(jobs[1]).state == "failed" })
                #expect(try await fleet.coordinator(["remove", jobs[1]]).code == 0)
                #expect(fleet.jobs == [third])
            }
        }
    }
}

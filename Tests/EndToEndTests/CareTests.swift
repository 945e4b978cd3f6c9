import Foundation
import Testing

extension EndToEnd {
    /// What jobs and machines need on a board that many share.
    @Suite struct CareTests {
        private let bench: Bench

        init() throws { bench = try Bench() }

        private struct WorkerJSON: Decodable {
            var slotsOut: Int
            var notes: [String]
        }

        private func workers(_ fleet: Fleet) async throws -> [WorkerJSON] {
            let outcome = try await fleet.coordinator(["workers", "--json"])
            try #require(outcome.code == 0, "\(outcome.error)")
            return try JSONDecoder().decode([WorkerJSON].self, from: Data(outcome.output.utf8))
        }

        @Test func aStagedSourceIsNotNeededAnyMore() async throws {
            let clip = try await Clips.shared.crowd(frames: 60, size: "320x240")
            let source = try bench.copy(clip, as: "clip.mov")
            try await Fleet.with(bench, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--stage", "--lossless", "--pass-frames", "30"])
                #expect(fleet.names(id + "/source") == ["clip.mov"])
                try FileManager.default.removeItem(atPath: source)
                try await fleet.startWorker()
                #expect(try await eventually(.seconds(60)) { try fleet.sight(id).state == "done" })
                try await bench.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                #expect(try await eventually(.seconds(10)) { fleet.names(id + "/source").isEmpty })
            }
        }

        @Test func aSourceThatNoHostSeesFailsTheJobUncharged() async throws {
            let source = try bench.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(bench, workers: 0) { fleet in
                let id = try await fleet.submit([source])
                try FileManager.default.removeItem(atPath: source)
                try await fleet.startWorker()
                #expect(try await eventually(.seconds(60)) { try fleet.sight(id).state == "failed" })
                let job = try await fleet.job(id)
                #expect(job.failures.isEmpty)
                #expect(
                    job.warnings.contains { $0.contains(" cannot take this job: on this host: cannot read \(source)") })
                let told = try await fleet.coordinator(["status", id]).output
                #expect(told.contains("no worker can take this job: on this host: cannot read \(source)"), "\(told)")
            }
        }

        @Test func whatWasKeptLongEnoughIsRemoved() async throws {
            let source = try bench.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(bench, workers: 1) { fleet in
                let short = try await fleet.submit([source, "--retain", "1s"])
                let long = try await fleet.submit([source, "--crf", "30", "--keep-segments"])
                for id in [short, long] {
                    #expect(try await eventually(.seconds(60)) { try fleet.sight(id).state == "done" })
                }
                #expect(!fleet.segments(long).isEmpty)
                // A worker looks when it starts; by then the second must be over.
                try await Task.sleep(for: .milliseconds(1100))
                try await fleet.startWorker()
                #expect(try await eventually(.seconds(20)) { fleet.jobs == [long] })
                #expect(try await eventually(.seconds(5)) { try fleet.sight(short).state == "" })
                #expect(try fleet.sight(long).state == "done")
            }
        }

        @Test func aBadMachineTakesItselfOut() async throws {
            let source = try bench.copy(try await Clips.shared.film(), as: "film.mp4")
            let bad = try await badMachine()
            try await Fleet.with(bench, workers: 0) { fleet in
                var jobs: [String] = []
                for crf in ["20", "21", "22"] { jobs.append(try await fleet.submit([source, "--crf", crf])) }
                try await fleet.startWorker(.at(bad))
                #expect(try await eventually(.seconds(30)) { try await workers(fleet).map(\.slotsOut) == [1] })
                let notes = try await workers(fleet).flatMap(\.notes)
                #expect(notes.count == 1 && notes.first?.hasPrefix("1 slot out of work: engines crashed") == true)
                for id in jobs { #expect(try await fleet.job(id).failures.map(\.attempts) == [["crash": 1]]) }
                try await fleet.startWorker()
                for id in jobs {
                    #expect(try await eventually(.seconds(60)) { try fleet.sight(id).state == "done" })
                }
            }
        }

        /// A worker's path whose engine says that it is ready and dies of whatever it is asked.
        private func badMachine() async throws -> String {
            let folder = bench.path("bad")
            let engine = URL(fileURLWithPath: #filePath)
                .appendingPathComponent("../../ReelEngineTests/Fixtures/fake-engine").standardized.path
            let files = FileManager.default
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try files.copyItem(atPath: Program.folder + "/reel-worker", toPath: folder + "/reel-worker")
            try files.createSymbolicLink(atPath: folder + "/reel-engine", withDestinationPath: engine)
            let ready = try await bench.run(.at(Program.folder + "/reel-engine"), []).output
            #expect(ready.hasPrefix("{\"ready\""))
            try ready.write(toFile: folder + "/ready", atomically: false, encoding: .utf8)
            let script = "cat \(folder)/ready; read -r _; kill -SEGV $$"
            try script.write(toFile: folder + "/reel-engine.script", atomically: false, encoding: .utf8)
            return folder + "/reel-worker"
        }
    }
}

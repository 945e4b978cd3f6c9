import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// A farm whose Redis has a replica and sentinels, and whose master is lost in several ways while jobs are done.
    @Suite struct SentinelTests {
        private let fixture: ProcessFixture
        /// How often the master is lost in each way.
        private let rounds = ProcessInfo.processInfo.environment["REEL_SENTINEL_ROUNDS"].flatMap { Int($0) } ?? 1

        init() throws { fixture = try ProcessFixture() }

        private let options = ["--lossless", "--pass-frames", "8"]

        private enum Trouble: CaseIterable {
            /// The master is gone.
            case killed
            /// It keeps its connections, and answers nothing.
            case frozen
            /// Sentinels do not reach it, and the sentinel that workers listen to says nothing: for a while the workers
            /// go on with it, and everybody who connects anew finds another master.
            case doubled
        }

        @Test("work goes on within 30 s with the next master, and no pass is charged twice", .timeLimit(.minutes(60)))
        func goesOn() async throws {
            let source = try fixture.copy(
                try await Clips.shared.crowd(frames: 240, size: "1920x1080"), as: "crowd.mov")
            let farm = try await SentinelFarm()
            let environment = ["REEL_REDIS": farm.url, "REEL_STORE": fixture.path("store")]
            func coordinator(_ arguments: String...) async throws -> Outcome {
                try await fixture.run(.coordinator, arguments, environment: environment)
            }
            let made = try await coordinator("init")
            try #require(made.code == 0, "\(made.error)")
            var workers: [Child] = []
            for _ in 0..<2 {
                workers.append(
                    try await fixture.start(
                        .worker, ["--slots", "1", "--grace", "5", "--scratch", fixture.folder],
                        environment: environment))
            }

            var jobs: [String] = []
            /// Passes of the last job that are recorded, or all if it is done; nil while the board does not answer.
            func done() async throws -> Int? {
                guard let job = jobs.last, let view = try await view(job, coordinator) else { return nil }
                return view.state == "done" ? .max : view.passesDone
            }
            // Another time makes another job of the same output, so that there is work all the while.
            func submit() async throws {
                let date = Date(timeIntervalSince1970: 1_000_000_000 + Double(jobs.count))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: source)
                let copy = try fixture.copy(source, as: "crowd\(jobs.count).mov")
                let outcome = try await fixture.run(
                    .coordinator, ["submit", copy] + options, environment: environment)
                try #require(outcome.code == 0, "\(outcome.error)")
                jobs.append(outcome.output.trimmingCharacters(in: .newlines))
            }
            /// The jobs in whose time there were two masters.
            var doubled: Set<String> = []
            for trouble in (0..<rounds).flatMap({ _ in Trouble.allCases }) {
                let earlier = jobs.count
                try await farm.awaitReplica()
                try await submit()
                try await farm.awaitReplica()
                let master = try farm.master()
                switch trouble {
                case .killed: farm.kill(master)
                case .frozen: farm.freeze(master)
                case .doubled:
                    farm.freeze(farm.sentinels[0])
                    try farm.cutOff(master)
                }
                let began = ContinuousClock.now
                _ = try await farm.master(after: master)
                var before: Int?
                while before == nil { before = try await done() }
                if before == .max {
                    // The job ended with the old master.
                    try await submit()
                    before = 0
                }
                while try await done().map({ $0 <= before ?? 0 }) ?? true {
                    try await Task.sleep(for: .milliseconds(100))
                }
                let pause = (ContinuousClock.now - began) / .seconds(1)
                #expect(pause < 30, "\(trouble)")
                FileHandle.standardOutput.write(Data("\(trouble): work goes on after \(pause) s\n".utf8))
                if trouble == .doubled { doubled.formUnion(jobs[earlier...]) }
                switch trouble {
                case .killed: try await farm.restart(master)
                case .frozen: farm.thaw(master)
                case .doubled:
                    farm.thaw(farm.sentinels[0])
                    try farm.rejoin(master)
                }
            }
            var outputs: Set<Data> = []
            for job in jobs {
                let ended = try await coordinator("wait", job)
                #expect(ended.code == 0, "\(ended.error)")
                let view = try #require(try await view(job, coordinator))
                // To the new master, workers that stay with the old one for longer than a lease have vanished.
                let charged = view.failures.filter { !doubled.contains(job) || $0.attempts != ["lost": 1] }
                #expect(charged.isEmpty, "\(job)")
                let output = fixture.path("store/jobs/\(job)/output.mov")
                outputs.insert(try Data(contentsOf: URL(fileURLWithPath: output)))
                if job == jobs.last { try await fixture.expectExactlyReversed(source, output) }
            }
            #expect(outputs.count == 1)
            for worker in workers {
                let outcome = try await worker.end()
                #expect(outcome.code == 0, "\(outcome.error)")
            }
            #expect(try await fixture.isQuiet())
        }

        private func view(
            _ job: String, _ coordinator: (String...) async throws -> Outcome
        ) async throws -> JobJSON? {
            let outcome = try await coordinator("status", job, "--json")
            return outcome.code == 0 ? try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8)) : nil
        }
    }
}

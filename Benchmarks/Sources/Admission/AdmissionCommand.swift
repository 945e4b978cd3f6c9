internal import ArgumentParser
internal import Foundation
internal import ReelRandom

struct AdmissionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admission",
        abstract: "Simulates when many jobs have their results if few have begun at a time, and if all have.")

    @Option(help: "Runs of every row, each with other random numbers.")
    var seeds = 3

    private static let slots = [2, 16, 32]

    func validate() throws {
        guard seeds > 0 else { throw ValidationError("--seeds must be above 0") }
    }

    func run() throws {
        print(
            """

            ### Equal small jobs

            Each cell: with admission, and in brackets if all jobs share the slots from the start; means of \(seeds) runs.

            | jobs | slots | first result | mean result | last result | jobs with segments at once |
            | ---: | ---: | ---: | ---: | ---: | ---: |
            """)
        for count in [10, 100, 2000] {
            for slots in AdmissionCommand.slots {
                let (few, all) = try outcomes(slots) { random in (0..<count).map { _ in small(&random) } }
                row(
                    "\(count)", "\(slots)", times(few, all) { $0.ends.min() ?? 0 }, times(few, all) { mean($0.ends) },
                    times(few, all) { $0.ends.max() ?? 0 }, numbers(few, all) { Double($0.unfinished) })
            }
        }
        print(
            """

            ### A film, and a hundred small jobs after it

            | slots | the film's result | first small result | mean small result |
            | ---: | ---: | ---: | ---: |
            """)
        for slots in AdmissionCommand.slots {
            let (few, all) = try outcomes(slots) { random in
                [job(passes: 720, &random)] + (0..<100).map { _ in small(&random) }
            }
            row(
                "\(slots)", times(few, all) { $0.ends[0] }, times(few, all) { $0.ends.dropFirst().min() ?? 0 },
                times(few, all) { mean(Array($0.ends.dropFirst())) })
        }
    }

    private typealias Outcome = AdmissionSimulation.Outcome

    /// The outcomes with admission and without, each of the same jobs.
    private func outcomes(
        _ slots: Int, _ jobs: (inout SplitMix64) -> [AdmissionSimulation.Job]
    ) throws -> (few: [Outcome], all: [Outcome]) {
        var (few, all): ([Outcome], [Outcome]) = ([], [])
        for seed in 0..<seeds {
            var random = SplitMix64(seed: UInt64(seed))
            let jobs = jobs(&random)
            var (admission, breadthFirst) = (
                AdmissionSimulation(jobs, slots: slots, policy: .admission),
                AdmissionSimulation(jobs, slots: slots, policy: .breadthFirst)
            )
            few.append(try admission.run())
            all.append(try breadthFirst.run())
        }
        return (few, all)
    }

    /// Half a minute of film.
    private func small(_ random: inout SplitMix64) -> AdmissionSimulation.Job { job(passes: 3, &random) }

    /// A job with sound and this many passes of video, as ``Scenario`` has them.
    private func job(passes: Int, _ random: inout SplitMix64) -> AdmissionSimulation.Job {
        let video = (0..<passes).map { _ in Scenario.passTime * random.logNormal(sigma: 0.15) }
        return AdmissionSimulation.Job(passes: [0.1 * Double(passes)] + video, assembly: 1 + 0.01 * Double(passes))
    }

    private func row(_ cells: String...) { print("| " + cells.joined(separator: " | ") + " |") }

    private func times(_ few: [Outcome], _ all: [Outcome], _ value: (Outcome) -> Double) -> String {
        String(format: "%.0f s (%.0f s)", mean(few.map(value)), mean(all.map(value)))
    }

    private func numbers(_ few: [Outcome], _ all: [Outcome], _ value: (Outcome) -> Double) -> String {
        String(format: "%.0f (%.0f)", mean(few.map(value)), mean(all.map(value)))
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}

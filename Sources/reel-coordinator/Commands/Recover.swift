internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Put the store's unfinished jobs back on a board that has lost them.",
        discussion: HelpText.text(
            "Finished passes are kept. You can repeat it at any time.",
            HelpText.examples(
                "reel-coordinator recover"),
            HelpText.ofBoard))

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    @Flag(help: "Print each job with what became of it, as a line of JSON.")
    var json = false

    func run() async throws {
        let service = try await redis.service(joining: store.open(), warnings: true)
        let audit = try await service.audit()
        if audit.repairs > 0 { console.say("\(audit.repairs) repairs in \(audit.jobs) jobs of the board") }
        let outcomes = try await service.recover()
        var lost: [JobID] = []
        for (job, outcome) in outcomes {
            switch outcome {
            case .recovered(let passes):
                console.say("job \(job) goes on; passes that were finished: \(passes)")
                if json {
                    console.json(JobChangeView(onBoard: job, passesDone: passes))
                } else {
                    console.result(job.text)
                }
            case .known:
                console.say("job \(job) is on the board")
                if json { console.json(JobChangeView(onBoard: job, passesDone: nil)) }
            case .lost(let why):
                console.say("job \(job) cannot be recovered: \(why.words); submit it again")
                lost.append(job)
            }
        }
        if outcomes.isEmpty { console.say("the store has no unfinished job") }
        guard lost.isEmpty else { throw ReelFailure(.jobsNotRecovered(jobs: lost)) }
    }
}

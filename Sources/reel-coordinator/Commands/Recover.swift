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
        discussion: "Finished passes are kept. You can repeat it at any time.")

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

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
                console.result(job.text)
            case .known: console.say("job \(job) is on the board")
            case .lost(let why):
                console.say("job \(job) cannot be recovered: \(why.words); submit it again")
                lost.append(job)
            }
        }
        if outcomes.isEmpty { console.say("the store has no unfinished job") }
        guard lost.isEmpty else {
            throw ReelFailure(.jobsNotRecovered(jobs: lost))
        }
    }
}

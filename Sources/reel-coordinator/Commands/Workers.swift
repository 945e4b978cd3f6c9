internal import ArgumentParser
internal import ReelPipeline
internal import ReelQueue

/// The machines.
struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show the workers: host, slots, what each does, last beat.")

    @OptionGroup var redis: RedisOption

    @Flag(help: "Print a line of JSON: an array of objects.")
    var json = false

    func run() async throws {
        let views = try await redis.connect().workers().map(WorkerView.init)
        guard !json else { return try Console.json(views) }
        for view in views {
            let passes = view.passes.map { "\($0.job)/\($0.pass) (\($0.framesEncoded) frames)" }
            Console.result(
                "\(view.id)  \(view.passes.count)/\(view.slots) slots  \(ByteSize(bytes: view.memoryTotal))  "
                    + "beat \(Int(view.beatAge.rounded())) s ago" + (view.draining ? "  draining" : "")
                    + (passes.isEmpty ? "" : "  " + passes.joined(separator: ", ")))
        }
    }
}

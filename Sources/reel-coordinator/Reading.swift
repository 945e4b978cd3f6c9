internal import ArgumentParser
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue

/// What reading commands have in common: shown once or watched, for people or for machines.
struct ReadingOptions: ParsableArguments {
    @Flag(help: "Show it again every second; on a terminal redrawn in place.")
    var watch = false

    @Flag(help: "Print JSON: one line, with --watch a line a second.")
    var json = false

    /// Shows what `look` finds.
    ///
    /// - Parameter job: whose end ends watching; without one Ctrl-C is how it is meant to end.
    func show(
        _ redis: RedisOption, job: JobID? = nil,
        _ look: @escaping @Sendable (Board) async throws(ReelFailure) -> Picture
    ) async throws {
        let board = try await redis.connect()
        let output: Output = json ? .json : .people(Console.canvas)
        guard watch else { return try output.write(try await look(board)) }
        let watch = Watch(address: redis.redis, output: output) { () async throws(ReelFailure) in try await look(board)
        }
        do {
            try await Interruption.cancelling { try await watch.run() }
        } catch {
            guard error.kind == .interrupted else { throw error }
            if let job { throw ReelFailure(.jobGoesOn(job: job)) }
        }
    }
}

/// What a reading command found, for machines and for people.
struct Picture: Sendable {
    let json: any Encodable & Sendable
    /// Nothing of it will change any more.
    var isFinal = false
    let lines: @Sendable (Canvas) -> [ScreenLine]
}

/// How it is printed.
enum Output: Sendable {
    case json
    case people(Canvas)

    func write(_ picture: Picture) throws {
        switch self {
        case .json: Console.json(picture.json)
        case .people(let canvas): picture.lines(canvas).forEach { Console.print($0.rendered(on: canvas) + "\n") }
        }
    }
}

import ReelBoardModel
import ReelCore
import ReelQueue
import ReelTestSupport

// What servers do that send webhooks.
extension Conformance {
    mutating func performSending(_ operation: Operation) async throws {
        switch operation {
        case .hook(let job, let url): compare(try await board.hook(JobID(job), url), model.hook(job, url))
        case .dispatch:
            let (found, expected) = (try await board.dispatch(), model.dispatch())
            compare(found?.timeless, expected?.timeless)
            if let found, let expected { dueWebhooks.append((found, expected)) }
        case .dispatched(let place, let outcome):
            let webhook = dueWebhooks[place]
            compare(
                try await board.dispatched(webhook.board, outcome).timeless,
                model.dispatched(webhook.model, outcome))
        case .fallDueToSend:
            for name in try raw("ZRANGE", "reel2:{main}:webhooks", "0", "-1").split(separator: "\n") {
                try raw("ZADD", "reel2:{main}:webhooks", "1", String(name))
            }
            model.fallDueToSend()
        default: break
        }
    }
}

extension DueWebhook {
    /// Without what depends on the clock.
    fileprivate var timeless: DueWebhook {
        var webhook = self
        (webhook.since, webhook.till) = (0, 0)
        return webhook
    }
}

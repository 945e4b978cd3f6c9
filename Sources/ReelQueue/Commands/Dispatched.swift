internal import ReelCore

extension Command {
    /// Records how an attempt to send a webhook ended.
    struct Dispatched: BoardCommand {
        var webhook: DueWebhook
        var outcome: DueWebhook.Outcome

        static let name = "dispatched"
        static let source = PackageResources.dispatched_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [
                webhook.job.text, webhook.url, String(webhook.since), String(webhook.till), outcome.rawValue,
                String(timing.webhookPause.milliseconds),
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> DueWebhook.Answer {
            if let pause = reply.integer { return .again(after: .milliseconds(pause)) }
            switch try reply.text() {
            case "sent": return .sent
            case "given-up": return .givenUp
            case "stale": return .stale
            default: throw reply.surprise
            }
        }
    }
}

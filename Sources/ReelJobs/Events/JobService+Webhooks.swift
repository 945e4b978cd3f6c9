package import ReelCore
package import ReelQueue

/// Webhooks: URLs that are told of each end of a job. Of any number of programs that send them, one sends each.
extension JobService {
    /// Takes the webhook that has been due longest, for as long as an attempt to send it may take; nil if none is due. It is
    /// due again if the caller does not call `settle` in time.
    package func dueWebhook() async throws(ReelFailure) -> DueWebhook? { try await board.dispatch() }

    /// Says how an attempt to send a webhook ended. After a failure it is due again later, until a day has passed. While Redis
    /// cannot be reached the call is repeated for a minute, since what has arrived would else be sent again.
    package func settle(
        _ webhook: DueWebhook, _ outcome: DueWebhook.Outcome
    ) async throws(ReelFailure) -> DueWebhook.Answer {
        try await board.patiently { () throws(ReelFailure) in try await board.dispatched(webhook, outcome) }
    }
}

internal import HTTPTypes
internal import ReelJobs

extension WebhookURL {
    /// The webhook that a request names.
    ///
    /// - Parameter policy: which are taken; nil for none.
    init(_ place: JSONPlace, _ policy: WebhookPolicy?) throws {
        let text = try place.text()
        func problem(_ code: String, _ title: String, _ detail: String) -> Problem {
            Problem(.badRequest, code, title, detail: detail, pointer: place.pointer)
        }
        guard let policy else {
            throw problem(
                "webhooks-off", "The server sends no webhooks",
                "It was started without --webhook-secret, which names the file with the secret that signs them.")
        }
        do { try self.init(text) } catch {
            throw problem("webhook-invalid", "The webhook cannot be taken", error.rawValue)
        }
        guard policy.admits(self) else {
            throw problem(
                "webhook-private", "The webhook's address is private",
                "Webhooks are sent to public addresses, and to those that --webhook-allow names when the server starts."
            )
        }
    }
}

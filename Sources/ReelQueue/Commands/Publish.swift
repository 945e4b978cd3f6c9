internal import ReelCore

extension Command {
    /// Makes a job runnable after all its passes are uploaded. Nil if some are missing.
    struct Publish: BoardCommand {
        var job: BoardJob
        /// The token that holds the planning.
        var token: String
        var isPaused: Bool

        static let name = "publish"
        static let source = PackageResources.publish_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            [
                job.id.text, token, try JSON.text(job), String(job.plan), String(job.passCount), String(job.need),
                String(job.protocolVersion), job.encoders.joined(separator: "\n"), String(job.share),
                timing.retentionText, String(job.frames), String(job.encodingEffort), isPaused ? "1" : "0",
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Published? {
            try reply == .string("incomplete") ? nil : reply.value()
        }
    }
}

internal import ReelCore

extension Command {
    /// A worker's sign of life, with all passes that it holds.
    struct Beat: BoardCommand {
        var report: WorkerReport

        static let name = "beat"
        static let source = PackageResources.beat_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            var arguments = [
                report.worker.text, report.host, try JSON.text(report), timing.leaseText, String(report.memoryTotal),
            ]
            for held in report.held {
                arguments += [
                    held.job.text, String(held.index), held.token, String(held.plan), String(held.decoded),
                    String(held.encoded), String(held.wholeChunks),
                ]
            }
            return arguments + [String(report.slots), String(report.slotsOut)]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> BeatReply {
            var parts = try ReplyReader(reply)
            let drained = try parts.drained()
            var answers: [String: LeaseAnswer] = [:]
            for held in report.held { answers[held.token] = try parts.value() }
            try parts.end()
            return BeatReply(answers: answers, drained: drained)
        }
    }
}

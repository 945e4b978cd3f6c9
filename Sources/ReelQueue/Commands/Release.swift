internal import ReelCore

extension Command {
    /// Hands a pass back, uncharged. False if the claim does not hold it.
    struct Release: BoardCommand {
        var claim: ReelQueue.Claim

        static let name = "release"
        static let source = PackageResources.release_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [claim.job.text, String(claim.index), claim.token, String(claim.plan)]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}

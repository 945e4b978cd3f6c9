internal import ReelCore

extension FailureReason {
    /// The texts of codes about the board and Redis; nil for others.
    var boardText: CodeText? {
        switch self {
        case .passExhausted(let pass, let attempts, let last):
            CodeText(
                "\(passName(pass)) failed \(attempts) times: \(last.words)",
                "A pass failed as often as it may.", "See its last failure.")
        case .passLost(let pass, let attempts, let worker):
            CodeText(
                "\(passName(pass)) was lost \(attempts) times: worker \(worker) vanished like those before it",
                "All workers that held a pass vanished.", "Look at the hosts: memory and network.")
        case .passOutOfMemory(let pass, let planned, let doubled, let last):
            CodeText(
                "\(passName(pass)) needs more memory than the \(planned) bytes planned for it"
                    + (doubled ? ", and than twice that: " : ", and no worker has twice that: ") + last.words,
                "A pass needs more memory than was planned for it.", "Allow more memory.")
        case .noWorkerCan(let host, let last):
            CodeText(
                "no worker can take this job: \(host): \(last.words)",
                "No host can do the job.", "See the failure of the last host.")
        case .workerVanished(let worker):
            CodeText(
                "worker \(worker) vanished",
                "A worker gave no sign of life until its lease lapsed.", "Look at the host.")
        case .encoderMissing(let build):
            CodeText(
                "the worker has no encoder \(build)",
                "A worker lacks the build of an encoder that the plan was made with.",
                "Install one FFmpeg on all hosts.")
        case .boardOfOtherVersion(let found, let known):
            CodeText(
                "the board in Redis has version \(found), this program knows version \(known): use one release "
                    + "everywhere, or another Redis or namespace",
                "The board in Redis has the version of another release of reel.",
                "Use one release everywhere, or another Redis or namespace; see docs/upgrading.md.")
        case .boardUnprepared(let found, let known):
            CodeText(
                found.map {
                    "Redis has the board's functions in version \($0), this program needs version \(known) and may not "
                        + "load it"
                } ?? "Redis has no functions of the board, and its user may not load them: version \(known) is needed",
                "Redis lacks the board's functions, or has older ones, and the program may not load them.",
                "Prepare the board as a user that may load functions; see docs/upgrading.md.")
        case .boardOfNewerRelease(let found, let known):
            CodeText(
                "Redis has the board's functions in version \(found), this program knows version \(known): a newer "
                    + "release works on this board, so use that everywhere",
                "A newer release of reel works on the board.", "Install the newer release; see docs/upgrading.md.")
        case .redisUnreachable(let address, let said, _):
            CodeText(
                "Redis at \(address): \(said)",
                "Redis does not answer.", "Start it, or name another; running jobs go on when it is back.")
        case .redisRefused(let address, let said, _):
            CodeText(
                "Redis at \(address) refuses: \(said)", "Redis refuses a command.",
                "Check user, password and Redis's message; some refusals end by themselves.")
        case .boardLost(let jobs):
            CodeText(
                "Redis has lost jobs that had not ended (\(jobs.prefix(3).map(\.text).joined(separator: ", "))"
                    + (jobs.count > 3 ? ", …" : "")
                    + "): recover puts back what the store has of them; Redis's own log is left unchanged",
                "Redis started without jobs that it had.",
                "Stop Redis, copy its log, and see what Redis wrote while it loaded the log; or recover the jobs from "
                    + "the store.")
        case .boardUnreadable(let said):
            CodeText(
                "the board holds something that this version cannot read: \(said)",
                "The board holds something that this release cannot read.",
                "Look for another program that writes to this Redis; a damaged job can be removed.")
        case .passesVanished(let job):
            CodeText(
                "Redis lost passes of job \(job) while they were published: submit the job again",
                "Redis lost passes of a job while they were published.", "Submit the job again.")
        case .redisAddressInvalid(let address, let fault):
            CodeText(
                "Redis address\(address.map { " \($0)" } ?? ""): \(fault.words). It looks like "
                    + "redis://[user[:password]@]host[:port][/db] (rediss:// with TLS), "
                    + "redis+sentinel://host:port,host:port/master or unix:///path?db=N",
                "The address of Redis is not one that reel understands.", "Write it as the message says.")
        case .namespaceInvalid(let name):
            CodeText(
                "\(name) is no namespace: one has 1 to 64 letters, digits, dots, hyphens and underscores",
                "The name of the namespace has characters that it may not have.", "Choose another name.")
        case .jobContradictory(let job, let fault):
            CodeText(
                "job \(job) cannot be put on the board: \(fault.words)",
                "A job cannot be published as it is.", "Report it: this is an error in reel.")
        case .jobNotEnded(let job, let state):
            CodeText(
                "job \(job) is \(state.rawValue): cancel it first",
                "A job that has not ended cannot be removed.", "Cancel it first.")
        default: nil
        }
    }
}

extension RedisAddressFault {
    var words: String {
        switch self {
        case .notURL: "it is not a URL"
        case .scheme: "the scheme must be redis, rediss, redis+sentinel, rediss+sentinel or unix"
        case .tls: "this build of reel has no TLS; take the programs that scripts/build makes"
        case .host: "the host is missing"
        case .port: "the port is wrong"
        case .query: "write the database number into the path of redis:// (/2), or as ?db=N alone after unix://"
        case .database: "the database must be a number"
        case .path: "it needs three slashes and an absolute path"
        case .pathLength: "the path of a socket must not have more than 107 bytes"
        case .sentinels: "several hosts are sentinels, and the name of their master follows: redis+sentinel://a,b/NAME"
        case .tlsFiles: "only ?ca=FILE, &cert=FILE and &key=FILE may follow, a certificate and its key together"
        }
    }
}

extension JobFault {
    var words: String {
        switch self {
        case .id: "it has no id"
        case .weight: "its weight is not positive"
        case .passCount: "it has not as many passes as it states"
        case .plan: "its plan has no number, or the probe is another job's"
        }
    }
}

package import ReelCore

extension FailureReason {
    /// The texts of codes about jobs, commands and hosts; nil for others.
    var jobText: CodeText? {
        switch self {
        case .outputTwice(let path, let source):
            CodeText(
                "\(path) would be the output of \(source), too; only that is made",
                "Two videos of one command would have the same output.",
                "Submit them apart, with other names for their outputs.")
        case .jobUnknown(let job):
            CodeText(
                "there is no job \(job)",
                "Neither the board nor the store knows a job of this id.", "List the jobs.")
        case .jobAmbiguous(let name, let matches):
            CodeText(
                "the ids of several jobs begin with \(name): \(matches.map(\.text).joined(separator: ", "))",
                "The beginning of an id names several jobs; five at most are listed.", "Give more of the id.")
        case .jobUnended(let job, let seconds):
            CodeText(
                "job \(job) has not ended after \(seconds) s; it goes on",
                "The time to wait for a job was over before the job ended.", "Wait longer, or look at the job.")
        case .workersAbsent(let known):
            CodeText(
                known == 0
                    ? "no worker is connected"
                    : "no worker takes work: \(known == 1 ? "the only one" : "each of \(known)") is gone, drained, or "
                        + "claims nothing",
                "None of the workers that the board knows claims passes.", "Start a worker, or undrain one.")
        case .jobNotOnBoard(let job):
            CodeText(
                "the board has lost job \(job)",
                "The store has the job, and the board has lost it.", "Recover the board from the store.")
        case .jobForgotten(let job):
            CodeText(
                "the board knows no job \(job) any more", "The board forgot the job while it was watched.",
                "Submit it again, or recover the board from the store.")
        case .jobCancelled(let job):
            CodeText("job \(job) was cancelled", "A user cancelled the job.", "Submit it again if it is wanted.")
        case .jobFailed(let job): CodeText("job \(job) failed", "The job failed.", "See its failures.")
        case .jobNotFinished(let job, let state):
            CodeText("job \(job) is not finished: it is \(state.rawValue)", "The job has not ended.", "Wait for it.")
        case .jobEnded(let job, let state):
            CodeText(
                "job \(job) has ended, it is \(state.rawValue): it can be neither paused nor changed",
                "The job has ended and can be neither paused nor changed.", "Nothing.")
        case .jobNotFailed(let job, let state):
            CodeText(
                "job \(job) has not failed: it is \(state?.rawValue ?? "unfinished")",
                "Only a job that failed can be tried again.", "Nothing.")
        case .jobsNotRecovered(let jobs):
            CodeText(
                "could not recover jobs \(jobs.map(\.text).joined(separator: ", "))",
                "Some jobs could not be recovered.", "See the failure of each; submit them again.")
        case .jobGoesOn(let job):
            CodeText(
                "interrupted; job \(job) goes on without this command",
                "The command was interrupted; the job goes on.", "Watch it, or cancel it.")
        case .jobHeldBack(let job):
            CodeText(
                "job \(job) is paused",
                "The job is paused: its assembly is handed back.", "Nothing: it goes on when it is resumed.")
        case .passesWait(let job):
            CodeText(
                "passes of job \(job) wait for a slot",
                "Passes wait for the slot that a waiting assembly occupies: the assembly is handed back.", "Nothing.")
        case .probeLost(let job):
            CodeText(
                "another process probes job \(job) now",
                "The lease of a probe lapsed, and another process probes the job.", "Nothing.")
        case .engineMisanswered(let task):
            CodeText(
                "the engine answered another request than \(task.rawValue)",
                "An engine answered another request than it was asked.",
                "Install all programs from one release; report it if it happens again.")
        case .sourceReplaced(let path):
            CodeText(
                "\(path) has changed since the job was submitted; submit it again",
                "The file at the path of the source is not the one that was submitted.", "Submit it again.")
        case .interrupted:
            CodeText("interrupted", "The command was interrupted.", "Start it again: it goes on where it stopped.")
        case .runStopped(let last):
            CodeText(
                "\(last.words); the same command goes on where this one stopped",
                "A run on one machine stopped and can go on; its failure says why.",
                "Do what the failure says, then give the same command again.")
        case .workspaceUnusable(let last):
            CodeText(
                last.words, "The folder beside the output in which a run works cannot be used.",
                "Choose another place for the output.")
        case .quotaExceeded(let quota, let asked, let most):
            CodeText(
                quota.exceeded(asked, most),
                "The job asks for more than a host allows.", "Ask for less, as the message says, or allow more there.")
        case .sourceOutside(let path):
            CodeText(
                "\(path) lies outside the folders from which sources are taken here",
                "A host takes sources from other folders only.",
                "Put it into one of them, by a path without links that lead out of it, or have it copied into the "
                    + "store.")
        case .sourceRootUnusable(let path, let errno):
            CodeText(
                "sources cannot be taken from \(path): \(SystemWords.text(errno))",
                "A folder for sources does not exist, or is not a folder.", "Name a folder that exists.")
        case .sourceOutOfReach(let last):
            CodeText(
                "on this host: \(last.words)", "A host does not see the source.",
                "Mount it there under the same path, or have it copied into the store.")
        case .planDiffers(let job, let plan, let store):
            CodeText(
                "the store \(store) has another plan \(plan) of job \(job) than the board",
                "A host's store has another plan than the board.", "Check that every host uses the same store.")
        case .noResult(let job, let state):
            CodeText(
                "job \(job) has no result: it is \(state?.rawValue ?? "not finished")",
                "The job has no result to deliver.", "Wait for it, or see why it failed.")
        case .outputContainerDiffers(let job, let container, let output):
            CodeText(
                "job \(job) made a .\(container.rawValue) file, which \(output) does not name",
                "The output is named as another container than the job made.",
                "Name a file with the extension of the job's container.")
        case .outputNotNamed(let output):
            CodeText(
                "\(output) has no extension that reel writes: \(Container.names(Container.allCases))",
                "The name of the output has no extension that reel writes.",
                "Choose \(Container.names(Container.allCases)).")
        case .storeNotNamed:
            CodeText(
                "no store is named: the folder that coordinator and workers share",
                "No store is named.", "Name the folder that coordinator and workers share.")
        case .workerUnknown(let name):
            CodeText("no worker or host is named \(name)", "No worker and no host has this name.", "List the workers.")
        case .redisUnusable(let last): CodeText(last.words, "A command cannot use Redis.", "See the failure of Redis.")
        case .programMissing(let name, let folder):
            CodeText(
                "\(name) is missing in \(folder): reel's programs must be in one folder",
                "A program of reel is missing beside the others.", "Install all programs into one folder.")
        case .programsNotFound:
            CodeText(
                "cannot find reel's programs: /proc/self/exe cannot be read",
                "The folder of reel's programs cannot be found.", "Mount /proc.")
        case .redisFileUnusable(let path, let errno):
            CodeText(
                "\(path): cannot read the address of Redis: \(SystemWords.text(errno))",
                "The file with the address of Redis cannot be read.", "Check its path and its permissions.")
        case .redisFileOpen(let path):
            CodeText(
                "\(path): the address of Redis must be secret, but all users can read the file, or its group can "
                    + "change it",
                "All users can read the file with the address of Redis, or its group can change it.",
                "Let only its owner read it: chmod 600.")
        case .secretFileUnusable(let path, let errno):
            CodeText(
                "\(path): cannot be used: \(SystemWords.text(errno))",
                "A file that keeps a secret cannot be read or written.", "Check its path and its permissions.")
        case .secretFileOpen(let path):
            CodeText(
                "\(path) keeps a secret, but all users can read it, or its group can change it",
                "All users can read a file that keeps a secret, or its group can change it.",
                "Let only its owner read it: chmod 600.")
        case .tokenFileDamaged(let path, let line):
            CodeText(
                "\(path): line \(line) is no token that reel-server has written",
                "A line of the file of tokens is not in the form that reel-server writes.",
                "Take the line out, and make its token anew.")
        case .tokenNameTaken(let name, let path):
            CodeText(
                "\(path) has a token \(name) already", "The file of tokens has one of that name.",
                "Choose another name, or take the line of that name out of the file.")
        case .secretTooShort(let path, let least):
            CodeText(
                "\(path): the secret has fewer than \(least) bytes",
                "The secret that signs webhooks is so short that it could be guessed.",
                "Write a random secret into it, for example with `openssl rand -hex 32`.")
        case .webhooksTooMany(let job, let most):
            CodeText(
                "job \(job) has \(most) webhooks already, and no job can have more",
                "A job can have eight webhooks, and this one has eight others.",
                "Have one of its receivers pass the message on.")
        case .curlNotInstalled:
            CodeText(
                "curl is not installed, so that no webhook can be sent: apt-get install curl",
                "A server sends webhooks by curl, and there is none. It tries again.", "Install curl.")
        case .addressUnusable(let address, let said):
            CodeText(
                "cannot listen at \(address): \(said)",
                "The program cannot listen at its address.", "Choose another address, or end what listens there.")
        case .sandboxIncomplete(let missing):
            CodeText(
                "the kernel of this machine cannot confine engines: it has no "
                    + "\(missing.map(\.words).joined(separator: " and no "))",
                "Engines must be confined, and the kernel lacks a part of that.",
                "Use Linux 5.13 or later with Landlock enabled, or do not require the sandbox.")
        case .folderUnwritable(let path, let errno):
            CodeText(
                "cannot write in \(path)" + (errno.map { ": \(SystemWords.text($0))" } ?? ""),
                "A folder for temporary files cannot be written.", "Choose another folder.")
        case .redisNotInstalled:
            CodeText(
                "redis-server is not installed: apt-get install redis-server",
                "A run on one machine needs redis-server, and there is none.", "Install redis-server.")
        case .redisSilent(let said):
            CodeText(
                "redis-server does not answer: \(said)",
                "The Redis of a run did not start.", "See what it wrote, in the message.")
        case .localWorkerEnded(let said):
            CodeText(
                "the local worker ended: \(said)",
                "The worker of a run ended by itself.", "See what it wrote, in the message; the same command goes on.")
        case .localServerEnded(let said):
            CodeText(
                "the local server ended: \(said)",
                "The server of the pages on one machine ended by itself.", "See what it wrote, in the message.")
        case .unexpected(let said):
            CodeText("\(said)", "Something failed that no code describes.", "Report it with the message.")
        default: nil
        }
    }
}

extension Quotas.Quota {
    /// That a job asks for more than is allowed.
    func exceeded(_ asked: Int64?, _ most: Int64) -> String {
        switch self {
        case .pixels: "a picture has \(asked ?? 0) pixels, and at most \(most) are allowed here"
        case .duration: "the output lasts \(asked ?? 0) s, and at most \(most) s are allowed here"
        case .frames: "the output has \(asked ?? 0) frames, and at most \(most) are allowed here"
        case .tracks: "the output has \(asked ?? 0) tracks, and at most \(most) are allowed here"
        case .output: "a file takes more than \(ByteSize(bytes: most)), which is the most that is allowed here"
        case .passTime: "a pass took longer than \(most) s, which is the most that is allowed here"
        case .jobTime: "the job took longer than \(most) s, which is the most that is allowed here"
        case .jobCPU: "the job took more than \(most) s of CPU time, which is the most that is allowed here"
        case .passCPU: "a pass took more than \(most) s of CPU time, which is the most that is allowed here"
        }
    }
}

extension SandboxState {
    /// The confinement that is in force, in words.
    package var words: String {
        switch (landlock > 0, seccomp) {
        case (true, true): "engines are confined: Landlock \(landlock), seccomp"
        case (true, false): "engines are confined in part: Landlock \(landlock), no seccomp"
        case (false, true): "engines are confined in part: seccomp, no Landlock"
        case (false, false): "engines are not confined"
        }
    }
}

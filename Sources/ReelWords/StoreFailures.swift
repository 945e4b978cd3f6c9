internal import ReelCore

extension FailureReason {
    /// The texts of codes about the store, sources and outputs on disks; nil for others.
    var storeText: CodeText? {
        switch self {
        case .sourceInaccessible(let path, let errno):
            CodeText(
                "cannot read \(path): \(SystemWords.text(errno))",
                "The operating system does not allow the source to be read.", "Check the path and its permissions.")
        case .sourceIsFolder(let path):
            CodeText("\(path) is a folder; name a video file in it", "The source is a folder.", "Name a video file.")
        case .folderWithoutVideos(let path):
            CodeText(
                "\(path) is a folder, and no file in it has a video's name; folders in it are not searched",
                "A folder that stands for its videos has none.", "Name the files; folders in it are not searched.")
        case .sourceEmpty(let path):
            CodeText("\(path): is empty", "The source has no bytes.", "Record or copy it again.")
        case .sourceIsURL(let url):
            CodeText(
                "\(url): URLs are not read here; download it first, and name the file",
                "The source is named by a URL, and this program or build does not read those.",
                "Download it, and name the file.")
        case .urlInvalid(let url, let flaw):
            CodeText(
                "\(url) is not a URL that reel reads: \(flaw)", "The source's URL is malformed.",
                "Write it as the message says.")
        case .stagedURL(let url):
            CodeText(
                "\(url) is not copied into the store, since workers read it where it is; submit it without that",
                "A source that is no file is to be copied into the store.", "Submit it without the copy.")
        case .urlHostForbidden(let url):
            CodeText(
                "\(url): this host reads no sources from there; it must be allowed when the program is started",
                "Workers and servers read sources only from the web servers and buckets that they are allowed, and a "
                    + "redirection leads only to allowed servers, or to public addresses.",
                "Allow it where the worker or the server is started, or name another source.")
        case .urlUnanswered(let url, let said):
            CodeText(
                "\(url) cannot be read: \(said)", "A web server does not answer, or not to the end.",
                "Try again when it answers.")
        case .urlRefused(let url, let status):
            CodeText(
                [401, 403].contains(status)
                    ? "\(url): the server answers \(status): a signed URL may have run out; submit the job again with a new one"
                    : "\(url): the server answers \(status)",
                "A web server refuses to give the source.",
                "Check the URL. If it is signed and has run out, submit the same job with a new one: it goes on.")
        case .urlWithoutRanges(let url):
            CodeText(
                "\(url): the server gives no ranges of bytes, which reel needs; download it first, and name the file",
                "A web server gives a file only as a whole.", "Download it, and name the file.")
        case .urlMisanswered(let url, let said):
            CodeText(
                "\(url): the server answers with \(said)", "A web server breaks the protocol.",
                "Download it, and name the file.")
        case .bucketMissing(_, let address):
            CodeText(
                "\(address): there is no such bucket", "A bucket does not exist.",
                "Check its name, and the store's address and region.")
        case .objectMissing(_, let address):
            CodeText(
                "\(address): the bucket has no such object", "An object does not exist in its bucket.",
                "Check its key, which is written as it is, without percent-encoding.")
        case .bucketDenied(_, let address):
            CodeText(
                "\(address): the object store denies access to the keys that this host has",
                "The keys of this host have no right to an object, or to its bucket.",
                "Give them the rights that docs/stores.md lists, or use other keys.")
        case .bucketElsewhere(_, let address, let region, let asked):
            CodeText(
                region.map {
                    "\(address): the bucket is in the region \($0), and this host asks in \(asked); set AWS_REGION"
                }
                    ?? "\(address): the bucket is not in the region \(asked), in which this host asks; set AWS_REGION",
                "A bucket is in another region than this host asks in.", "Set AWS_REGION to the bucket's region.")
        case .bucketClockDiffers(_, let address, let seconds):
            CodeText(
                seconds.map {
                    "\(address): the object store refuses the time of this host, whose clock is \($0.magnitude) s "
                        + ($0 < 0 ? "fast" : "slow")
                } ?? "\(address): the object store refuses the time of this host's clock",
                "The clock of this host differs from the object store's by too much for signed requests.",
                "Set the clock; NTP keeps it right.")
        case .bucketKeysAbsent(_, let address, let said):
            CodeText(
                "\(address): this host has no keys for object stores: \(said)",
                "A bucket is to be used, and this host has no keys.",
                "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the machine a role.")
        case .bucketKeysWrong(_, let address):
            CodeText(
                "\(address): the object store does not know the key of this host, or its secret is another",
                "The object store does not accept the keys of this host.",
                "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL_S3.")
        case .bucketKeysExpired(_, let address):
            CodeText(
                "\(address): the keys of this host have expired", "The keys of this host were for a limited time.",
                "Set new ones. New ones in the files of a profile are found without a restart.")
        case .bucketUnanswered(_, let address, let said):
            CodeText(
                "\(address): the object store cannot be used: \(said)",
                "An object store does not answer, or not to the end.", "Try again when it answers.")
        case .bucketMisanswered(_, let address, let said):
            CodeText(
                "\(address): the object store answers with \(said)",
                "An object store answers otherwise than S3 does.", "Check AWS_ENDPOINT_URL_S3.")
        case .sourceNotAFile(let path):
            CodeText(
                "\(path) is not a regular file, and the source is read more than once",
                "The source is a pipe or a device, and it has to be read more than once.",
                "Write it into a file first.")
        case .sourceChangedWhileCopied(let path):
            CodeText(
                "\(path) changed while it was copied into the store; submit it again",
                "The source changed while it was copied into the store.",
                "Submit it again when no program writes to it.")
        case .storeUnusable(let doing, let path, let errno):
            CodeText(
                "cannot \(doing.words) \(path): \(SystemWords.text(errno))",
                "The operating system refuses an operation in the store.",
                "Check that the store is mounted there, and its permissions.")
        case .storeFull(let doing, let path, let errno):
            CodeText(
                "cannot \(doing.words) \(path): \(SystemWords.text(errno))",
                "The disk of the store, or a quota on it, is full.", "Make room on it.")
        case .storeFileDamaged(let path, let said):
            CodeText(
                "\(path) is not what reel wrote: \(said)", "A file in the store is not what reel wrote.",
                "Submit the job again; look at the disk if it happens again.")
        case .storeFileForeign(let path):
            CodeText(
                "\(path) is a link, a pipe, a device or a folder, and reel reads only regular files there",
                "A link, a pipe, a device or a folder is where the store should have a file.",
                "Find out which user put it there, remove it, and submit the job again.")
        case .storeMissing(let path):
            CodeText(
                "there is no store at \(path)",
                "The folder or bucket that was named as the store is missing, or is not a store.",
                "Mount it, name another, or make a store there.")
        case .storeNameInvalid(let name, let flaw):
            CodeText(
                "\(name) is no place for a store: \(flaw)",
                "A store's name begins as a URL does, and is no place in a bucket.",
                "Name a folder, or s3://bucket/prefix.")
        case .storeTurnLost(let path):
            CodeText(
                "\(path) was not written: this process stood still, and its turn to write has gone to another",
                "A process that writes to a store in a bucket stood still for half a minute.",
                "Nothing: it is tried again.")
        case .storeNameEmpty:
            CodeText("the name of the store is empty", "An empty name was given for the store.", "Name a folder.")
        case .storeEmpty(let path, let board):
            CodeText(
                "\(path) is empty, and the board in Redis belongs to store \(board): check that the store is "
                    + "mounted there",
                "The store's folder is empty, and the board belongs to a store that is not.",
                "Mount the store there, or name the folder where it is.")
        case .storeDiffers(let path, let store, let board):
            CodeText(
                "\(path) is store \(store), and the board in Redis belongs to store \(board): use one store everywhere",
                "The store is another than the one that the board belongs to.",
                "Name the store that the other hosts use, or another Redis.")
        case .storeOfOtherVersion(let path, let found, let known):
            CodeText(
                "the store at \(path) has version \(found), and this release knows no version after \(known)",
                "The store was made by a later release of reel.", "Install that release here, too.")
        case .workspaceForeign(let path):
            CodeText(
                "\(path) belongs to another user, or other users may write in it, so reel keeps no files there",
                "The folder beside the output in which a run works is not safe from other users.",
                "Choose another place for the output.")
        case .resultDiffers(let job, let path, let bytes, let sha256, let recordedBytes, let recordedSha256):
            CodeText(
                bytes == recordedBytes
                    ? "\(path) is not the verified result of job \(job): its SHA-256 is \(sha256), not "
                        + "\(recordedSha256)"
                    : "\(path) is not the verified result of job \(job): it has \(bytes) bytes, not \(recordedBytes)",
                "A result, or a copy of it, is no longer the file that was verified.",
                "Submit the job again, anew; look at the disk if it happens again.")
        case .argumentNotText(let text):
            CodeText(
                "\(text) is not UTF-8, and reel accepts only UTF-8; rename the file or make a link to it",
                "An argument of a command is not UTF-8.", "Rename the file, or make a link to it.")
        case .notEncodable(let said):
            CodeText(
                "a value cannot be written as JSON: \(said)",
                "A value cannot be written as JSON.", "Report it: this is an error in reel.")
        case .segmentListUnwritable(let path, let errno):
            CodeText(
                "cannot write \(path): \(SystemWords.text(errno))",
                "The list of segments for the assembly cannot be written. Only release 0.1 reports this.",
                "Check the disk of the store; the assembly is tried again.")
        case .jobUnknownHere(let job, let path):
            CodeText(
                "the store has no job \(job): there is no \(path)",
                "A host does not see a job in its store.", "Check that every host uses the same store.")
        case .jobHeld(let path, let pid, let host):
            CodeText(
                "another run of this job is under way: \(SystemWords.process(pid, host)) holds \(path); wait for it",
                "Another process works on the same job.", "Wait for it.")
        case .storeHeld(let path, let pid, let host):
            CodeText(
                "\(SystemWords.process(pid, host)) serves the jobs in \(path) already",
                "Another process serves the same folder of jobs.", "Use its page, end it, or choose another folder.")
        case .outputExists(let path):
            CodeText(
                "\(path) exists already",
                "There is a file at the place of the output.", "Allow it to be replaced, or choose another name.")
        case .outputIsSource(let path):
            CodeText("\(path) is the source itself", "The output would replace the source.", "Choose another name.")
        case .outputIsFolder(let path):
            CodeText(
                "\(path) is a folder; name a file in it",
                "There is a folder at the place of the output.", "Name a file in it.")
        case .outputNotAFile(let path):
            CodeText(
                "\(path) is not a regular file",
                "There is a pipe or a device at the place of the output.", "Choose another name.")
        case .outputUnnamed(let path):
            CodeText("\(path) names no file", "The path of the output names no file.", "Name a file.")
        case .outputNotTaken(let address, let flaw):
            CodeText(
                "\(address) is no place for an output: \(flaw)", "A URL that is no object of a bucket is no output.",
                "Name a file, or s3://bucket/key.")
        case .outputFolderMissing(let path, let folder):
            CodeText(
                "cannot write \(path): there is no folder \(folder); make it first",
                "The folder of the output does not exist.", "Make it first, or choose another.")
        case .outputUnwritable(let path, let errno):
            CodeText(
                "cannot write \(path): \(SystemWords.text(errno))",
                "The operating system does not allow the output to be written.",
                "Check the permissions, or choose another place.")
        case .outputFull(let path, let needed, let free):
            CodeText(
                "no room for \(path):" + (needed.map { " it takes \($0) bytes," } ?? "") + " \(free) bytes are free",
                "The disk has too little room for the output.", "Make room on it, or choose another place.")
        case .copyInterrupted(let path):
            CodeText("interrupted while writing \(path)", "Delivering the output was interrupted.", "Deliver it again.")
        case .planOfOtherVersion(let found, let known):
            CodeText(
                "the plan has version \(found), and this release knows version \(known): use one release everywhere",
                "A plan was made by another release of reel.",
                "Install one release everywhere, or submit the job again: it gets a new plan.")
        case .indexMissing(let hash, let folder):
            CodeText(
                "there is no index \(hash) in \(folder)", "The store lacks the index that a plan was made from.",
                "Submit the job again: the source is read again.")
        case .jobOfOtherVersion(let found, let known):
            CodeText(
                "the job's record has version \(found), and this release knows no version after \(known)",
                "The record of a job was written by a later release of reel.", "Use that release for this job.")
        case .scratchTooSmall(let path, let needed, let free):
            CodeText(
                "\(path) has \(ByteSize(bytes: free)) of free space, and the job's segments and output take "
                    + "\(ByteSize(bytes: needed)) here",
                "A machine has too little room for the segments of a job in a bucket, and for the output made of them.",
                "Make room there, or give the worker another folder for temporary files.")
        default: nil
        }
    }
}

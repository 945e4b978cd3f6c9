internal import Glibc
internal import ReelCore

extension FailureReason {
    /// The texts of codes about engines and the work of passes; nil for others.
    var engineText: CodeText? {
        switch self {
        case .mediaFailed(let step, let subject, let said):
            CodeText(
                "\(step.words(subject)): \(said)", "A call of FFmpeg failed.",
                "Nothing: the pass is tried again. If it keeps failing, see FFmpeg's message.")
        case .outOfMemory(let step, let subject):
            CodeText(
                "\(step.words(subject)): out of memory; give the pass more", "A pass needs more memory than it has.",
                "Nothing: the pass is tried with more. If it keeps failing, allow more memory.")
        case .diskFull(let path):
            CodeText(
                "\(prefix(path))no space left on the disk",
                "A disk, or a quota on it, is full.", "Make room on it.")
        case .outputRefused(let path, let step, let said):
            CodeText(
                "\(step.words(path)): \(said)",
                "The container rejects the streams of the output.", "Choose another container; report it.")
        case .fileFailed(let path, let step, let errno, _):
            CodeText(
                "\(step.words) \(path): \(SystemWords.text(errno))", "A host cannot write or read a file of the job.",
                "Check the mount, the permissions and the disk on that host; the work is tried again.")
        case .jobFileUnreadable(let path, let said):
            CodeText(
                "reading \(path): \(said)",
                "A host cannot read a file of the job.", "Check that the host sees the store.")
        case .planLacks(let part, let number):
            CodeText(
                "the plan has no \(part.words) \(number)",
                "A request names a part that the plan does not have.", "Submit the job anew.")
        case .indexVersion(let version, let supported):
            CodeText(
                "the index has version \(version); this reel reads \(supported)",
                "An index was made by another version of reel.",
                "Install one release everywhere, or submit the job anew.")
        case .indexDamaged(let offset, let flaw):
            CodeText(
                flaw == .start
                    ? "this is not an index of reel: it does not begin with REELIDX"
                    : "the job's index is damaged near byte \(offset): \(flaw.words); submit the job anew",
                "An index is damaged.", "Submit the job anew.")
        case .codecAbsent(let codec, let role):
            CodeText(
                role == .codec
                    ? "this FFmpeg knows no codec named \(codec)" : "this FFmpeg has no \(role.rawValue) for \(codec)",
                "The FFmpeg of a host lacks a codec.", "Install one FFmpeg on all hosts.")
        case .encoderDiffers(let encoder):
            CodeText(
                "this host's \(encoder) makes other parameters than the one the job was planned with",
                "The encoder of a host makes other parameters than the one of the plan.",
                "Install one FFmpeg on all hosts.")
        case .chunkTooLarge(let encoder):
            CodeText(
                "\(encoder) does not make a part of the pictures as small as the size that was asked for needs; ask for more, "
                    + "or choose smaller pictures",
                "An encoder cannot make the pictures as small as the output's size needs.",
                "Ask for a larger size, or choose smaller pictures or fewer frames a second.")
        case .outputTooLarge(let most, let bytes):
            CodeText(
                "the output has \(bytes) bytes, more than the \(most) that were asked for, and is not delivered; ask for a "
                    + "little less",
                "The finished output has more bytes than were asked for.", "Ask for a slightly smaller size.")
        case .encoderMiscounts(let encoder, let packets, let frames):
            CodeText(
                "\(encoder) made \(packets) packets of \(frames) frames",
                "An encoder made more or fewer packets than frames.", "Choose another encoder.")
        case .packetWithoutTime(let segment):
            CodeText(
                "segment \(segment): the encoder gave a packet without a presentation time",
                "An encoder gave a packet without a time.", "Choose another encoder.")
        case .nothingToEncode:
            CodeText(
                "a part of the video has no frames",
                "A part of the video without frames was to be encoded.", "Report it: this is an error in reel.")
        case .segmentFlawed(let segment, _, let flaw):
            CodeText(
                "segment \(segment) \(flaw.words)", "A segment is not what its record or the plan says.",
                "Nothing: its pass is done again. If that does not help, submit the job anew.")
        case .segmentMissing(let segment, let pass):
            CodeText(
                "the segment \(segment) of pass \(pass) is missing", "A segment is missing at the assembly.",
                "Nothing: its pass is done again. If it goes on, look at the disk of the store.")
        case .segmentDiffers(let segment, let pass):
            CodeText(
                "the segment \(segment) of pass \(pass) is not the file that was recorded",
                "A segment has changed since it was recorded.",
                "Nothing: its pass is done again. If it goes on, look at the disk of the store.")
        case .segmentListUnreadable(let path, let said):
            CodeText(
                "the list of segments, \(path), cannot be read\(said.map { ": \($0)" } ?? "")",
                "The list of segments cannot be read. Only release 0.1 reports this.",
                "Check that the host sees the store; the assembly is tried again.")
        case .partsEnded(let parts):
            CodeText(
                "the \(parts.words) end before the plan does",
                "The segments or packets that the assembly joins end before the plan does.", "Submit the job anew.")
        case .verificationFailed(let stream, let flaw):
            CodeText(
                "the output failed its verification: \(stream.map { "stream \($0)" } ?? "it") \(flaw.words)",
                "The output is not what the plan says.", "Submit the job anew; report it if it happens again.")
        case .engineUnstartable(let executable, let said):
            CodeText(
                "cannot start the engine \(executable): \(said)",
                "The engine cannot be started.", "Check the installation.")
        case .engineVersion(let version, let supported):
            CodeText(
                "the engine speaks version \(version) of the protocol, this program \(supported): "
                    + "install both from one release",
                "The engine is of another release.", "Install all programs from one release.")
        case .engineWithoutOutput:
            CodeText(
                "the engine has no standard output to write events to",
                "An engine was started without a standard output.", "Let the other programs start it.")
        case .requestUnwritable(let said):
            CodeText(
                "cannot write a request to the engine as JSON: \(said)",
                "A request to the engine cannot be written.", "Report it: this is an error in reel.")
        case .engineInterrupted(let place):
            CodeText(
                "interrupted \(place.words)",
                "The work was interrupted.", "Start it again: it goes on where it stopped.")
        case .engineEnded:
            CodeText(
                "the engine was ended",
                "An engine was ended before it answered a request.", "Nothing: the pass is tried again.")
        case .engineHung(let place, let hang, let seconds, let lastWords):
            CodeText(
                "engine hung \(place.words): \(hang.words) for \(Wording.seconds(seconds))\(quoting(lastWords))",
                "An engine did nothing for too long and was killed.", "Nothing: the pass is tried again.")
        case .engineNonsense(let place, let nonsense, let lastWords):
            CodeText(
                "engine \(nonsense.words), \(place.words)\(quoting(lastWords))",
                "An engine broke the protocol and was killed.",
                "Install all programs from one release; report it if it happens again.")
        case .engineDied(let place, let end, let lastWords):
            CodeText(
                "engine \(end.words) \(place.words)\(quoting(lastWords))",
                "An engine died.", "Nothing: the pass is tried again.")
        default: nil
        }
    }
}

// Words for what an engine was doing and how it ended, as parts of sentences.

extension EnginePlace {
    var words: String {
        switch self {
        case .start: "at its start"
        case .idle: "between two requests"
        case .recon(let source): "reading \(source)"
        case .choice: "choosing how to encode"
        case .pass(let number, let frames?): "at frames \(frames) of pass \(number)"
        case .pass(let number, nil): "at the start of pass \(number)"
        case .assembly: "assembling"
        case .pictures: "making pictures"
        }
    }
}

extension EngineHang {
    var words: String {
        switch self {
        case .silent: "no event"
        case .idle: "no event and no CPU used"
        }
    }
}

extension EngineEnd {
    var words: String {
        switch self {
        case .exited(let code): "exited with code \(code)"
        case .signalled(SIGKILL): "died of signal 9 (SIGKILL: perhaps the kernel ran out of memory)"
        case .signalled(let number): "died of signal \(number) (\(Self.names[number] ?? "unknown"))"
        case .vanished: "vanished"
        }
    }

    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE",
        SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]
}

extension EngineNonsense {
    var words: String {
        switch self {
        case .longLine(let limit): "wrote a line of more than \(limit) bytes"
        case .unreadable(let said): "cannot be read from: \(said)"
        case .noEvent(let line): "wrote a line that is not an event: \(line)"
        case .unfitResult(let part): "answered with \(part.rawValue) that do not fit the request"
        case .unfitFailure(let code): "failed in a way that no engine can: \(code)"
        case .secondReady: "reported twice that it is ready"
        case .strayFetch: "asked for bytes that it may not have"
        case .strayProgress: "reported progress without a request"
        case .strayResult: "gave a result without a request"
        case .strayFailure(let failure): "failed without a request: \(failure.words)"
        case .closedOutput: "closed its output"
        case .manyThreads(let most): "started more than \(most) threads"
        }
    }
}

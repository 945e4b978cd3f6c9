internal import ReelCore

/// The name of a file or folder in a job's folder. All names there are made and parsed here, except the names of
/// segments.
enum JobFileName: Hashable {
    case record
    /// A plan, by its number.
    case plan(Int)
    /// The verified result.
    case output(Container)
    /// The output of the assembler that holds the token, as release 0.1.0 named it until it was verified.
    case assembling(token: String, Container)
    case lock
    /// Held by a process while it writes the record.
    case recordLock
    /// Folders: of the segments, of outputs that are being assembled, of the engines' last words, of the sources'
    /// copies, of pictures for people.
    case segments, assemblies, attempts, stage, pictures
    /// A file that is not whole yet.
    case temporary

    var text: String {
        switch self {
        case .record: "job.json"
        case .plan(let number): "plan.\(number).json"
        case .output(let container): "output.\(container.rawValue)"
        case .assembling(let token, let container): "assembling.\(token).\(container.rawValue)"
        case .lock: "lock"
        case .recordLock: "record.lock"
        case .segments: "segments"
        case .assemblies: "assemblies"
        case .attempts: "attempts"
        case .stage: "source"
        case .pictures: "pictures"
        case .temporary: Files.temporaryPrefix + Files.randomName()
        }
    }

    /// Parses a name; nil for names that no release's job folder has.
    init?(_ text: String) {
        // The file of an assembler has this ending until it is whole.
        if text.hasSuffix(Self.unfinished),
            case .assembling(let token, let container)? = JobFileName(String(text.dropLast(Self.unfinished.count)))
        {
            self = .assembling(token: token, container)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let container = parts.last.flatMap { Container(rawValue: $0) }
        switch (parts.first, parts.count, container) {
        case ("job", 2, _): self = .record
        case ("plan", 3, _): self = .plan(Int(parts[1]) ?? 0)
        case ("output", 2, let container?): self = .output(container)
        case ("assembling", 3, let container?): self = .assembling(token: parts[1], container)
        case ("lock", 1, _): self = .lock
        case ("record", 2, _): self = .recordLock
        case ("segments", 1, _): self = .segments
        case ("assemblies", 1, _): self = .assemblies
        case ("attempts", 1, _): self = .attempts
        case ("source", 1, _): self = .stage
        case ("pictures", 1, _): self = .pictures
        default:
            guard text.hasPrefix(Files.temporaryPrefix) else { return nil }
            self = .temporary
            return
        }
        // A name that differs from its own `text` was not made here.
        if case .plan(let number) = self, number < 1 { return nil }
        guard self.text == text else { return nil }
    }

    private static let unfinished = ".part"

    /// Whether an unfinished attempt left it; of no use once the job has ended.
    var isPart: Bool {
        switch self {
        case .assembling, .temporary: true
        default: false
        }
    }
}

/// The name of a picture of a job, made for people. The content of such a file never changes: the name contains the
/// index or the plan from which the picture was made.
package struct PictureName: Hashable, Sendable {
    package let text: String

    /// A frame of a source, or this many frames of it side by side if `frame` is nil.
    ///
    /// - Parameters:
    ///   - index: SHA-256 of the source's index, in hexadecimal.
    ///   - frame: counted from 0, in presentation order.
    package init(sourceOf index: String, frame: Int?) {
        text = "source-\(index.prefix(16))-\(frame.map(String.init) ?? "filmstrip").jpg"
    }

    /// A frame of an output.
    ///
    /// - Parameter plan: the number of the job's plan.
    package init(outputOf plan: Int, frame: Int) { text = "output-\(plan)-\(frame).jpg" }

    /// Frames of an output side by side.
    ///
    /// - Parameters:
    ///   - plan: the number of the job's plan.
    ///   - isThere: for each place of the filmstrip, whether it shows a frame.
    package init(outputOf plan: Int, filmstrip isThere: [Bool]) {
        text = "output-\(plan)-filmstrip-\(isThere.map { $0 ? "1" : "0" }.joined()).jpg"
    }
}

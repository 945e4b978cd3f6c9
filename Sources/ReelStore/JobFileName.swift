package import ReelCore

/// The name of a file or folder in a job's folder. All names there are made and parsed here, except the names of
/// segments.
enum JobFileName: Hashable {
    case record
    /// A plan, by its number.
    case plan(Int)
    /// The verified result.
    case output(Container)
    /// An output that release 0.1.0 had not verified yet: "assembling.TOKEN.CONTAINER", with ".part" until it was
    /// whole.
    case assembling
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
        case .assembling: "assembling"
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

    private static let fixed: [JobFileName] = [
        .record, .lock, .recordLock, .segments, .assemblies, .attempts, .stage, .pictures,
    ]

    /// Parses a name; nil for names that no release's job folder has.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if let name = Self.fixed.first(where: { $0.text == text }) {
            self = name
        } else if parts.count == 3, parts[0] == "plan", let number = Int(parts[1]), number > 0 {
            self = .plan(number)
        } else if parts.count == 2, parts[0] == "output", let container = Container(rawValue: parts[1]) {
            self = .output(container)
        } else if (3...4).contains(parts.count), parts[0] == "assembling", Container(rawValue: parts[2]) != nil,
            parts.count == 3 || parts[3] == "part"
        {
            self = .assembling
            return
        } else if text.hasPrefix(Files.temporaryPrefix) {
            self = .temporary
            return
        } else {
            return nil
        }
        // A name that differs from its own `text` was not made here.
        guard self.text == text else { return nil }
    }

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

    /// Small frames of a source side by side.
    package init(sourceOf index: String, sheet: FrameSample) {
        text = "source-\(index.prefix(16))-\(sheet.first)-\(sheet.step)-\(sheet.count).jpg"
    }

    /// A frame of an output; `plan` is the number of the job's plan.
    package init(outputOf plan: Int, frame: Int) { text = "output-\(plan)-\(frame).jpg" }

    /// Frames of an output side by side: for each place of the filmstrip, whether it shows a frame.
    package init(outputOf plan: Int, filmstrip isThere: [Bool]) {
        text = "output-\(plan)-filmstrip-\(isThere.map { $0 ? "1" : "0" }.joined()).jpg"
    }

    /// A proxy of the source or the output, as a side of pictures is named.
    package init(proxyOf side: String, plan: Int) { text = "\(side)-proxy-\(plan).mp4" }
}

package import ArgumentParser
package import Foundation
package import ReelCore
package import ReelJobs
package import ReelStore
package import ReelWords

/// Options that describe the output, and options that shape the work. What each takes and means is in the table of a
/// request's options, `OutputRequest.Field.option`.
package struct SpecOptions: ParsableArguments {
    @Option(help: .of(.from), transform: Position.read) var from: Position?
    @Option(help: .of(.to), transform: Position.read) var to: Position?
    @Option(help: .of(.play, usual: "reverse; with --stitch forward")) var play: Play?
    @Option(help: .of(.rewind), transform: Rewinds.read) var rewind: Rewinds?
    @Option(help: .of(.times, usual: nil)) var times = 1
    @Option(help: .of(.speed), transform: Speed.read) var speed: Speed?
    @Flag(help: .of(.stitch)) var stitch = false
    @Option(help: .of(.size), transform: PictureSize.read) var size: PictureSize?
    @Option(help: .of(.crf), transform: Quality.read) var crf: Quality?
    @Option(help: .of(.maxSize), transform: ByteSize.read) var maxSize: ByteSize?
    @Option(name: .customLong("for"), help: .of(.purpose)) var purpose: Purpose?
    @Flag(help: .of(.lossless)) var lossless = false
    @Option(help: .of(.audio, usual: nil)) var audio: AudioMode = .reverse
    @OptionGroup(title: HelpText.Section.edits.rawValue) var edits: EditOptions
    @OptionGroup(title: HelpText.Section.format.rawValue) var format: FormatOptions
    @OptionGroup(title: HelpText.Section.work.rawValue) var work: WorkOptions

    package init() {}

    package func validate() throws { try RequestNames.explained { try request.check() } }

    package var request: OutputRequest {
        var request = OutputRequest()
        request.purpose = purpose
        request.videoCodec = format.videoCodec
        request.crf = crf
        request.preset = format.preset
        request.profile = format.profile
        request.bitrate = format.bitrate
        request.maxSize = maxSize
        request.lossless = lossless
        request.audio = audio
        request.audioCodec = format.audioCodec
        request.audioBitrate = format.audioBitrate
        request.tracks = format.tracks
        request.from = from
        request.to = to
        request.duration = edits.duration
        request.play = play
        request.rewind = rewind
        request.times = times
        request.speed = speed
        request.turn = edits.turn
        request.crossfade = edits.crossfade
        request.stitch = stitch
        request.trim = edits.trim
        request.soundtrack = edits.soundtrack
        request.soundtrackFrom = edits.soundtrackFrom
        request.lenient = edits.lenient
        request.size = size
        request.pixelFormat = format.pixelFormat
        request.sampleRate = format.sampleRate
        request.channelLayout = format.channelLayout
        request.fps = format.fps
        request.loop = format.loop
        request.dither = format.dither
        request.fit = format.fit
        request.colors = format.colors
        request.timestamps = format.timestamps
        request.passFrames = work.passFrames
        request.memory = work.memory
        request.threads = work.threads
        request.verify = work.verify
        request.onDamage = work.onDamage
        return request
    }

    /// A draft for each output that a command's arguments ask for, as `OutputRequest.drafts` makes them. Throws a usage
    /// error for options that do not go with them.
    ///
    /// - Parameter refused: gets the failure of each argument that cannot be a draft.
    package func drafts(of arguments: [String], refused: (ReelFailure) throws -> Void) throws -> [JobDraft] {
        try RequestNames.explained { try request.drafts(of: arguments, refused: refused) }
    }
}

/// Options that shape an edit, or one clip of it.
struct EditOptions: ParsableArguments {
    @Option(help: .of(.duration), transform: Position.read) var duration: Position?
    @Option(help: .of(.turn)) var turn: Turn?
    @Option(help: .of(.crossfade), transform: ClockTime.read) var crossfade: ClockTime?
    @Option(help: .of(.trim, usual: "none; with --stitch shared")) var trim: Trim?
    @Option(help: .of(.soundtrack), completion: .file()) var soundtrack: String?
    @Option(help: .of(.soundtrackFrom), transform: ClockTime.read) var soundtrackFrom: ClockTime?
    @Flag(help: .of(.lenient)) var lenient = false
}

/// Options of the form of pictures and sound.
struct FormatOptions: ParsableArguments {
    @Option(
        help: .of(.videoCodec),
        completion: .list(
            ["copy"] + EncoderTraits.all.filter(\.isListed).flatMap { [$0.name, $0.codec] }.removingRepeats))
    var videoCodec: String?
    @Option(help: .of(.preset)) var preset: String?
    @Option(help: .of(.profile)) var profile: String?
    @Option(help: .of(.bitrate), transform: BitRate.read) var bitrate: BitRate?
    @Option(
        help: .of(.audioCodec),
        completion: .list(AudioEncoderTraits.all.flatMap { [$0.name, $0.codec] }.removingRepeats)
    )
    var audioCodec: String?
    @Option(help: .of(.audioBitrate), transform: AudioBitRate.read) var audioBitrate: AudioBitRate?
    @Option(help: .of(.tracks), transform: TrackSelection.read) var tracks: TrackSelection?
    @Option(help: .of(.pixelFormat)) var pixelFormat: String?
    @Option(help: .of(.sampleRate)) var sampleRate: Int?
    @Option(help: .of(.channelLayout)) var channelLayout: String?
    @Option(help: .of(.fps), transform: FrameRate.read) var fps: FrameRate?
    @Option(help: .of(.loop), transform: Plays.read) var loop: Plays?
    @Option(help: .of(.fit)) var fit: Fit?
    @Option(help: .of(.dither)) var dither: Dither?
    @Option(help: .of(.colors)) var colors: Int?
    @Option(help: .of(.timestamps, usual: nil)) var timestamps: TimestampMode = .mirror
}

/// Options of how the work is done.
struct WorkOptions: ParsableArguments {
    @Option(help: .of(.passFrames)) var passFrames: Int?
    @Option(help: .of(.memory), transform: ByteSize.read) var memory: ByteSize?
    @Option(help: .of(.threads), transform: ThreadCount.read) var threads: ThreadCount?
    @Option(help: .of(.verify, usual: nil)) var verify: VerifyMode = .packets
    @Option(help: .of(.onDamage, usual: nil)) var onDamage: DamageMode = .repeat
}

extension RequestNames {
    /// As options of a command line: "--play", "--play ping-pong".
    package static let commandLine = RequestNames { field, value in
        "--" + field.rawValue.hyphenated + (value.map { " " + $0 } ?? "")
    }

    /// Makes a usage error of a fault of a request.
    static func explained<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let fault as RequestFault { throw ValidationError(fault.words(.commandLine)) }
    }
}

extension ArgumentHelp {
    /// The help of an option of a request, with its default.
    package static func of(_ field: OutputRequest.Field) -> ArgumentHelp { of(field, usual: field.option.usual) }

    /// The same with other words for the default; nil if the parser itself adds them.
    package static func of(_ field: OutputRequest.Field, usual: String?) -> ArgumentHelp {
        let option = field.option
        return ArgumentHelp(option.help + (usual.map { " Default: \($0)." } ?? ""), valueName: option.valueName)
    }
}

extension ExplainedArgument {
    /// The transformation for an option of this type. Throws a `ValidationError` that says what is valid.
    package static func read(_ text: String) throws -> Self {
        guard let value = Self(text) else { throw ValidationError("it takes \(forms)") }
        return value
    }
}

extension ByteSize: ExpressibleByArgument { package init?(argument: String) { self.init(argument) } }

extension AudioMode: ExpressibleByArgument {}
extension Container: ExpressibleByArgument {}
extension TimestampMode: ExpressibleByArgument {}
extension VerifyMode: ExpressibleByArgument {}
extension DamageMode: ExpressibleByArgument {}
extension Play: ExpressibleByArgument {}
extension Purpose: ExpressibleByArgument {}
extension Turn: ExpressibleByArgument {}
extension Trim: ExpressibleByArgument {}
extension Dither: ExpressibleByArgument {}
extension Fit: ExpressibleByArgument {}

extension [String] {
    /// Each text once, at its first place.
    package var removingRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

/// A submitter's notes on jobs. They change neither the jobs' output nor their ids.
package struct SubmissionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A name for the jobs in lists. Submitting a job again with a name or labels replaces both.",
            valueName: "text"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A label, as project=trailer, by which lists and commands choose jobs; several times for several.",
            valueName: "name=value"))
    var label: [String] = []

    package init() {}

    package func validate() throws {
        if let name, !Submission.isText(name) {
            throw ValidationError(
                "--name takes 1 to 100 characters without line breaks or tabs, as \"Trailer, take 3\"")
        }
        try LabelOption.explained { () throws(LabelFault) in try Submission.check(labels: Submission.labels(label)) }
    }

    /// With this process's user as the submitter.
    package var submission: Submission { .byThisUser(name: name, labels: (try? LabelOption.labels(label)) ?? [:]) }
}

package enum LabelOption {
    package static func labels(_ arguments: [String]) throws -> [String: String] {
        try explained { () throws(LabelFault) in try Submission.labels(arguments) }
    }

    static func explained<Result>(_ read: () throws(LabelFault) -> Result) throws -> Result {
        do throws(LabelFault) { return try read() } catch {
            switch error {
            case .malformed(let text):
                throw ValidationError(
                    "--label takes NAME=VALUE, as project=trailer: NAME has 1 to 40 letters, digits, '.', '-' and '_', "
                        + "VALUE 1 to 100 characters without line breaks or tabs; it is \(text)")
            case .repeated(let name): throw ValidationError("--label \(name) is given twice")
            case .tooMany(let count):
                throw ValidationError("a job has \(Submission.mostLabels) labels at most; these are \(count)")
            }
        }
    }
}

/// Options of a job that shares board and store with others. They do not change its output.
package struct TermsOptions: ParsableArguments {
    @Option(help: "Share of the work beside other jobs: 3 gets three times as much as 1.") var weight = 1.0
    @Option(help: .of(.retain), transform: TimeSpan.read) var retain: TimeSpan?
    @Flag(help: .of(.keepSegments)) var keepSegments = false
    @Flag(help: "Copy the video into the store, for workers that do not see it where it is.") package var stage = false

    package var terms: JobTerms {
        JobTerms(weight: weight, retain: Double((retain ?? .week).seconds), keepsSegments: keepSegments)
    }

    package init() {}

    package func validate() throws { try TermsOptions.check(weight: weight) }

    /// Throws `ValidationError` for a weight that no job can have.
    package static func check(weight: Double) throws {
        guard JobTerms.weights.contains(weight) else { throw ValidationError("--weight must be 0.001 to 1000") }
    }
}

/// A moment in the past as users write it: a span of time before now ("2h"), a day ("2026-11-26"), or a time of a day
/// ("2026-11-26T18:30"), by the time zone of this machine.
package struct Moment: Hashable, Sendable {
    package var seconds: Double

    /// Parses a moment. Nil for anything else, and for a day or time that does not exist.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, from which a span counts back.
    ///   - zone: the time zone of days and times.
    package init?(_ text: String, now: Double, in zone: TimeZone = .current) {
        if let span = TimeSpan(text) {
            seconds = now - Double(span.seconds)
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.isLenient = false
        for format in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss"]
        where text.count == Moment.length(format) {
            formatter.dateFormat = format
            guard let date = formatter.date(from: text), formatter.string(from: date) == text else { continue }
            seconds = date.timeIntervalSince1970
            return
        }
        return nil
    }

    private static func length(_ format: String) -> Int { format.count { $0 != "'" } }
}

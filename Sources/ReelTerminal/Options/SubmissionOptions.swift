internal import ArgumentParser
package import Foundation
internal import ReelJobs
package import ReelStore
internal import ReelWords

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
        do throws(LabelFault) {
            return try read()
        } catch {
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

internal import ArgumentParser
internal import ReelJobs
package import ReelStore

/// What a submitter says of jobs; it does not change their output, nor their ids.
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

    /// For ArgumentParser.
    package init() {}

    /// Throws `ValidationError` for a name or labels that no job can have.
    package func validate() throws {
        if let name, !Submission.isText(name) {
            throw ValidationError(
                "--name takes 1 to 100 characters without line breaks or tabs, as \"Trailer, take 3\"")
        }
        try LabelOption.explained { () throws(LabelFault) in
            try Submission.check(labels: Submission.labels(label))
        }
    }

    /// What the options say, as this process's user.
    package var submission: Submission {
        .byThisUser(name: name, labels: (try? LabelOption.labels(label)) ?? [:])
    }
}

/// How --label is read.
package enum LabelOption {
    /// The labels by name. Throws if one is malformed, or if two have the same name.
    package static func labels(_ arguments: [String]) throws -> [String: String] {
        try explained { () throws(LabelFault) in try Submission.labels(arguments) }
    }

    /// Makes a usage error of a fault.
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

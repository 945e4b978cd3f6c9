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
        let labels = try LabelOption.labels(label)
        guard labels.count <= Submission.mostLabels else {
            throw ValidationError("a job has \(Submission.mostLabels) labels at most; these are \(labels.count)")
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
        var labels: [String: String] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, Submission.isLabelName(parts[0]), Submission.isText(parts[1]) else {
                throw ValidationError(
                    "--label takes NAME=VALUE, as project=trailer: NAME has 1 to 40 letters, digits, '.', '-' and '_', "
                        + "VALUE 1 to 100 characters without line breaks or tabs; it is \(argument)")
            }
            guard labels.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw ValidationError("--label \(parts[0]) is given twice")
            }
        }
        return labels
    }
}

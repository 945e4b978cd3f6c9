package import ReelStore

/// Why texts are not the labels of a job.
package enum LabelFault: Error, Hashable, Sendable {
    /// A text that is not NAME=VALUE, or whose name or value no label can have.
    case malformed(String)
    /// Two labels have this name.
    case repeated(name: String)
    /// A job cannot have this number of labels.
    case tooMany(Int)
}

extension Submission {
    /// Reads labels such as "project=trailer"; the result has them by name. There may be more than a job can have, since
    /// filters read theirs likewise.
    package static func labels(_ texts: [String]) throws(LabelFault) -> [String: String] {
        var labels: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, isLabelName(parts[0]), isText(parts[1]) else { throw .malformed(text) }
            guard labels.updateValue(parts[1], forKey: parts[0]) == nil else { throw .repeated(name: parts[0]) }
        }
        return labels
    }

    /// Throws if a job cannot have these labels.
    package static func check(labels: [String: String]) throws(LabelFault) {
        guard labels.count <= mostLabels else { throw .tooMany(labels.count) }
    }
}

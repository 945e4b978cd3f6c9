/// What a submitter says of a job. The output does not depend on it, and neither does the job's id.
package struct Submission: Hashable, Codable, Sendable {
    /// What people call the job; nil if it has no name.
    package var name: String?
    /// Values by name, by which people find the job among others.
    package var labels: [String: String]
    /// The user and the host, as "alice@edit-2"; nil if unknown.
    package var submitter: String?

    /// A submission whose name and labels keep the rules of `isText` and `isLabelName`.
    package init(name: String? = nil, labels: [String: String] = [:], submitter: String? = nil) {
        self.name = name
        self.labels = labels
        self.submitter = submitter
    }

    /// The most labels of a job.
    package static let mostLabels = 16

    /// Whether a text can be the name of a job or the value of a label: 1 to 100 characters, none that controls the
    /// screen.
    package static func isText(_ text: String) -> Bool {
        (1...100).contains(text.count) && text.utf8.count <= 400
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Whether a text can be the name of a label: 1 to 40 of the letters a to z in both cases, digits, ".", "-" and "_".
    package static func isLabelName(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// This submission of a job that was submitted before: if it says neither a name nor labels, those from before are kept.
    package func after(_ earlier: Submission?) -> Submission {
        guard let earlier, name == nil, labels.isEmpty else { return self }
        return Submission(name: earlier.name, labels: earlier.labels, submitter: submitter)
    }

    package enum CodingKeys: String, CodingKey {
        case name, labels, submitter
    }
}

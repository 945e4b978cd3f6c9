internal import HTTPTypes

extension HTTPField.Name {
    /// A name that this program spells out: letters and hyphens.
    init(known text: StaticString) {
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no name of a field") }
        self = name
    }
}

internal import Foundation
internal import ReelCore

extension OutputRequest {
    /// Reads an object of options by their names; an option that is null or missing has its usual value.
    ///
    /// Throws a `FlawedPlace` if it is no object, if no option has one of the names, or if a value is a list or an object, and a
    /// `RequestFault` for a value that its option does not take: another kind of value, a text in none of its forms, or what
    /// `check` refuses.
    ///
    /// - Parameter fields: the options that may be there.
    package init(_ place: JSONPlace, knows fields: [Field]) throws {
        let values = try place.object(knows: fields.map(\.rawValue).sorted()).places
        for field in fields {
            guard let value = values[field.rawValue] else { continue }
            try take(value, as: field)
        }
        try check()
    }

    private mutating func take(_ value: JSONPlace, as field: Field) throws {
        let option = field.option
        let text: String
        switch (value.value, option.form) {
        case (.null, _), (.flag(false), .flag): return
        case (.flag(true), .flag): text = ""
        case (.flag(let flag), _): throw RequestFault(field, .malformed("\(flag)"))
        case (.text(let found), .flag): throw RequestFault(field, .malformed(found))
        case (.text(let found), _): text = found
        case (.number(let number), let form):
            text = "\(number)"
            guard form.takesNumbers else { throw RequestFault(field, .malformed(text)) }
        case (.object, _), (.list, _): throw value.malformed(.text)
        }
        guard option.read(&self, text) else { throw RequestFault(field, .malformed(text)) }
    }
}

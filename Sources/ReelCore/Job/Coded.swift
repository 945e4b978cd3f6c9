#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A case with a stable code and facts. In JSON it is an object whose only key is the code, with the facts under it.
///
/// The code is the case's name in lower case, with hyphens ("no-video"); the facts are named as in Swift. So neither is
/// ever renamed: golden files hold them fast.
package protocol Coded: Codable, Hashable, Sendable {}

extension FailureReason: Coded {}
extension Diagnostic: Coded {}

extension Coded {
    /// The code as it is stored.
    package var code: String {
        // Only a case with facts has children: one, whose label is the case's name.
        (Mirror(reflecting: self).children.first?.label ?? "\(self)").hyphenated
    }

    /// The facts as they are stored: an object with their names as keys.
    package var facts: JSONValue {
        let stored = try? JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(self))
        return stored?[code] ?? .object([:])
    }
}

/// The codes of an enumeration in JSON: the names of its cases in lower case, with hyphens.
package protocol CodeKey: CodingKey, CaseIterable, RawRepresentable where RawValue == String {}

extension CodeKey {
    /// The code as it is stored.
    package var stringValue: String { rawValue.hyphenated }

    /// Nil for a text that is no code.
    package init?(stringValue: String) {
        // Lengths are compared first, since a code is made anew for each comparison.
        let length = stringValue.utf8.count { $0 != UInt8(ascii: "-") }
        let key = Self.allCases.first { $0.rawValue.utf8.count == length && $0.stringValue == stringValue }
        guard let key else { return nil }
        self = key
    }
}

extension String {
    /// A Swift name in lower case, with a hyphen before each word but the first: "sourceIsURL" becomes "source-is-url",
    /// "outputNotAFile" "output-not-a-file".
    fileprivate var hyphenated: String {
        let letters = Array(utf8)
        let isCapital = letters.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        var code: [UInt8] = []
        for (place, letter) in letters.enumerated() {
            let next = place + 1
            let endsCapitals = next < letters.count && !isCapital[next]
            if isCapital[place], place > 0, !isCapital[place - 1] || endsCapitals { code.append(UInt8(ascii: "-")) }
            code.append(isCapital[place] ? letter + 32 : letter)
        }
        return String(decoding: code, as: UTF8.self)
    }
}

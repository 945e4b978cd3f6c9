internal import Foundation
package import ReelCore
internal import ReelWords

/// A place of an edit's file or of a request's body, and what is wrong there.
package struct FlawedPlace: Error {
    /// As people read it: "clips[3].from".
    package var place: String
    /// As programs read it (RFC 6901): "/clips/3/from".
    package var pointer: String
    package var flaw: EditFlaw
}

/// A value in an edit's file or in a request's body, which knows its place.
package struct JSONPlace {
    package let value: JSONValue
    package let place: String
    package let pointer: String

    package init(_ value: JSONValue) { self.init(value, at: "", pointer: "") }

    private init(_ value: JSONValue, at place: String, pointer: String) {
        self.value = value
        self.place = place
        self.pointer = pointer
    }

    fileprivate func value(_ value: JSONValue, of key: String) -> JSONPlace {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return JSONPlace(value, at: place.isEmpty ? key : "\(place).\(key)", pointer: "\(pointer)/\(escaped)")
    }

    package func flaw(_ flaw: EditFlaw) -> FlawedPlace { FlawedPlace(place: place, pointer: pointer, flaw: flaw) }

    package func malformed(_ wanted: EditForm) -> FlawedPlace { flaw(.malformed(wanted: wanted)) }

    /// An object whose keys are all known; nil allows any.
    package func object(knows keys: [String]? = nil) throws -> JSONObject {
        guard case .object(let values) = value else { throw malformed(.object) }
        if let keys, let unknown = values.keys.sorted().first(where: { !keys.contains($0) }) {
            throw value(.null, of: unknown).flaw(.unknownKey(known: keys))
        }
        let places = values.map { ($0.key, value($0.value, of: $0.key)) }
        return JSONObject(places: Dictionary(uniqueKeysWithValues: places), whole: self)
    }

    package func list() throws -> [JSONPlace] {
        guard case .array(let values) = value else { throw malformed(.list) }
        return values.enumerated().map {
            JSONPlace($0.element, at: "\(place)[\($0.offset)]", pointer: "\(pointer)/\($0.offset)")
        }
    }

    package func text() throws -> String {
        guard case .string(let text) = value, !text.isEmpty else { throw malformed(.text) }
        return text
    }

    package func flag() throws -> Bool {
        guard case .bool(let flag) = value else { throw malformed(.flag) }
        return flag
    }

    func word(among words: [String]) throws -> String {
        guard case .string(let text) = value, words.contains(text) else { throw malformed(.word(words: words)) }
        return text
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) throws -> Word {
        let word = try word(among: Word.allCases.map(\.rawValue))
        guard let known = Word(rawValue: word) else { throw malformed(.word(words: [word])) }
        return known
    }

    func count(_ allowed: ClosedRange<Int>) throws -> Int {
        guard let number = number, number.denominator == 1, let count = Int(exactly: number.numerator),
            allowed.contains(count)
        else { throw malformed(.count(least: allowed.lowerBound, most: allowed.upperBound)) }
        return count
    }

    func ratio(_ allowed: ClosedRange<Rational>) throws -> Rational {
        guard let ratio = number ?? fraction, allowed.contains(ratio) else {
            throw malformed(.ratio(least: allowed.lowerBound, most: allowed.upperBound))
        }
        return ratio
    }

    /// Seconds.
    func time() throws -> Rational {
        guard let time = number ?? fraction ?? clock else { throw malformed(.time) }
        return time
    }

    /// Seconds, more than 0.
    func duration() throws -> Rational {
        guard let time = number ?? fraction ?? clock, time > Rational(0) else { throw malformed(.duration) }
        return time
    }

    /// A moment of a video.
    func position() throws -> Position {
        guard let position = anyPosition else { throw malformed(.position) }
        return position
    }

    /// A length of a video, more than 0.
    func length() throws -> Position {
        guard let length = anyPosition, !length.isZero else { throw malformed(.length) }
        return length
    }

    private var anyPosition: Position? {
        if let seconds = number ?? fraction { return .seconds(seconds) }
        guard case .string(let text) = value else { return nil }
        return Position(text)
    }

    /// A number as a double has it.
    package func double() throws -> Double {
        // Foundation's own conversion does not round correctly.
        guard case .number(let number) = value, let double = Double("\(number)"), double.isFinite else {
            throw malformed(.number)
        }
        return double
    }

    /// A number as its decimal text, exactly; nil for anything else and for negative numbers.
    private var number: Rational? {
        guard case .number(let number) = value else { return nil }
        return ClockTime("\(number)")?.seconds
    }

    private var fraction: Rational? {
        guard case .string(let text) = value, let ratio = Rational(text), ratio >= Rational(0),
            ratio < Rational(1_000_000_000), ratio.denominator <= 1_000_000_000
        else { return nil }
        return ratio
    }

    private var clock: Rational? {
        guard case .string(let text) = value else { return nil }
        return ClockTime(text)?.seconds
    }
}

package struct JSONObject {
    package let places: [String: JSONPlace]
    fileprivate let whole: JSONPlace

    package subscript(key: String) -> JSONPlace? { places[key] }

    package func known(_ key: String) -> JSONPlace? {
        guard let place = places[key] else { return nil }
        if case .null = place.value { return nil }
        return place
    }

    package func required(_ key: String) throws -> JSONPlace {
        guard let place = known(key) else { throw missing(key) }
        return place
    }

    package func missing(_ key: String) -> FlawedPlace { whole.value(.null, of: key).flaw(.missing) }
}

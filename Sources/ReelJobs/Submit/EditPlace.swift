internal import Foundation
internal import ReelCore
internal import ReelWords

/// Any JSON value. Numbers are decimal, as they are written. Of metadata, which may take most of a timeline's file, only
/// reel's own are read.
enum EditJSON: Codable {
    case object([String: EditJSON])
    case list([EditJSON])
    case text(String)
    case number(Decimal)
    case flag(Bool)
    case null

    init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
            var object: [String: EditJSON] = [:]
            for key in keyed.allKeys {
                object[key.stringValue] =
                    key.stringValue == EditJSON.metadata
                    ? try .metadata(in: keyed) : try keyed.decode(EditJSON.self, forKey: key)
            }
            self = .object(object)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [EditJSON] = []
            while !list.isAtEnd { values.append(try list.decode(EditJSON.self)) }
            self = .list(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if let text = try? single.decode(String.self) {
            self = .text(text)
        } else if let flag = try? single.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? single.decode(Decimal.self) {
            self = .number(number)
        } else {
            // A number may be beyond all that decimals hold.
            self = single.decodeNil() ? .null : .number(.nan)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .object(let object): try single.encode(object)
        case .list(let list): try single.encode(list)
        case .text(let text): try single.encode(text)
        case .number(let number): try single.encode(number)
        case .flag(let flag): try single.encode(flag)
        case .null: try single.encodeNil()
        }
    }

    /// The key of an object that holds what programs note about it, and the key of reel's own notes therein.
    static let (metadata, ownNotes) = ("metadata", "reel")

    private static func metadata(in keyed: KeyedDecodingContainer<AnyKey>) throws -> EditJSON {
        guard let notes = try? keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(metadata)) else {
            return .null
        }
        let own = try notes.decodeIfPresent(EditJSON.self, forKey: AnyKey(ownNotes))
        return .object(own.map { [ownNotes: $0] } ?? [:])
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ key: String) { stringValue = key }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A place of an edit's file, and what is wrong there.
struct FlawedPlace: Error {
    var place: String
    var flaw: EditFlaw
}

/// A value in an edit's file, which knows its place.
struct EditPlace {
    let value: EditJSON
    let place: String

    init(_ value: EditJSON, at place: String = "") {
        self.value = value
        self.place = place
    }

    func flaw(_ flaw: EditFlaw) -> FlawedPlace { FlawedPlace(place: place, flaw: flaw) }

    func malformed(_ wanted: EditForm) -> FlawedPlace { flaw(.malformed(wanted: wanted)) }

    /// An object whose keys are all known; nil allows any.
    func object(knows keys: [String]? = nil) throws -> EditObject {
        guard case .object(let values) = value else { throw malformed(.object) }
        let prefix = place.isEmpty ? "" : place + "."
        if let keys, let unknown = values.keys.sorted().first(where: { !keys.contains($0) }) {
            throw FlawedPlace(place: prefix + unknown, flaw: .unknownKey(known: keys))
        }
        let places = values.map { ($0.key, EditPlace($0.value, at: prefix + $0.key)) }
        return EditObject(places: Dictionary(uniqueKeysWithValues: places), prefix: prefix)
    }

    func list() throws -> [EditPlace] {
        guard case .list(let values) = value else { throw malformed(.list) }
        return values.enumerated().map { EditPlace($0.element, at: "\(place)[\($0.offset)]") }
    }

    func text() throws -> String {
        guard case .text(let text) = value, !text.isEmpty else { throw malformed(.text) }
        return text
    }

    func flag() throws -> Bool {
        guard case .flag(let flag) = value else { throw malformed(.flag) }
        return flag
    }

    func word(among words: [String]) throws -> String {
        guard case .text(let text) = value, words.contains(text) else { throw malformed(.word(words: words)) }
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
        guard case .text(let text) = value else { return nil }
        return Position(text)
    }

    /// A number as a double has it.
    func double() throws -> Double {
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
        guard case .text(let text) = value, let ratio = Rational(text), ratio >= Rational(0),
            ratio < Rational(1_000_000_000), ratio.denominator <= 1_000_000_000
        else { return nil }
        return ratio
    }

    private var clock: Rational? {
        guard case .text(let text) = value else { return nil }
        return ClockTime(text)?.seconds
    }
}

/// An object of an edit's file.
struct EditObject {
    let places: [String: EditPlace]
    let prefix: String

    subscript(key: String) -> EditPlace? { places[key] }

    /// The value of a key; nil if it is missing or null.
    func known(_ key: String) -> EditPlace? {
        guard let place = places[key] else { return nil }
        if case .null = place.value { return nil }
        return place
    }

    func required(_ key: String) throws -> EditPlace {
        guard let place = known(key) else { throw FlawedPlace(place: prefix + key, flaw: .missing) }
        return place
    }
}

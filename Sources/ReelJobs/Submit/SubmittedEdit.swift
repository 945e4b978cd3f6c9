internal import Foundation
public import ReelCore
internal import ReelWords

/// An edit and the files that it is made of, as a user names them: by an edit's file, or as files to be stitched.
public struct SubmittedEdit: Hashable, Sendable {
    /// Absolute paths of the sources, each once, in the order in which the clips name them first.
    public private(set) var sources: [String] = []
    /// The place of each path in `sources`.
    private var places: [String: Int] = [:]
    /// The edit, whose clips name sources by their index.
    public private(set) var edit = Edit(clips: [])

    /// The extension of an edit's file.
    public static let fileExtension = "json"
    /// The most bytes that an edit's file may have.
    static let mostBytes: Int64 = 32 << 20

    /// Whether a path names an edit's file rather than a video.
    public static func isFile(_ path: String) -> Bool {
        URL(fileURLWithPath: path).pathExtension.lowercased() == fileExtension
    }

    /// Whole files, one after the other, trimmed to what each has of video and sound.
    ///
    /// - Parameters:
    ///   - clip: how each is played; its source and title are set here.
    ///   - turn: how clips turn round.
    ///   - crossfade: seconds; nil for the usual.
    public init(
        stitching files: [String], as clip: EditClip, turn: Turn, crossfade: Rational?, trim: Trim = .shared
    ) {
        var clips: [EditClip] = []
        for file in files {
            var clip = clip
            let path = URL(fileURLWithPath: file).standardizedFileURL.path
            (clip.source, clip.title) = (index(of: path), SubmittedEdit.title(of: path))
            clips.append(clip)
        }
        edit = Edit(clips: clips, turn: turn, crossfade: crossfade, trim: trim)
    }

    /// Reads an edit's file. Throws `.editFlawed` (`.input`) with the place of what cannot be done, and `.input` if the file
    /// cannot be read.
    public init(file path: String) throws(ReelFailure) {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        let value: JSONValue
        do {
            let size = (try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64) ?? 0
            guard size <= SubmittedEdit.mostBytes else {
                throw ReelFailure(.editFlawed(path: path, place: "", flaw: .tooLong(bytes: SubmittedEdit.mostBytes)))
            }
            value = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: url))
        } catch let failure as ReelFailure {
            throw failure
        } catch let error as DecodingError {
            throw ReelFailure(.editFlawed(path: path, place: "", flaw: .notJSON(said: SubmittedEdit.words(of: error))))
        } catch {
            throw ReelFailure(
                .sourceUnreadable(path: url.path, errno: (error as? POSIXError)?.code.rawValue ?? ENOENT, passes: false)
            )
        }
        let folder = url.deletingLastPathComponent()
        do {
            let object = try EditPlace(value).object(knows: ["clips", "turn", "crossfade", "trim"])
            let list = try object.required("clips").list()
            guard (1...Edit.mostClips).contains(list.count) else {
                throw FlawedPlace(place: "clips", flaw: .clipCount(found: list.count))
            }
            let clips = try list.map { try clip($0, in: folder) }
            guard clips.contains(where: { $0.source != nil }) else {
                throw FlawedPlace(place: "clips", flaw: .onlyGaps)
            }
            let repeats = clips.reduce(0) { $0 + $1.times }
            guard repeats <= Edit.mostClips else {
                throw FlawedPlace(place: "clips", flaw: .clipCount(found: repeats))
            }
            edit = Edit(
                clips: clips, turn: try object["turn"]?.word(of: Turn.self) ?? .once,
                crossfade: try object["crossfade"]?.time(),
                trim: try object["trim"]?.word(of: Trim.self) ?? .none)
        } catch let flawed as FlawedPlace {
            throw ReelFailure(.editFlawed(path: path, place: flawed.place, flaw: flawed.flaw))
        } catch {
            throw .of(error)
        }
    }

    private mutating func clip(_ place: EditPlace, in folder: URL) throws -> EditClip {
        let keys = ["source", "from", "to", "play", "times", "speed", "sound", "duration", "gap"]
        let object = try place.object(knows: keys)
        if let gap = object["gap"] {
            if let other = keys.first(where: { $0 != "gap" && object[$0] != nil }) {
                throw gap.flaw(.excludes(key: other))
            }
            return .gap(try gap.duration())
        }
        let source = try object.required("source")
        let path = URL(fileURLWithPath: try source.text(), relativeTo: folder).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path) else { throw source.flaw(.sourceMissing(path: path)) }
        var clip = EditClip(
            source: index(of: path), from: try object["from"]?.time(), to: try object["to"]?.time(), play: .forward,
            times: try object["times"]?.count(EditClip.timesAllowed) ?? 1,
            speed: try object["speed"]?.ratio(EditClip.speedsAllowed) ?? Rational(1),
            sound: try object["sound"]?.flag() ?? true, title: SubmittedEdit.title(of: path))
        if let from = clip.from, let to = clip.to, from >= to, let place = object["from"] {
            throw place.flaw(.rangeEmpty(from: from, to: to))
        }
        let freeze = "freeze"
        let play = try object["play"]?.word(among: Play.allCases.map(\.rawValue) + [freeze])
        if play == freeze {
            for key in ["times", "speed"] { if let other = object[key] { throw other.flaw(.excludes(key: freeze)) } }
            clip.still = try object.required("duration").duration()
        } else {
            if let duration = object["duration"] { throw duration.flaw(.excludes(key: "play: \(play ?? "forward")")) }
            clip.play = play.flatMap(Play.init) ?? .forward
        }
        return clip
    }

    private mutating func index(of path: String) -> Int {
        if let known = places[path] { return known }
        places[path] = sources.count
        sources.append(path)
        return sources.count - 1
    }

    /// The file's name without its extension.
    private static func title(of path: String) -> String {
        URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    }

    /// What the parser says of bytes that are not JSON.
    private static func words(of error: DecodingError) -> String {
        guard case .dataCorrupted(let context) = error else { return "\(error)" }
        let said = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return said ?? context.debugDescription
    }
}

/// Any JSON value. Numbers are decimal, as they are written.
private enum JSONValue: Decodable {
    case object([String: JSONValue])
    case list([JSONValue])
    case text(String)
    case number(Decimal)
    case flag(Bool)
    case null

    init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
            var object: [String: JSONValue] = [:]
            for key in keyed.allKeys { object[key.stringValue] = try keyed.decode(JSONValue.self, forKey: key) }
            self = .object(object)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
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
            self = .null
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A place of an edit's file, and what is wrong there.
private struct FlawedPlace: Error {
    var place: String
    var flaw: EditFlaw
}

/// A value in an edit's file, which knows its place.
private struct EditPlace {
    private let value: JSONValue
    private let place: String

    init(_ value: JSONValue, at place: String = "") {
        self.value = value
        self.place = place
    }

    func flaw(_ flaw: EditFlaw) -> FlawedPlace { FlawedPlace(place: place, flaw: flaw) }

    private func malformed(_ wanted: EditForm) -> FlawedPlace { flaw(.malformed(wanted: wanted)) }

    func object(knows keys: [String]) throws -> EditObject {
        guard case .object(let values) = value else { throw malformed(.object) }
        let prefix = place.isEmpty ? "" : place + "."
        if let unknown = values.keys.sorted().first(where: { !keys.contains($0) }) {
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
private struct EditObject {
    let places: [String: EditPlace]
    let prefix: String

    subscript(key: String) -> EditPlace? { places[key] }

    func required(_ key: String) throws -> EditPlace {
        guard let place = places[key] else { throw FlawedPlace(place: prefix + key, flaw: .missing) }
        return place
    }
}

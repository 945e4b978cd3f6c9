internal import Foundation
package import ReelCore
internal import ReelWords

/// An edit and the files that it is made of, as a user names them: by an edit's file, or as files to be stitched.
package struct SubmittedEdit: Hashable, Sendable {
    /// Absolute paths of the sources, each once, in the order in which the clips name them first.
    package private(set) var sources: [String] = []
    private var places: [String: Int] = [:]
    /// The edit, whose clips name sources by their index.
    package private(set) var edit = Edit(clips: [])
    package private(set) var diagnostics: [Diagnostic] = []

    /// The extension of an edit's file; a timeline has another.
    static let fileExtension = "json"
    static let mostBytes: Int64 = 32 << 20

    /// Whether a path names an edit's file rather than a video.
    package static func isFile(_ path: String) -> Bool {
        !WebAddress.isWritten(path)
            && (isTimeline(path) || URL(fileURLWithPath: path).pathExtension.lowercased() == fileExtension)
    }

    /// Files that are played one after the other.
    ///
    /// - Parameters:
    ///   - shown: the clips of each; their source, and their title if they are to have one, are set here.
    ///   - crossfade: seconds; nil for the usual.
    package init(
        playing files: [String], as shown: [EditClip], titled: Bool, turn: Turn, crossfade: Rational?, trim: Trim
    ) {
        var clips: [EditClip] = []
        for file in files {
            let path = SubmittedEdit.place(file)
            let (source, title) = (index(of: path), titled ? SubmittedEdit.title(of: path) : nil)
            clips += shown.map { clip in
                var clip = clip
                (clip.source, clip.title) = (source, title)
                return clip
            }
        }
        edit = Edit(clips: clips, turn: turn, crossfade: crossfade, trim: trim)
    }

    /// Reads an edit's file, or a timeline of OpenTimelineIO. Throws `.editFlawed` (`.input`) with the place of what
    /// cannot be done, and `.input` if the file cannot be read.
    ///
    /// - Parameter isLenient: leave out what a timeline has and an edit cannot show, and report it in `diagnostics`.
    package init(file path: String, isLenient: Bool = false) throws(ReelFailure) {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        let isTimeline = SubmittedEdit.isTimeline(path)
        let value: JSONValue
        var content = Data()
        do {
            let size = (try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64) ?? 0
            let most = isTimeline ? SubmittedEdit.mostTimelineBytes : SubmittedEdit.mostBytes
            guard size <= most else {
                throw ReelFailure(.editFlawed(path: path, place: "", flaw: .tooLong(bytes: most)))
            }
            content = try Data(contentsOf: url)
            // Notes of other programs may take most of a timeline.
            let only = isTimeline ? [TimelineSchema.metadata: TimelineSchema.ownNotes] : [:]
            value = try JSONValue(content, within: .file, only: only)
        } catch let failure as ReelFailure {
            throw failure
        } catch let fault as JSONFault {
            let said = SubmittedEdit.words(fault, in: content)
            throw ReelFailure(.editFlawed(path: path, place: "", flaw: .notJSON(said: said)))
        } catch {
            throw ReelFailure(
                .sourceUnreadable(path: url.path, errno: (error as? POSIXError)?.code.rawValue ?? ENOENT, passes: false)
            )
        }
        let folder = url.deletingLastPathComponent()
        do {
            if isTimeline {
                try take(timeline: JSONPlace(value), in: folder, isLenient: isLenient)
            } else {
                try take(edit: JSONPlace(value)) { SubmittedEdit.place(try $0.text(), in: folder) }
            }
        } catch let flawed as FlawedPlace {
            throw ReelFailure(.editFlawed(path: path, place: flawed.place, flaw: flawed.flaw))
        } catch {
            throw .of(error)
        }
    }

    /// Reads an edit that is part of a request. Throws a `FlawedPlace` for what cannot be done, and what `path` throws.
    package init(_ value: JSONPlace, path: (JSONPlace) throws -> String) throws { try take(edit: value, path: path) }

    /// Takes the clips of an edit's own form. Throws a `FlawedPlace`, and what `path` throws.
    private mutating func take(edit value: JSONPlace, path: (JSONPlace) throws -> String) throws {
        let object = try value.object(knows: ["clips", "turn", "crossfade", "trim", "soundtrack"])
        let place = try object.required("clips")
        let list = try place.list()
        guard (1...Edit.mostClips).contains(list.count) else { throw place.flaw(.clipCount(found: list.count)) }
        let clips = try list.map { try clip($0, path: path) }
        guard clips.contains(where: { $0.source != nil }) else { throw place.flaw(.onlyGaps) }
        let repeats = clips.reduce(0) { $0 + $1.times }
        guard repeats <= Edit.mostClips else { throw place.flaw(.clipCount(found: repeats)) }
        edit = Edit(
            clips: clips, turn: try object["turn"]?.word(of: Turn.self) ?? .once,
            crossfade: try object["crossfade"]?.time(), trim: try object["trim"]?.word(of: Trim.self) ?? .none)
        if let soundtrack = try object["soundtrack"]?.object(knows: ["source", "from"]) {
            let source = try soundtrack.required("source")
            add(soundtrack: try SubmittedEdit.file(source, path), from: try soundtrack["from"]?.time() ?? Rational(0))
        }
    }

    /// Lets a file be heard instead of the clips' own sound, from a moment in seconds on.
    package mutating func add(soundtrack path: String, from: Rational) {
        edit.soundtrack = Soundtrack(source: index(of: SubmittedEdit.place(path)), from: from)
    }

    private mutating func clip(_ place: JSONPlace, path: (JSONPlace) throws -> String) throws -> EditClip {
        let keys = ["source", "from", "to", "play", "times", "speed", "sound", "duration", "gap"]
        let object = try place.object(knows: keys)
        if let gap = object["gap"] {
            if let other = keys.first(where: { $0 != "gap" && object[$0] != nil }) {
                throw gap.flaw(.excludes(key: other))
            }
            return .gap(try gap.duration())
        }
        let source = try object.required("source")
        let path = try SubmittedEdit.file(source, path)
        var clip = EditClip(
            source: index(of: path), from: try object["from"]?.position(), to: try object["to"]?.position(),
            play: .forward, times: try object["times"]?.count(EditClip.timesAllowed) ?? 1,
            speed: try object["speed"]?.ratio(EditClip.speedsAllowed) ?? Rational(1),
            sound: try object["sound"]?.flag() ?? true, title: SubmittedEdit.title(of: path))
        if let from = clip.from, let to = clip.to, from == to || to.precedes(from) == true, let place = object["from"] {
            throw place.flaw(.rangeEmpty(from: from, to: to))
        }
        let freeze = "freeze"
        let play = try object["play"]?.word(among: Play.allCases.map(\.rawValue) + [freeze])
        if play == freeze {
            for key in ["times", "speed"] { if let other = object[key] { throw other.flaw(.excludes(key: freeze)) } }
            clip.still = try object.required("duration").duration()
        } else {
            if let duration = object["duration"] {
                guard clip.to == nil else { throw duration.flaw(.excludes(key: "to")) }
                clip.duration = try duration.length()
            }
            clip.play = play.flatMap(Play.init) ?? .forward
        }
        return clip
    }

    /// A URL as it is, or the standardized path of a file, which counts from a folder.
    private static func place(_ text: String, in folder: URL? = nil) -> String {
        WebAddress.isWritten(text) ? text : URL(fileURLWithPath: text, relativeTo: folder).standardizedFileURL.path
    }

    /// A URL, or the standardized path of an existing file.
    private static func file(_ source: JSONPlace, _ path: (JSONPlace) throws -> String) throws -> String {
        let path = place(try path(source))
        guard !WebAddress.isWritten(path) else { return path }
        guard FileManager.default.fileExists(atPath: path) else { throw source.flaw(.sourceMissing(path: path)) }
        return path
    }

    private mutating func index(of path: String) -> Int {
        if let known = places[path] { return known }
        places[path] = sources.count
        sources.append(path)
        return sources.count - 1
    }

    static func title(of path: String) -> String {
        URL(fileURLWithPath: OutputChoice.fileName(of: path)).deletingPathExtension().lastPathComponent
    }

    /// What is wrong with the content of a file, and where. `JSONDecoder` does not tell.
    private static func words(_ fault: JSONFault, in content: Data) -> String {
        do {
            _ = try JSONSerialization.jsonObject(with: content)
            return fault == .notJSON ? "it cannot be decoded" : fault.description
        } catch {
            let said = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
            guard let place = said.firstMatch(of: /character (\d+)/).flatMap({ Int($0.1) }) else { return said }
            return "line \(content.prefix(place).count { $0 == UInt8(ascii: "\n") } + 1): \(said)"
        }
    }

    static let timelineExtension = "otio"
    /// The most bytes that a timeline's file may have: programs write much about each clip.
    static let mostTimelineBytes: Int64 = 64 << 20

    /// Whether a path names a timeline of OpenTimelineIO.
    package static func isTimeline(_ path: String) -> Bool {
        URL(fileURLWithPath: path).pathExtension.lowercased() == timelineExtension
    }

    /// Takes the clips of a timeline. Throws a `FlawedPlace`.
    ///
    /// - Parameter folder: that of the file, from which paths count.
    private mutating func take(timeline value: JSONPlace, in folder: URL, isLenient: Bool) throws {
        var reader = TimelineReader(isLenient: isLenient, locate: { SubmittedEdit.locate($0, in: folder) })
        let timeline = try reader.timeline(value)
        diagnostics = reader.diagnostics
        guard (1...Edit.mostClips).contains(timeline.items.count) else {
            throw value.flaw(.clipCount(found: timeline.items.count))
        }
        guard timeline.items.contains(where: { $0.media != nil }) else { throw value.flaw(.onlyGaps) }
        let clips = timeline.items.map { clip($0) }
        if let notes = timeline.notes, notes.edit.isSound(sources: sources.count), notes.items == timeline.items.digest
        {
            edit = notes.edit
        } else {
            edit = Edit(clips: clips)
        }
        if let timecode = timeline.timecode { edit.timecode = timecode.text }
    }

    private mutating func clip(_ item: TimelineItem) -> EditClip {
        guard let path = item.media else { return .gap(item.length) }
        let isFrozen = item.play == .freeze
        return EditClip(
            source: index(of: path), from: .seconds(item.start),
            to: isFrozen ? nil : .seconds(item.start + item.length), rule: .middle,
            play: item.play == .reverse ? .reverse : .forward, sound: item.isHeard,
            still: isFrozen ? item.length : nil, title: SubmittedEdit.title(of: path))
    }

    /// Finds media by their address: a path that counts from the folder, or a URL.
    private static func locate(_ address: String, in folder: URL) -> TimelineReader.MediaPlace {
        let exists = { (path: String) in FileManager.default.fileExists(atPath: path) }
        let path = { (text: String) in URL(fileURLWithPath: text, relativeTo: folder).standardizedFileURL.path }
        guard !address.contains("\0") else { return .missing(path: address) }
        if let file = address.prefixMatch(of: /(?i)file:(\/\/(localhost)?(?=\/))?(?!\/\/)/) {
            let encoded = String(address[file.range.upperBound...])
            guard let decoded = encoded.removingPercentEncoding, !decoded.contains("\0") else {
                return .missing(path: encoded)
            }
            return exists(path(decoded)) ? .file(path(decoded)) : .missing(path: path(decoded))
        }
        if address.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil { return .remote }
        // The library encodes relative paths as URLs, too; other programs do not.
        for text in [address, address.removingPercentEncoding ?? address] where !text.contains("\0") {
            if exists(path(text)) { return .file(path(text)) }
        }
        return .missing(path: path(address))
    }
}

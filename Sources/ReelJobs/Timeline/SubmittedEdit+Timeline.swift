internal import Foundation
internal import ReelCore

extension SubmittedEdit {
    /// The extension of a timeline's file.
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
    mutating func take(timeline value: JSONPlace, in folder: URL, isLenient: Bool) throws {
        var reader = TimelineReader(isLenient: isLenient) { SubmittedEdit.locate($0, in: folder) }
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

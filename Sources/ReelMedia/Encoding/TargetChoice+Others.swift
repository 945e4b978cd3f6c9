internal import ReelCore

/// What the output has beside video and sound needs no choice: its container holds it, or not.
extension TargetChoice {
    /// Gathers warnings of what the container cannot hold, or only otherwise.
    public mutating func checkOthers() {
        let kind = spec.container.rawValue
        for (number, text) in index.texts.enumerated() {
            let codec = text.parameters.codec
            guard let chosen = spec.container.textCodec(for: codec), chosen != codec else { continue }
            warnings.append("subtitles \(number): \(codec) becomes \(chosen)")
        }
        if !index.texts.isEmpty, spec.container.textCodec(for: "subrip") == nil {
            warnings.append("subtitles are left out: a .\(kind) file cannot hold them; write .mkv or .mp4")
        }
        if !index.chapters.isEmpty, !spec.container.holdsChapters {
            warnings.append("chapters are left out: a .\(kind) file cannot hold them; write .mkv or .mp4")
        }
        let tracks = (spec.audio == .none ? [] : index.audio.map(\.details)) + index.texts.map(\.parameters.details)
        let languages = Set(tracks.compactMap(\.language).filter { spec.container.language($0) == nil }).sorted()
        if !languages.isEmpty {
            warnings.append(
                "a language is lost: a .\(kind) file cannot say \(languages.joined(separator: ", ")); write .mkv")
        }
        let lost = index.attachments.filter { !spec.container.holds($0) }
        if !lost.isEmpty {
            let names = lost.map(\.fileName).joined(separator: ", ")
            warnings.append("attached files are left out: a .\(kind) file cannot hold \(names); write .mkv")
        }
        let tags = index.keptTags.map { $0.name.lowercased() }
        if !tags.isEmpty, !spec.container.holdsTags {
            let names = tags.joined(separator: ", ")
            warnings.append("tags are left out: a .\(kind) file cannot hold \(names)")
        }
        if tags.contains("timecode"), spec.container == .mp4, index.attachments.contains(where: spec.container.holds) {
            warnings.append("the timecode is left out: a .\(kind) file cannot hold one beside a cover; write .mkv")
        }
    }
}

extension SourceIndex {
    /// The tags of the file that an output keeps.
    var keptTags: [Tag] {
        let names: Set<String> = ["title", "artist", "album", "comment", "copyright", "date", "timecode"]
        return metadata.filter { names.contains($0.name.lowercased()) && !$0.value.isEmpty }
    }
}

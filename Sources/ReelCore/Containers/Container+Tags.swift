/// Which tags of a file an output keeps, and which of them its container stores.
extension SourceIndex {
    /// The tags of the file that an output keeps: what describes the recording, not the file in which it lies.
    ///
    /// - Parameter timecode: the start timecode that the output has instead of the file's; nil for the file's.
    package func keptTags(timecode: String?) -> [MetadataEntry] {
        let isMixed = Self.formatsWithFacts.contains(format)
        let names = Set(metadata.map(\.tag))
        let kept = metadata.filter { entry in
            guard !entry.value.isEmpty, !Self.factsOfFile.contains(entry.tag) else { return false }
            // MP4's demuxer says what has a language twice, as "location" and as "location-eng".
            if let dash = entry.tag.lastIndex(of: "-"), names.contains(String(entry.tag[..<dash])) { return false }
            return !isMixed || Self.commonTags.contains(entry.tag)
        }
        guard let timecode else { return kept }
        return kept.filter { $0.tag != "timecode" } + [MetadataEntry(name: "timecode", value: timecode)]
    }

    /// Tags that state facts of the file: its brands, and the program that wrote it.
    private static let factsOfFile: Set<String> = ["major_brand", "minor_version", "compatible_brands", "encoder"]

    /// Demuxers that report facts of the file as tags, such as its size and the bit rates of its streams. Of these files only
    /// tags with a common name are kept.
    private static let formatsWithFacts: Set<String> = ["asf", "avi", "flv", "mxf", "rm"]

    /// Names that libavformat gives to tags of every container (`avformat.h`, "Public Metadata API").
    private static let commonTags: Set<String> = [
        "title", "artist", "album", "album_artist", "author", "composer", "performer", "publisher", "comment",
        "copyright", "date", "creation_time", "description", "genre", "keywords", "language", "location", "timecode",
        "track", "disc",
    ]
}

extension Container {
    /// Whether an MP4 or MOV stores these tags under names of its own list, where any name has a place, and not under those
    /// that players know. libavformat writes a timecode and names such as `com.apple.quicktime.make` only there. The list
    /// lies where a cover would.
    package func listsNames(of tags: [MetadataEntry], besideCover: Bool) -> Bool {
        isQuickTime && !besideCover && tags.contains { $0.tag == "timecode" || $0.tag.contains(".") }
    }

    /// Those of these tags that the container does not store.
    package func lost(_ tags: [MetadataEntry], besideCover: Bool) -> [MetadataEntry] {
        if listsNames(of: tags, besideCover: besideCover) { return [] }
        switch traits.tags {
        case .any: return []
        case .only(let names): return tags.filter { !names.contains($0.tag) }
        }
    }
}

extension MetadataEntry {
    /// The name in lower case, as tags are compared: Matroska writes upper case.
    package var tag: String { name.lowercased() }
}

internal import ReelCore

/// Tracks and data beside video and sound. They need no choice: the container holds them or not.
extension TargetChoice {
    /// Collects diagnostics about what the container cannot hold, or holds only in another form.
    public mutating func checkOthers() {
        let container = spec.container
        for (number, text) in index.subtitles.enumerated() {
            let codec = text.parameters.codec
            guard let chosen = container.subtitleCodec(for: codec), chosen != codec else { continue }
            diagnostics.append(.subtitlesConverted(track: number, from: codec, to: chosen))
        }
        for source in spec.shownSources where source != spec.mainSource && !indexes[source].subtitles.isEmpty {
            diagnostics.append(.sourceSubtitlesLeftOut(source: name(of: source)))
        }
        if !index.subtitles.isEmpty, container.traits.subtitles.isEmpty {
            diagnostics.append(.subtitlesLeftOut(container: container))
        }
        let hasChapters = spec.edit?.clips.contains { $0.title != nil } ?? false
        if hasChapters || spec.shownSources.contains(where: { !indexes[$0].chapters.isEmpty }),
            !container.traits.holdsChapters
        {
            diagnostics.append(.chaptersLeftOut(container: container))
        }
        let tracks = (spec.audio == .none ? [] : index.audio.map(\.details)) + index.subtitles.map(\.parameters.details)
        let languages = Set(tracks.compactMap(\.language).filter { container.language($0) == nil }).sorted()
        if !languages.isEmpty {
            diagnostics.append(.languagesLost(container: container, languages: languages))
        }
        let lost = index.attachments.filter { !container.holds($0) }
        if !lost.isEmpty {
            diagnostics.append(.attachmentsLeftOut(container: container, names: lost.map(\.fileName)))
        }
        let tags = index.keptMetadata(timecode: spec.edit?.timecode).map { $0.name.lowercased() }
        if !tags.isEmpty, !container.traits.holdsTags {
            diagnostics.append(.tagsLeftOut(container: container, names: tags))
        }
        if tags.contains("timecode"), container.isQuickTime, index.attachments.contains(where: container.holds) {
            diagnostics.append(.timecodeLeftOut(container: container))
        }
    }
}

extension SourceIndex {
    /// The tags of the file that an output keeps.
    ///
    /// - Parameter timecode: the start timecode that the output has instead of the file's; nil for the file's.
    func keptMetadata(timecode: String?) -> [MetadataEntry] {
        let names: Set<String> = ["title", "artist", "album", "comment", "copyright", "date", "timecode"]
        let kept = metadata.filter { names.contains($0.name.lowercased()) && !$0.value.isEmpty }
        guard let timecode else { return kept }
        return kept.filter { $0.name.lowercased() != "timecode" } + [MetadataEntry(name: "timecode", value: timecode)]
    }
}

internal import ReelCore

/// Tracks and data beside video and sound. They need no choice: the container holds them or not.
extension TargetChoice {
    /// Throws `.usage` if a track is asked for that the first source does not have.
    func refuseMissingTracks() throws(ReelFailure) {
        let kinds: [(TrackSelection.Kind, [Int]?, Int)] = [
            (.audio, spec.tracks?.audio, index.audio.count),
            (.subtitles, spec.tracks?.subtitles, index.subtitles.count),
        ]
        for (kind, asked, count) in kinds {
            guard let missing = asked?.first(where: { !(0..<count).contains($0) }) else { continue }
            throw ReelFailure(.trackMissing(kind: kind, number: missing, count: count))
        }
    }

    /// Collects diagnostics about what the container cannot hold, or holds only in another form.
    public mutating func checkOthers() {
        let container = spec.container
        let texts = SourceIndex.withSubtitles(among: spec.shownSources, of: indexes)
        let all = texts.first.map { indexes[$0].subtitles } ?? []
        let shown = all.enumerated().filter { spec.tracks?.subtitles?.contains($0.offset) != false }
        for (number, text) in shown {
            guard let chosen = container.subtitleCodec(for: text.parameters.codec) else { continue }
            for source in texts where indexes[source].subtitles.indices.contains(number) {
                let found = Diagnostic.subtitlesConverted(
                    track: number, from: indexes[source].subtitles[number].parameters.codec, to: chosen)
                if indexes[source].subtitles[number].parameters.codec != chosen, !diagnostics.contains(found) {
                    diagnostics.append(found)
                }
            }
        }
        if !shown.isEmpty, container.traits.subtitles.isEmpty {
            diagnostics.append(.subtitlesLeftOut(container: container))
        } else {
            for source in texts where spec.tracks?.subtitles == nil && indexes[source].subtitles.count > all.count {
                diagnostics.append(.sourceSubtitlesLeftOut(source: name(of: source), kept: all.count))
            }
        }
        let hasChapters = spec.edit?.clips.contains { $0.title != nil } ?? false
        if hasChapters || spec.shownSources.contains(where: { !indexes[$0].chapters.isEmpty }),
            !container.traits.holdsChapters
        {
            diagnostics.append(.chaptersLeftOut(container: container))
        }
        let tracks = heardTracks.map(\.track.details) + shown.map(\.element.parameters.details)
        let languages = Set(tracks.compactMap(\.language).filter { container.language($0) == nil }).sorted()
        if !languages.isEmpty {
            diagnostics.append(.languagesLost(container: container, languages: languages))
        }
        let lost = index.attachments.filter { !container.holds($0) }
        if !lost.isEmpty {
            diagnostics.append(.attachmentsLeftOut(container: container, names: lost.map(\.fileName)))
        }
        let tags = index.keptMetadata(timecode: spec.edit?.timecode).map { $0.name.lowercased() }
        let lostTags = tags.filter { $0 != "timecode" || !container.traits.holdsTimecode }
        if !lostTags.isEmpty, !container.traits.holdsTags {
            diagnostics.append(.tagsLeftOut(container: container, names: lostTags))
        }
        if tags.contains("timecode"), container.isQuickTime, index.attachments.contains(where: container.holds) {
            diagnostics.append(.timecodeLeftOut(container: container))
        }
    }
}

extension SourceIndex {
    /// Those of these sources that have text subtitles, each once: the output has the tracks of the first, with what the
    /// others have at the same places.
    static func withSubtitles(among sources: [Int], of indexes: [SourceIndex]) -> [Int] {
        var known: Set<Int> = []
        return sources.filter { known.insert($0).inserted && !indexes[$0].subtitles.isEmpty }
    }

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

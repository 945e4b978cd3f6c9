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
    package mutating func checkOthers() {
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
        if container.traits.loops != nil, spec.audio != .none, let source = soundSource, !indexes[source].audio.isEmpty
        {
            diagnostics.append(.soundLeftOut(container: container))
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
        let tags = index.keptTags(timecode: spec.edit?.timecode)
        let hasCover = container.isQuickTime && index.attachments.contains(where: container.holds)
        var lostTags = container.lost(tags, besideCover: hasCover).map(\.tag)
        if hasCover, lostTags.contains("timecode") {
            diagnostics.append(.timecodeLeftOut(container: container))
            lostTags.removeAll { $0 == "timecode" }
        }
        if !lostTags.isEmpty { diagnostics.append(.tagsLeftOut(container: container, names: lostTags)) }
    }
}

extension SourceIndex {
    /// Those of these sources that have text subtitles, each once: the output has the tracks of the first, with what the
    /// others have at the same places.
    static func withSubtitles(among sources: [Int], of indexes: [SourceIndex]) -> [Int] {
        var known: Set<Int> = []
        return sources.filter { known.insert($0).inserted && !indexes[$0].subtitles.isEmpty }
    }
}

internal import CFFmpeg
internal import ReelCore

/// Packets that are passed through.
extension TargetChoice {
    /// Options that ask for other pictures than the source's, or for passes, which passthrough does not have.
    private static let changingOptions: [JobSpec.Option] = [
        .crf, .preset, .bitrate, .maxSize, .passFrames, .size, .pixelFormat, .fps, .profile,
    ]

    private var insistsOnCopy: Bool { spec.videoCodec == VideoTarget.copy }

    /// Whether the source's packets are passed through: because the user asked for it, or because no option asks for
    /// other pictures, nothing prevents it, and players show the copy in the job's container, and upright.
    var copiesVideo: Bool {
        insistsOnCopy
            || spec.videoCodec == nil && !Self.changingOptions.contains(where: spec.gives) && !turnsUpright
                && spec.container.shows(codec: stream.codec) && (try? codedVideo()) != nil
    }

    /// The target for passthrough; nil if packets are not passed through. Throws `.usage` for options that it cannot
    /// follow, and `.input` with the obstacle if the user asked for passthrough and it is impossible.
    func copy() throws(ReelFailure) -> VideoPassthrough? {
        if insistsOnCopy, let option = Self.changingOptions.first(where: spec.gives) {
            throw ReelFailure(.copyWithOption(option: option))
        }
        guard copiesVideo else { return nil }
        let coded = try codedVideo()
        var format = OutputFormat(
            of: stream, spec.directions, timeBase: try spec.clock(of: indexes), pixelFormat: stream.pixelFormat)
        if let rate = spec.commonRate(of: indexes) { format.frameRate = rate }
        return VideoPassthrough(
            format: format,
            identity: EncoderIdentity(
                build: EncoderIdentity.build(of: VideoTarget.copy), extradataHash: sha256(of: coded.extradata)))
    }

    /// The packets' parameters, which all sources have. Throws `.copyImpossible` or `.copyNotGivenBack` if there are
    /// none.
    private func codedVideo() throws(ReelFailure) -> CodedVideo {
        let coded = try codedVideo(of: index)
        if spec.edit?.clips.contains(where: { $0.source == nil }) == true {
            throw ReelFailure(.copyImpossible(obstacle: .blackPictures))
        }
        for other in others {
            guard try codedVideo(of: other) == coded, other.video.stream.hasPackets(like: stream) else {
                throw ReelFailure(.copyImpossible(obstacle: .sourcesDiffer))
            }
        }
        return coded
    }

    private func codedVideo(of index: SourceIndex) throws(ReelFailure) -> CodedVideo {
        switch index.passthrough {
        case .impossible(let obstacle): throw ReelFailure(.copyImpossible(obstacle: obstacle))
        case .possible(let coded):
            guard coded.containers.contains(spec.container) else {
                let stream = index.video.stream
                throw ReelFailure(
                    .copyNotGivenBack(codec: stream.codec, pixelFormat: stream.pixelFormat, container: spec.container))
            }
            return coded
        }
    }
}

/// Moving pictures that loop. Passes make small lossless pictures, and the assembly turns them into the format's own.
extension TargetChoice {
    /// How passes encode the pictures. Throws `.input` for an interlaced source, and for an option that the format does
    /// not have.
    func loopPictures(_ loops: LoopTraits) throws(ReelFailure) -> Chosen<VideoTarget> {
        try refuse(
            [.videoCodec, .crf, .preset, .bitrate] + (loops.hasPalette ? [] : [.dither, .colors])
                + [.soundtrack, .pixelFormat, .sampleRate, .channelLayout, .profile, .audioBitrate])
        guard !spec.lossless || spec.container.keepsAll else {
            throw ReelFailure(.losslessNotHeld(container: spec.container))
        }
        let source = av_get_pix_fmt(stream.pixelFormat)
        guard source.descriptor != nil else { throw ReelFailure(.nothingDecodes(path: nil)) }
        var format = format(
            source.hasAlpha ? "bgra" : "bgr0", clock: try spec.clock(of: indexes),
            size: spec.size ?? stream.shownSize.limited(to: loops.usualSide))
        if let most = loops.mostSide, max(format.width, format.height) > most {
            let size = PictureSize(width: format.width, height: format.height)
            throw ReelFailure(.sizeTooLarge(container: spec.container, size: size, most: most))
        }
        try refuseInterlaced(scaledTo: format)
        let isHigh = stream.colour.dynamicRange != .standard
        if isHigh, canMapTones { format.toneMapping = .hable }
        let encoder = EncoderTraits.named("ffv1")
        return Chosen(
            value: .encode(try opened(encoder, format, encoder.options(threads(of: encoder)))),
            diagnostics: conversions(to: format)
                + (isHigh && format.toneMapping == nil ? [.highDynamicRangeUnmapped] : []))
    }
}

/// Diagnostics about what the output changes, or cannot hold.
extension TargetChoice {
    func conversions(to format: OutputFormat) -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        let isHigh = spec.shownSources.contains { indexes[$0].video.stream.colour.dynamicRange != .standard }
        if isHigh, format.toneMapping != nil { diagnostics.append(.highDynamicRangeMapped) }
        diagnostics += unifiedRates()
        let stream = stream.mapped(to: format)
        for source in spec.shownSources where source != spec.mainSource {
            let other = indexes[source].video.stream
            let isMapped = format.toneMapping != nil && other.colour.dynamicRange != .standard
            let kept = isMapped ? [] : other.colour.unconverted(to: stream.colour)
            if !kept.isEmpty {
                diagnostics.append(
                    .sourceColoursKept(source: name(of: source), from: kept.map(\.from), to: kept.map(\.to)))
            }
            guard !other.fits(stream) else { continue }
            diagnostics.append(
                .sourceConverted(
                    source: name(of: source), from: PictureForm(other), to: PictureForm(stream, in: format),
                    turned: other.displayMatrix != format.displayMatrix))
        }
        return diagnostics
    }

    /// That the output has one rate, and its sources have others.
    func unifiedRates() -> [Diagnostic] {
        guard let rate = spec.commonRate(of: indexes) else { return [] }
        let rates = Set(spec.shownSources.compactMap { indexes[$0].video.constantRate })
        return [.frameRatesUnified(from: rates.sorted(), to: rate)]
    }

    /// Tracks and data beside video and sound that the container cannot hold, or holds only in another form.
    func leftOut() -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        let container = spec.container
        let texts = SourceIndex.withSubtitles(among: spec.shownSources, of: indexes)
        let all = texts.first.map { indexes[$0].subtitles } ?? []
        let shown = all.enumerated().filter { spec.tracks?.subtitles?.contains($0.offset) != false }
        for (number, text) in shown {
            guard let chosen = container.subtitleCodec(for: text.parameters.codec) else { continue }
            for source in texts where indexes[source].subtitles.indices.contains(number) {
                let codec = indexes[source].subtitles[number].parameters.codec
                let found = Diagnostic.subtitlesConverted(track: number, from: codec, to: chosen)
                if codec != chosen, !diagnostics.contains(found) { diagnostics.append(found) }
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
        let hasChapters =
            spec.edit?.clips.contains { $0.title != nil } == true
            || spec.shownSources.contains { !indexes[$0].chapters.isEmpty }
        if hasChapters, !container.traits.holdsChapters { diagnostics.append(.chaptersLeftOut(container: container)) }
        let tracks = heardTracks.map(\.track.details) + shown.map(\.element.parameters.details)
        let languages = Set(tracks.compactMap(\.language).filter { container.language($0) == nil }).sorted()
        if !languages.isEmpty { diagnostics.append(.languagesLost(container: container, languages: languages)) }
        let lost = index.attachments.filter { !container.holds($0) }
        if !lost.isEmpty { diagnostics.append(.attachmentsLeftOut(container: container, names: lost.map(\.fileName))) }
        return diagnostics + lostTags()
    }

    private func lostTags() -> [Diagnostic] {
        let container = spec.container
        let hasCover = container.isQuickTime && index.attachments.contains(where: container.holds)
        let tags = index.keptTags(timecode: spec.edit?.timecode)
        let lost = container.lost(tags, besideCover: hasCover).map(\.tag)
        let losesTimecode = hasCover && lost.contains("timecode")
        let names = losesTimecode ? lost.filter { $0 != "timecode" } : lost
        return (losesTimecode ? [.timecodeLeftOut(container: container)] : [])
            + (names.isEmpty ? [] : [.tagsLeftOut(container: container, names: names)])
    }
}

extension VideoStream {
    /// Whether a decoder that was opened for `other` shows this stream's packets as they are meant.
    fileprivate func hasPackets(like other: VideoStream) -> Bool {
        codec == other.codec && profile == other.profile && fits(other) && colour == other.colour
            && fieldOrder == other.fieldOrder && !fieldsVary && !other.fieldsVary
    }
}

extension PictureForm {
    /// The form of a stream's pictures, in a format of the output if they are fitted into it.
    fileprivate init(_ stream: VideoStream, in format: OutputFormat? = nil) {
        self.init(
            width: format?.width ?? stream.width, height: format?.height ?? stream.height,
            pixelFormat: format?.pixelFormat ?? stream.pixelFormat, matrix: stream.colour.matrix,
            range: stream.colour.range)
    }
}

extension ColourTags {
    /// Transfers that are the same curve (ITU-T H.273 table 3).
    private static let sameCurve: Set<String> = ["bt709", "smpte170m", "bt2020-10", "bt2020-12"]

    /// The stated parts of colours that differ from those of `other` and that libswscale does not convert.
    fileprivate func unconverted(to other: ColourTags) -> [(from: String, to: String)] {
        var parts: [(from: String, to: String)] = []
        if let own = primaries, let shown = other.primaries, own != shown {
            parts.append(("\(own) primaries", "\(shown) primaries"))
        }
        if let own = transfer, let shown = other.transfer, own != shown,
            !ColourTags.sameCurve.isSuperset(of: [own, shown])
        {
            parts.append(("\(own) transfer", "\(shown) transfer"))
        }
        return parts
    }
}

extension SourceIndex {
    /// The sources among these that have text subtitles, each once: the output has the tracks of the first, with what
    /// the others have at the same places.
    static func withSubtitles(among sources: [Int], of indexes: [SourceIndex]) -> [Int] {
        var known: Set<Int> = []
        return sources.filter { known.insert($0).inserted && !indexes[$0].subtitles.isEmpty }
    }
}

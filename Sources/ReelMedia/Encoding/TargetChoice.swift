internal import CFFmpeg
package import ReelCore

/// A choice, and diagnostics about what it changes or omits, in the order of the steps that found them.
package struct Chosen<Value> {
    package let value: Value
    package let diagnostics: [Diagnostic]
}

/// Chooses how the output is encoded, by the spec, the sources and the container. Each step takes what earlier steps
/// returned: the facts of the sources; the format (encoder, pixel format, size); the encoder's options; and the
/// refusals that show only when the encoder is open.
package struct TargetChoice {
    let indexes: [SourceIndex]
    let spec: JobSpec
    private let threads: Int

    /// `threads` is the number of threads of each codec if the spec does not set it.
    package init(indexes: [SourceIndex], spec: JobSpec, threads: Int = 1) {
        (self.indexes, self.spec, self.threads) = (indexes, spec, spec.threads ?? threads)
    }

    /// All targets of a job, and the diagnostics of everything that the output changes or cannot hold. Throws what
    /// `video` and `audio` throw.
    package func targets() throws(ReelFailure) -> Chosen<(video: VideoTarget, audio: [AudioTarget])> {
        let video = try video()
        let audio = try audio(
            lasting: try spec.mostBytes.map { _ throws(ReelFailure) in
                try PlanInput(indexes: indexes, indexHashes: [], spec: spec, video: video.value).length()
            })
        return Chosen(value: (video.value, audio.value), diagnostics: video.diagnostics + audio.diagnostics + leftOut())
    }

    /// The video's encoder with its settings, opened once to get its identity. Throws `.usage` for a codec or an option
    /// that does not exist, and `.input` for a codec that the container cannot hold.
    package func video() throws(ReelFailure) -> Chosen<VideoTarget> {
        if spec.container.traits.isOfSound { return try soundAlone() }
        try refuseUnlessTold()
        try refuseMissingTracks()
        try refuseMixtures()
        if !spec.container.limitsSize { try refuse([.maxSize]) }
        if let loops = spec.container.traits.loops { return try loopPictures(loops) }
        try refuse([.loop, .dither, .colors])
        if let copy = try copy() {
            return Chosen(
                value: .passthrough(copy),
                diagnostics: unifiedRates() + lostSignalling(in: copy.format, encoder: VideoTarget.copy))
        }
        let form = try form()
        let encoding = try opened(form.value.encoder, form.value.format, try options(of: form.value))
        return Chosen(value: .encode(encoding), diagnostics: form.diagnostics)
    }

    /// The target of a file of sound. Throws for options of pictures, and if there is no sound.
    private func soundAlone() throws(ReelFailure) -> Chosen<VideoTarget> {
        try refuseMissingTracks()
        try refuse([
            .videoCodec, .crf, .preset, .profile, .bitrate, .maxSize, .size, .fit, .fps, .pixelFormat, .passFrames,
            .loop,
            .dither,
            .colors,
        ])
        guard spec.audio != .none else {
            throw ReelFailure(.optionNotOfContainer(option: .audio, container: spec.container))
        }
        guard let track = heardTracks.first?.track else {
            throw ReelFailure(.noSound(path: name(of: spec.mainSource)))
        }
        var diagnostics: [Diagnostic] = []
        if spec.shownSources.contains(where: { !indexes[$0].video.isNone }) {
            diagnostics.append(.picturesLeftOut(container: spec.container))
        }
        let tracks = soundSource.map { indexes[$0].audio.count } ?? 0
        if tracks > 1, spec.tracks?.audio?.count != 1 {
            diagnostics.append(.audioTracksLeftOut(container: spec.container, tracks: tracks))
        }
        return Chosen(value: .none(clock: TimeBase(1, Int64(track.sampleRate))), diagnostics: diagnostics)
    }

    // MARK: Facts of the sources

    /// The index of the source whose format the output has.
    var index: SourceIndex { indexes[spec.mainSource] }

    var stream: VideoStream { index.video.stream }

    var others: [SourceIndex] { spec.shownSources.filter { $0 != spec.mainSource }.map { indexes[$0] } }

    /// The title of the first clip of a source, which names it.
    func name(of source: Int) -> String { spec.edit?.clips.first { $0.source == source }?.title ?? "the video" }

    /// Whether the pictures are turned because the container cannot tell players to do it. Not if that would mix
    /// fields, or change the pixels of a lossless output.
    var turnsUpright: Bool {
        let turning = Turning(from: stream.displayMatrix, to: nil)
        guard !turning.isNone, !spec.container.traits.holdsRotation, !stream.fieldOrder.isInterlaced else {
            return false
        }
        return !spec.lossless || !turning.isSideways || av_get_pix_fmt(stream.pixelFormat).turnsExactly
    }

    func threads(of encoder: EncoderTraits) -> Int {
        min(
            threads, encoder.mostThreads,
            spec.bitrate == .source && spec.mostBytes == nil ? encoder.mostThreadsBounded : .max)
    }

    func format(_ pixelFormat: String, clock: TimeBase, size: PictureSize?, isUpright: Bool = false) -> OutputFormat {
        var format = OutputFormat(
            of: stream, spec.directions, timeBase: clock, pixelFormat: pixelFormat, beside: others.map(\.video.stream),
            size: size, isUpright: isUpright)
        if mixesRanges, canMapTones { format.toneMapping = .hable }
        format.fit = spec.fit == .standard ? nil : spec.fit
        if let rate = spec.commonRate(of: indexes) { format.frameRate = rate }
        return format
    }

    /// Whether the sources have several dynamic ranges.
    private var mixesRanges: Bool {
        others.contains { $0.video.stream.colour.dynamicRange != stream.colour.dynamicRange }
    }

    /// Whether pictures of high dynamic range can be mapped to the standard range. The filters drop transparency.
    var canMapTones: Bool {
        FilterGraph.mapsTones
            && !([stream] + others.map(\.video.stream)).contains {
                $0.colour.dynamicRange != .standard && av_get_pix_fmt($0.pixelFormat).hasAlpha
            }
    }

    // MARK: Refusals

    /// Throws for an option that the container has no use for.
    func refuse(_ options: [JobSpec.Option]) throws(ReelFailure) {
        guard let option = options.first(where: spec.gives) else { return }
        throw ReelFailure(.optionNotOfContainer(option: option, container: spec.container))
    }

    /// libavformat writes times to Matroska in milliseconds: frames that are closer together would be shown at the same
    /// time.
    private func refuseUnlessTold() throws(ReelFailure) {
        guard let clock = spec.container.traits.clock else { return }
        let clips = spec.edit?.clips ?? [EditClip(play: .reverse)]
        let speeds = Dictionary(grouping: clips.filter { $0.still == nil }) { $0.source ?? 0 }
            .mapValues { $0.map(\.speed).max() ?? Rational(1) }
        for (source, speed) in speeds.sorted(by: { $0.key < $1.key }) {
            let index = indexes[source]
            let timeBase = index.video.stream.timeBase
            let least = timeBase.ticks(in: clock.secondsPerTick * speed, rounding: .up)
            guard let close = index.video.frames.dropFirst().first(where: { $0.interval.duration.count < least }) else {
                continue
            }
            let time = timeBase.seconds(close.interval.start) - index.startTime
            throw ReelFailure(.framesTooClose(time: time, container: spec.container))
        }
    }

    /// Throws `.usage` if a track is asked for that the first source does not have.
    private func refuseMissingTracks() throws(ReelFailure) {
        let kinds: [(TrackSelection.Kind, [Int]?, Int)] = [
            (.audio, spec.tracks?.audio, index.audio.count),
            (.subtitles, spec.tracks?.subtitles, index.subtitles.count),
        ]
        for (kind, asked, count) in kinds {
            guard let missing = asked?.first(where: { !(0..<count).contains($0) }) else { continue }
            throw ReelFailure(.trackMissing(kind: kind, number: missing, count: count))
        }
    }

    /// Throws `.input` for sources that no conversion brings together: pictures of several dynamic ranges that cannot be
    /// mapped to one, and interlaced pictures that would have to be scaled, or stand beside progressive ones.
    private func refuseMixtures() throws(ReelFailure) {
        for source in spec.shownSources where source != spec.mainSource {
            let other = indexes[source].video.stream
            let names = (main: name(of: spec.mainSource), other: name(of: source))
            guard other.colour.dynamicRange == stream.colour.dynamicRange || canMapTones else {
                throw ReelFailure(.dynamicRangesMixed(source: names.other, main: names.main))
            }
            let isInterlaced = other.fieldOrder.isInterlaced
            guard stream.fieldOrder.isInterlaced == isInterlaced, !isInterlaced || other.fits(stream) else {
                throw ReelFailure(.interlacedMixed(source: isInterlaced ? names.other : names.main))
            }
        }
    }

    /// Throws if interlaced pictures, or their chroma as an option asks, would have to be scaled, which would mix their
    /// fields.
    func refuseInterlaced(scaledTo format: OutputFormat) throws(ReelFailure) {
        let (own, made) = (av_get_pix_fmt(stream.pixelFormat), av_get_pix_fmt(format.pixelFormat))
        let isChromaScaled = spec.pixelFormat != nil && own.chromaShifts.down != made.chromaShifts.down
        guard stream.fieldOrder.isInterlaced, !format.takes(stream, beside: stream) || isChromaScaled else { return }
        throw ReelFailure(.interlacedMixed(source: name(of: spec.mainSource)))
    }

    /// Whether libavformat can write a codec into the job's container.
    package func holds(_ codec: String) -> Bool {
        let traits = spec.container.traits
        guard let muxer = av_guess_format(traits.muxer, nil, nil),
            let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        if let codecs = traits.codecs { return codecs.contains(codec) }
        if traits.codecsBeside.contains(codec) { return true }
        if traits.codecsRefused.contains(codec) { return false }
        return avformat_query_codec(muxer, descriptor.pointee.id, FF_COMPLIANCE_NORMAL) == 1
    }

    func refuseUnlessHeld(codec: String, option: JobSpec.Option) throws(ReelFailure) {
        guard !holds(codec) else { return }
        throw ReelFailure(.codecNotHeld(option: option, codec: codec, container: spec.container))
    }
}

/// The refusal of an option's value; `encoder` is the one that does not take it.
func unsupported(_ option: JobSpec.Option, _ value: String, by encoder: String?, _ known: [String]) -> ReelFailure {
    ReelFailure(.valueUnsupported(option: option, value: value, encoder: encoder, known: known))
}

func unsupported(_ option: JobSpec.Option, by encoder: String) -> ReelFailure {
    ReelFailure(.optionUnsupported(option: option, encoder: encoder))
}

extension JobSpec {
    /// Whether the user gave an option that some targets refuse.
    func gives(_ option: Option) -> Bool {
        switch option {
        case .videoCodec: videoCodec != nil
        case .crf: crf != nil
        case .preset: preset != nil
        case .profile: profile != nil
        case .bitrate: bitrate != nil
        case .size: size != nil
        case .fps: mostFrames != nil
        case .pixelFormat: pixelFormat != nil
        case .passFrames: passFrames != nil
        case .audioBitrate: audioBitrate != nil
        case .maxSize: mostBytes != nil
        case .fit: fit != nil
        case .sampleRate: sampleRate != nil
        case .channelLayout: channelLayout != nil
        case .soundtrack: edit?.soundtrack != nil
        case .loop: loop?.plays != nil
        case .dither: loop?.dither != nil
        case .colors: loop?.colours != nil
        case .container, .lossless, .audio, .audioCodec, .from, .to, .timestamps, .threads, .memory, .verify, .onDamage,
            .purpose:
            false
        }
    }
}

internal import CFFmpeg
package import ReelCore

extension TargetChoice {
    /// The targets of the audio tracks: each in its own codec if reel encodes that and the container holds it,
    /// otherwise in the first other codec that keeps rate and channels.
    ///
    /// - Parameter length: seconds of an output whose size is limited; nil for any size.
    package func audio(lasting length: Rational? = nil) throws(ReelFailure) -> Chosen<[AudioTarget]> {
        var (targets, diagnostics): ([AudioTarget], [Diagnostic]) = ([], [])
        for (source, number, track) in heardTracks {
            let chosen = try target(of: track, number, source, lasting: length)
            targets.append(chosen.value)
            diagnostics += chosen.diagnostics + conversions(to: chosen.value)
        }
        return Chosen(value: targets, diagnostics: diagnostics)
    }

    /// The tracks that the output has, each with its source and its place there.
    var heardTracks: [(source: Int, number: Int, track: AudioTrack)] {
        guard spec.audio != .none, spec.container.traits.loops == nil, let source = soundSource else { return [] }
        let tracks = indexes[source].audio.enumerated()
        // A soundtrack has one track.
        guard spec.edit?.soundtrack == nil else { return tracks.prefix(1).map { (source, $0, $1) } }
        let chosen = tracks.filter { spec.tracks?.audio?.contains($0.offset) != false }.map { (source, $0, $1) }
        return spec.container.traits.isOfSound ? Array(chosen.prefix(1)) : chosen
    }

    /// The source of the soundtrack, or of the first clip that has sound: the output has its tracks. Nil for no sound.
    var soundSource: Int? {
        guard let edit = spec.edit else { return 0 }
        if let soundtrack = edit.soundtrack { return soundtrack.source }
        let heard = edit.clips.filter { $0.sound && $0.still == nil }
        return heard.lazy.compactMap(\.source).first { !indexes[$0].audio.isEmpty }
    }

    private func target(
        of track: AudioTrack, _ number: Int, _ source: Int, lasting length: Rational?
    ) throws(ReelFailure) -> Chosen<AudioTarget> {
        // PCM is not passed through: decoding and encoding keep its bits, and it can then be cut at any sample.
        if spec.audio == .keep, spec.audioCodec == nil, spec.sampleRate == nil, spec.channelLayout == nil,
            spec.audioBitrate == nil, !AudioEncoderTraits.isPCM(track.codec), holds(track.codec)
        {
            let copy = AudioTarget(
                source: source, track: number, direction: .forwards, encoder: VideoTarget.copy,
                sampleRate: track.sampleRate, channelLayout: track.channelLayout, bitrate: nil, lossless: spec.lossless)
            return Chosen(value: copy, diagnostics: [])
        }
        let wanted = try wanted(of: track)
        let chosen = try encoder(for: track, wanted, number)
        let encoder = chosen.value
        var diagnostics = chosen.diagnostics
        try refuseUnlessHeld(codec: encoder.codec, option: .audioCodec)
        let rate = spec.container.traits.pacing?.sampleRate ?? encoder.nearestRate(to: wanted.sampleRate)
        let layout = encoder.layout(for: wanted.channelLayout)
        if rate != wanted.sampleRate {
            guard spec.sampleRate == nil else {
                let rates = encoder.rates?.map { "\($0)" } ?? []
                throw unsupported(.sampleRate, "\(wanted.sampleRate)", by: encoder.name, rates)
            }
            diagnostics.append(
                .sampleRateChanged(track: number, encoder: encoder.name, from: track.sampleRate, to: rate))
        }
        if layout != wanted.channelLayout {
            guard spec.channelLayout == nil else {
                throw unsupported(.channelLayout, wanted.channelLayout, by: encoder.name, encoder.offeredLayouts ?? [])
            }
            diagnostics.append(
                .channelsChanged(track: number, encoder: encoder.name, from: track.channelLayout, to: layout))
        }
        if let bits = encoder.bitsKept(of: track) {
            diagnostics.append(.sampleDepthReduced(track: number, codec: encoder.codec, bits: bits))
        }
        var target = AudioTarget(
            source: source, track: number, direction: spec.audio == .keep || spec.edit != nil ? .forwards : .backwards,
            encoder: encoder.name, sampleRate: rate, channelLayout: layout,
            bitrate: try bitrate(of: encoder, wanted, rate: rate, lasting: length),
            // If pictures are kept bit for bit, no sample is cut off either.
            lossless: spec.lossless || (encoder.isLossless && copiesVideo))
        // Open the encoder once, so that settings which it rejects are known before any work.
        let opened = try Encoder(target, track: track)
        target.joints = encoder.joints.map {
            SoundJoints(frame: opened.samplesPerPacket, before: $0.before, after: $0.after)
        }
        return Chosen(value: target, diagnostics: diagnostics)
    }

    /// Bits per second of a track; nil for an encoder without a rate. Throws `.usage` for a rate that it does not take.
    private func bitrate(
        of encoder: AudioEncoderTraits, _ track: AudioTrack, rate: Int, lasting length: Rational?
    ) throws(ReelFailure) -> Int64? {
        guard let asked = spec.audioBitrate else {
            guard !encoder.isLossless else { return nil }
            let usual = Int64(track.channels) * encoder.bitratePerChannel
            guard let most = spec.mostBytes, let seconds = length?.approximate, seconds > 0 else { return usual }
            // At most an eighth of the bytes are sound, unless speech could not be understood any more.
            let share = Int64(min(Double(most) / seconds / Double(max(heardTracks.count, 1)), 0x1p60))
            let least = Int64(track.channels) * TargetChoice.leastBitratePerChannel
            let chosen = min(usual, max(share, least))
            return encoder.bitrates(track.channels, rate).map { min(max(chosen, $0.lowerBound), $0.upperBound) }
                ?? chosen
        }
        guard !encoder.isLossless else { throw unsupported(.audioBitrate, by: encoder.name) }
        if let allowed = encoder.bitrates(track.channels, rate), !allowed.contains(asked) {
            let rates = "\(allowed.lowerBound) to \(allowed.upperBound)"
            throw unsupported(.audioBitrate, "\(asked)", by: encoder.name, [rates])
        }
        return asked
    }

    private static let leastBitratePerChannel: Int64 = 24_000

    /// The track with the sound's form that the options ask for.
    private func wanted(of track: AudioTrack) throws(ReelFailure) -> AudioTrack {
        var wanted = track
        wanted.sampleRate = spec.sampleRate ?? track.sampleRate
        guard let layout = spec.channelLayout else { return wanted }
        wanted.channelLayout = layout
        let format = SoundFormat(sample: AV_SAMPLE_FMT_FLT, rate: 1, layout: layout)
        guard format.isNamed, let channels = try? format.channels() else {
            throw unsupported(.channelLayout, layout, by: nil, ["mono", "stereo", "5.1", "7.1"])
        }
        wanted.channels = channels
        return wanted
    }

    /// `track` chooses the codec, unless an option does; `wanted` is the same with the form that the options ask for.
    private func encoder(
        for track: AudioTrack, _ wanted: AudioTrack, _ number: Int
    ) throws(ReelFailure) -> Chosen<AudioEncoderTraits> {
        if spec.lossless, spec.container.traits.isOfSound {
            let encoders = [AudioEncoderTraits.making("flac"), .making("alac"), .pcm(holding: wanted)]
            guard
                let encoder = encoders.first(where: {
                    $0.isLossless && holds($0.codec) && $0.bitsKept(of: wanted) == nil
                })
            else { throw ReelFailure(.losslessNotHeld(container: spec.container)) }
            return Chosen(value: encoder, diagnostics: [])
        }
        if spec.lossless {
            if let codec = spec.audioCodec, !AudioEncoderTraits.isPCM(codec) {
                throw ReelFailure(.losslessCodecFixed(option: .audioCodec, codec: codec, only: "pcm"))
            }
            return Chosen(value: .pcm(holding: wanted), diagnostics: [])
        }
        if let codec = spec.audioCodec {
            let encoder = try AudioEncoderTraits.chosen(by: codec, for: wanted)
            return Chosen(value: encoder, diagnostics: encoder.isTried ? [] : [.encoderUntried(encoder: encoder.name)])
        }
        let candidates = AudioEncoderTraits.candidates(for: track).filter {
            holds($0.codec) && (spec.mostBytes == nil || !$0.isLossless)
        }
        let best =
            candidates.first { $0.keepsRate(of: track) && $0.keepsChannels(of: track) }
            ?? candidates.first { $0.keepsChannels(of: track) } ?? candidates.first
        guard let best else { throw ReelFailure(.noSoundHeld(container: spec.container)) }
        return Chosen(
            value: best,
            diagnostics: best.codec == track.codec
                ? [] : [.audioCodecChanged(track: number, from: track.codec, to: best.codec)])
    }

    /// Tracks of other sources that are converted to the output's sound.
    private func conversions(to target: AudioTarget) -> [Diagnostic] {
        guard let edit = spec.edit, edit.soundtrack == nil else { return [] }
        let form = indexes[target.source].audio[target.track].form
        return edit.shownSources.filter { $0 != target.source }.compactMap { source in
            let tracks = indexes[source].audio
            guard tracks.indices.contains(target.track), case let own = tracks[target.track].form,
                own.rate != form.rate || own.layout != form.layout
            else { return nil }
            return .sourceSoundConverted(source: name(of: source), track: target.track, from: own, to: form)
        }
    }
}

extension AudioTrack {
    fileprivate var form: SoundForm { SoundForm(layout: channelLayout, rate: sampleRate, sample: sampleFormat) }
}

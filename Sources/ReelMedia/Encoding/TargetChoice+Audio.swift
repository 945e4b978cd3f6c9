internal import CFFmpeg
public import ReelCore

extension TargetChoice {
    /// The targets of the audio tracks: each in its own codec if reel encodes that and the container holds it, else in
    /// the first other codec that keeps rate and channels.
    public mutating func audio() throws(ReelFailure) -> [AudioTarget] {
        guard spec.audio != .none else { return [] }
        var targets: [AudioTarget] = []
        for (number, track) in index.audio.enumerated() { targets.append(try audio(track, number)) }
        return targets
    }

    private mutating func audio(_ track: AudioTrack, _ number: Int) throws(ReelFailure) -> AudioTarget {
        // PCM is not passed through: decoding and encoding keep its bits, and it can then be cut at any sample.
        if spec.audio == .keep, spec.audioCodec == nil, !track.codec.hasPrefix("pcm"), holds(track.codec) {
            return AudioTarget(
                track: number, direction: .forwards, encoder: VideoTarget.copy, sampleRate: track.sampleRate,
                channelLayout: track.channelLayout, bitrate: nil, lossless: spec.lossless)
        }
        let profile = try audioProfile(track, number)
        try refuseUnlessHeld(codec: profile.codec, option: .audioCodec)
        let rate = profile.nearestRate(to: track.sampleRate)
        let layout = profile.layout(for: track.channelLayout)
        if rate != track.sampleRate {
            diagnostics.append(
                .sampleRateChanged(track: number, encoder: profile.encoder, from: track.sampleRate, to: rate))
        }
        if layout != track.channelLayout {
            diagnostics.append(
                .channelsChanged(track: number, encoder: profile.encoder, from: track.channelLayout, to: layout))
        }
        if ["flac", "alac"].contains(profile.codec),
            ["s32", "s32p", "flt", "fltp", "dbl", "dblp"].contains(track.sampleFormat),
            track.bitsPerSample ?? 32 > 24
        {
            diagnostics.append(.sampleDepthReduced(track: number, codec: profile.codec, bits: 24))
        }
        let target = AudioTarget(
            track: number, direction: spec.audioDirection, encoder: profile.encoder,
            sampleRate: rate, channelLayout: layout,
            bitrate: profile.isLossless ? nil : Int64(track.channels) * profile.bitratePerChannel,
            // If pictures are kept bit for bit, no sample is cut off either.
            lossless: spec.lossless || (profile.isLossless && copiesVideo))
        // Open the encoder once, so that settings which it rejects are known before any work.
        _ = try Encoder(target, track: track)
        return target
    }

    private mutating func audioProfile(_ track: AudioTrack, _ number: Int) throws(ReelFailure) -> AudioEncoderProfile {
        if spec.lossless {
            if let codec = spec.audioCodec, !codec.hasPrefix("pcm") {
                throw ReelFailure(.losslessCodecFixed(option: .audioCodec, codec: codec, only: "pcm"))
            }
            return .pcm(holding: track)
        }
        if let codec = spec.audioCodec { return try .named(codec, track: track) }
        let candidates = AudioEncoderProfile.candidates(for: track).filter { holds($0.codec) }
        let best =
            candidates.first { $0.keepsRate(of: track) && $0.keepsChannels(of: track) }
            ?? candidates.first { $0.keepsChannels(of: track) } ?? candidates.first
        guard let best else {
            throw ReelFailure(.noSoundHeld(container: spec.container))
        }
        if best.codec != track.codec {
            diagnostics.append(.audioCodecChanged(track: number, from: track.codec, to: best.codec))
        }
        return best
    }
}

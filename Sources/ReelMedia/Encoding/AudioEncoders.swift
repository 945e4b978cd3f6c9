internal import CFFmpeg
internal import ReelCore

extension AudioEncoderTraits {
    /// The encoder with this name, or the one for this codec; "pcm" means the PCM that holds the decoder's samples.
    static func chosen(by name: String, for track: AudioTrack) throws(ReelFailure) -> AudioEncoderTraits {
        if name == "pcm" { return pcm(holding: track) }
        guard let traits = available(name) else {
            let known = all.map(\.codec).filter { !isPCM($0) } + ["pcm"]
            throw ReelFailure(.encoderUnknown(option: .audioCodec, name: name, known: known))
        }
        return traits
    }

    /// Encoders for a track, best first: that of its own codec if reel keeps it, then those for any source, and the PCM
    /// that holds its samples.
    static func candidates(for track: AudioTrack) -> [AudioEncoderTraits] {
        let own = making(track.codec).keepsCodec ? available(track.codec) : nil
        let pcm = pcm(holding: track)
        return [own, isPCM(track.codec) ? pcm : nil].compactMap { $0 }
            + all.filter(\.isForAnySource).compactMap { available($0.name) } + [pcm]
            // For containers that hold no other.
            + ["pcm_s24le", "pcm_s16le"].compactMap(available)
    }

    /// The encoder of this name or for this codec; nil if libavcodec has none.
    private static func available(_ name: String) -> AudioEncoderTraits? {
        let wanted = (all.first { $0.name == name } ?? making(name)).name
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap { avcodec_find_encoder($0.pointee.id) }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_AUDIO else { return nil }
        return named(String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)))
    }

    func keepsRate(of track: AudioTrack) -> Bool { nearestRate(to: track.sampleRate) == track.sampleRate }

    /// Whether every channel keeps its place. Surround channels may be named side or back.
    func keepsChannels(of track: AudioTrack) -> Bool {
        if let mostChannels, track.channels > mostChannels { return false }
        return Self.bare(layout(for: track.channelLayout)) == Self.bare(track.channelLayout)
    }

    /// "5.1" of "5.1(side)".
    private static func bare(_ layout: String) -> String {
        ["5.0(side)": "5.0", "5.1(side)": "5.1", "quad(side)": "quad"][layout] ?? layout
    }

    /// The rate itself if the encoder takes it, else the next higher one, else the highest.
    func nearestRate(to rate: Int) -> Int {
        guard let rates else { return rate }
        return rates.contains(rate) ? rate : rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    /// The rates that the encoder takes; nil for any.
    var rates: [Int]? {
        if let sampleRate { return [sampleRate] }
        guard let list = avcodec_find_encoder_by_name(name)?.pointee.supported_samplerates else { return nil }
        var rates: [Int] = []
        while list[rates.count] != 0 { rates.append(Int(list[rates.count])) }
        return rates
    }

    /// The layout itself if the encoder takes it; else the same layout with its surround channels named otherwise; else
    /// one with as many channels; else the one with the most.
    func layout(for name: String) -> String {
        guard let offered = offeredLayouts, !offered.contains(name) else { return name }
        if let same = offered.first(where: { Self.bare($0) == Self.bare(name) }) { return same }
        guard !numbersOtherChannels else { return name }
        let channels = { (layout: String) in
            (try? SoundFormat(sample: AV_SAMPLE_FMT_FLT, rate: 1, layout: layout).channels()) ?? 0
        }
        let wanted = channels(name)
        return offered.first { channels($0) == wanted } ?? offered.max { channels($0) < channels($1) } ?? name
    }

    /// The layouts that the encoder takes; nil for any.
    var offeredLayouts: [String]? {
        if let layouts { return layouts }
        guard let list = avcodec_find_encoder_by_name(name)?.pointee.ch_layouts else { return nil }
        var names: [String] = []
        while list[names.count].nb_channels != 0 {
            var layout = list[names.count]
            names.append(layoutName(&layout))
        }
        return names
    }

    /// The most bits of a sample that the encoder keeps, if the track has more; else nil.
    func bitsKept(of track: AudioTrack) -> Int? {
        let isWide = ["s32", "s32p", "flt", "fltp", "dbl", "dblp"].contains(track.sampleFormat)
        guard let mostBits, isWide, track.bitsPerSample ?? 32 > mostBits else { return nil }
        return mostBits
    }
}

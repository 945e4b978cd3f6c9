internal import CFFmpeg
internal import ReelCore

/// What reel knows of an audio encoder.
struct AudioEncoderProfile {
    /// The encoder's name as FFmpeg spells it.
    let encoder: String
    /// The codec that it makes.
    let codec: String
    let isLossless: Bool
    /// Bits per second for each channel; nil if the encoder has no rate.
    let bitratePerChannel: Int64

    private static let preferred: [String: String] = [
        "opus": "libopus", "vorbis": "libvorbis", "mp3": "libmp3lame",
    ]

    private init(encoder: String, codec: String) {
        self.encoder = encoder
        self.codec = codec
        isLossless = codec.hasPrefix("pcm") || codec == "flac" || codec == "alac"
        bitratePerChannel = codec == "opus" ? 80_000 : 96_000
    }

    /// Looks up an encoder by its name or its codec's; "pcm" means the PCM that holds the decoder's samples.
    static func named(_ name: String, track: AudioTrack) throws(ReelFailure) -> AudioEncoderProfile {
        if name == "pcm" { return .pcm(holding: track) }
        guard let profile = AudioEncoderProfile(named: name) else {
            throw ReelFailure(
                .encoderUnknown(option: .audioCodec, name: name, known: ["aac", "opus", "flac", "pcm"]))
        }
        return profile
    }

    private init?(named name: String) {
        let wanted = Self.preferred[name] ?? name
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap {
                avcodec_find_encoder($0.pointee.id)
            }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_AUDIO else { return nil }
        self.init(
            encoder: String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)))
    }

    /// Encoders for a track, best first: that of its own codec if reel encodes it, then AAC, Opus, FLAC, and the PCM
    /// that holds its samples.
    static func candidates(for track: AudioTrack) -> [AudioEncoderProfile] {
        let inKind = ["aac", "opus", "flac", "alac", "vorbis"].contains(track.codec)
        let own = inKind || track.codec.hasPrefix("pcm") ? AudioEncoderProfile(named: track.codec) : nil
        let pcm = AudioEncoderProfile.pcm(holding: track)
        let alike = track.codec.hasPrefix("pcm") ? pcm : nil
        return [own, alike].compactMap { $0 } + ["aac", "opus", "flac"].compactMap { AudioEncoderProfile(named: $0) }
            + [pcm]
    }

    /// Little-endian PCM that holds a track's samples without loss.
    static func pcm(holding track: AudioTrack) -> AudioEncoderProfile {
        let names = ["u8": "u8", "s16": "s16le", "s32": "s32le", "s64": "s64le", "flt": "f32le", "dbl": "f64le"]
        let format = track.sampleFormat
        let packed = format.hasSuffix("p") ? String(format.dropLast()) : format
        let is24 = packed == "s32" && track.bitsPerSample.map { $0 <= 24 } == true
        let name = "pcm_" + (is24 ? "s24le" : names[packed] ?? "f32le")
        return AudioEncoderProfile(encoder: name, codec: name)
    }

    func keepsRate(of track: AudioTrack) -> Bool { nearestRate(to: track.sampleRate) == track.sampleRate }

    /// Whether every channel keeps its place. Surround channels may be named side or back.
    func keepsChannels(of track: AudioTrack) -> Bool {
        // RFC 9639 9.1.3.
        guard codec != "flac" || track.channels <= 8 else { return false }
        return Self.bare(layout(for: track.channelLayout)) == Self.bare(track.channelLayout)
    }

    /// "5.1" of "5.1(side)".
    private static func bare(_ layout: String) -> String {
        ["5.0(side)": "5.0", "5.1(side)": "5.1", "quad(side)": "quad"][layout] ?? layout
    }

    /// The rate itself if the encoder takes it, else the next higher one, else the highest.
    func nearestRate(to rate: Int) -> Int {
        // Opus is decoded at 48 kHz, whatever rate its encoder takes, and libavformat 5.1 states its delay at no other
        // rate.
        if codec == "opus" { return 48000 }
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.supported_samplerates else { return rate }
        var rates: [Int] = []
        while list[rates.count] != 0 { rates.append(Int(list[rates.count])) }
        return rates.contains(rate) ? rate : rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    /// The layout itself if the encoder takes it; else the same layout with its surround channels named otherwise; else
    /// one with as many channels; else the one with the most.
    func layout(for name: String) -> String {
        guard let offered = layouts, !offered.contains(name) else { return name }
        if let same = offered.first(where: { Self.bare($0) == Self.bare(name) }) { return same }
        // For other layouts, Opus numbers the channels without their places (RFC 7845 5.1.1.3).
        guard codec != "opus" else { return name }
        let channels = { (layout: String) in
            (try? SoundFormat(sample: AV_SAMPLE_FMT_FLT, rate: 1, layout: layout).channels()) ?? 0
        }
        let wanted = channels(name)
        return offered.first { channels($0) == wanted } ?? offered.max { channels($0) < channels($1) } ?? name
    }

    /// Layouts that files of the codec can name; nil for any.
    private var layouts: [String]? {
        switch encoder {
        // ISO 14496-3 table 1.19. libavcodec describes other layouts in a way that its own decoder does not map to
        // names.
        case "aac": return ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"]
        case "libopus": return ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        default: break
        }
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.ch_layouts else { return nil }
        var names: [String] = []
        while list[names.count].nb_channels != 0 {
            var layout = list[names.count]
            names.append(layoutName(&layout))
        }
        return names
    }
}

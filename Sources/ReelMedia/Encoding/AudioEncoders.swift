internal import CFFmpeg
internal import ReelCore

/// What reel knows of an audio encoder.
struct AudioEncoderProfile {
    /// The encoder's name as FFmpeg spells it.
    let encoder: String
    /// The codec it makes.
    let codec: String
    let isLossless: Bool
    /// Bits per second for each channel, where the encoder wants to be told.
    let bitratePerChannel: Int64

    private static let preferred: [String: String] = [
        "aac": "aac", "opus": "libopus", "flac": "flac", "vorbis": "libvorbis", "mp3": "libmp3lame", "ac3": "ac3",
    ]

    private init(encoder: String, codec: String) {
        self.encoder = encoder
        self.codec = codec
        isLossless = codec.hasPrefix("pcm") || codec == "flac" || codec == "alac"
        bitratePerChannel = codec == "opus" ? 80_000 : 96_000
    }

    /// An encoder's or a codec's name; "pcm" is the PCM that holds the decoder's samples.
    static func named(_ name: String, sampleFormat: String?) throws(ReelFailure) -> AudioEncoderProfile {
        if name == "pcm" { return .pcm(holding: sampleFormat ?? "s16") }
        let wanted = preferred[name] ?? name
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap {
                avcodec_find_encoder($0.pointee.id)
            }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_AUDIO else {
            throw ReelFailure(
                .usage, "--audio-codec \(name): this FFmpeg has no such audio encoder; reel knows aac, opus, flac, pcm")
        }
        return AudioEncoderProfile(
            encoder: String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)))
    }

    /// The encoder of a source's own codec, for those that reel encodes again in kind.
    static func same(as codec: String) -> AudioEncoderProfile? {
        guard codec.hasPrefix("pcm") || ["aac", "opus", "flac"].contains(codec) else { return nil }
        return try? named(codec, sampleFormat: nil)
    }

    /// Little-endian PCM of a sample format: nothing of a sample is lost.
    static func pcm(holding sampleFormat: String) -> AudioEncoderProfile {
        let names = ["u8": "u8", "s16": "s16le", "s32": "s32le", "s64": "s64le", "flt": "f32le", "dbl": "f64le"]
        let packed = sampleFormat.hasSuffix("p") ? String(sampleFormat.dropLast()) : sampleFormat
        let name = "pcm_" + (names[packed] ?? "f32le")
        return AudioEncoderProfile(encoder: name, codec: name)
    }

    /// The rate itself where the encoder takes it, else the next higher one, else the highest.
    func nearestRate(to rate: Int) -> Int {
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.supported_samplerates else { return rate }
        var rates: [Int] = []
        while list[rates.count] != 0 { rates.append(Int(list[rates.count])) }
        return rates.contains(rate) ? rate : rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    /// The layout itself where the encoder takes it, else the usual one with as many channels.
    func layout(for name: String) -> String {
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.ch_layouts else { return name }
        var wanted = AVChannelLayout()
        guard av_channel_layout_from_string(&wanted, name) >= 0 else { return name }
        var offered: [AVChannelLayout] = []
        while list[offered.count].nb_channels != 0 { offered.append(list[offered.count]) }
        if offered.contains(where: { layout in
            var layout = layout
            return av_channel_layout_compare(&layout, &wanted) == 0
        }) {
            return name
        }
        guard var other = offered.first(where: { $0.nb_channels == wanted.nb_channels }) else { return name }
        return layoutName(&other)
    }
}

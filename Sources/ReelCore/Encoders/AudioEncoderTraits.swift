/// What reel knows of an audio encoder, and of the codec that it makes, beyond what libavcodec reports; a row of
/// `AudioEncoderTraits.all`.
package struct AudioEncoderTraits: Sendable {
    package let name: String
    package let codec: String
    /// Whether a worker reports the encoder's build, so that plans ask workers for it.
    package var isReported = false
    /// Whether a source of this codec is by default encoded in the same codec.
    package var keepsCodec = false
    /// Whether sources of other codecs may be encoded with it. The table's order is that of preference.
    package var isForAnySource = false
    /// Whether decoding gives back every sample unchanged, apart from those of more than `mostBits` bits. Such an
    /// encoder gets no rate.
    package var isLossless = false
    /// Bits per second for each channel; without meaning for lossless encoders.
    package var bitratePerChannel: Int64 = 96_000
    /// The rates that the encoder takes, in bits per second, for sound with this many channels and samples per second;
    /// nil for any.
    package var bitrates: @Sendable (_ channels: Int, _ rate: Int) -> ClosedRange<Int64>? = { _, _ in nil }
    /// The most bits of a sample that the codec holds; nil for no limit that matters.
    package var mostBits: Int?
    /// The most channels that the codec holds; nil for no limit that matters.
    package var mostChannels: Int?
    /// The one rate that reel encodes at, in samples per second; nil for all that libavcodec lists.
    package var sampleRate: Int?
    /// The channel layouts that files of the codec can name; nil for all that libavcodec lists.
    package var layouts: [String]?
    /// Whether files may have other layouts than `layouts`, with channels that are numbered and have no places.
    package var numbersOtherChannels = false
    /// The frames that an encode of a part of a track begins earlier and ends later, so that its packets join those of the
    /// parts beside it; nil if they never do. docs/reports/encoders.md has the measurements.
    package var joints: (before: Int, after: Int)?
    /// Whether the encoder gives its last packets the time at which the sound ends, and not their own.
    package var timesEndEarly = false
    /// The number of packets that a decoder needs before the first one that is heard, if a track's packets are passed
    /// through. The packet has this many samples.
    package var prerollPackets: @Sendable (_ samples: Int) -> Int = { _ in 2 }

    /// The row of an encoder. An encoder without a row gets the defaults, or those of PCM, with this codec.
    package static func named(_ name: String, codec: String) -> AudioEncoderTraits {
        if let row = all.first(where: { $0.name == name }) { return row }
        return isPCM(codec) ? pcm(name) : AudioEncoderTraits(name: name, codec: codec)
    }

    /// The first row of a codec; for a codec without a row, what `named` gives.
    package static func making(_ codec: String) -> AudioEncoderTraits {
        all.first { $0.codec == codec } ?? named(codec, codec: codec)
    }

    /// The codec that a user means by the name of an encoder or a codec; `pcm` is one of PCM's. Nil for any other text.
    package static func codec(askedFor name: String) -> String? {
        name == "pcm" ? "pcm_s16le" : all.first { $0.name == name || $0.codec == name }?.codec
    }

    /// Whether reel has been tested with the encoder: it has a row, or is one of PCM's.
    package var isTried: Bool { AudioEncoderTraits.isPCM(codec) || AudioEncoderTraits.all.contains { $0.name == name } }

    package static func isPCM(_ codec: String) -> Bool { codec.hasPrefix("pcm") }

    /// The audio encoders that reel knows. To add one, add a row. The codec's name chooses the first that makes it.
    package static let all: [AudioEncoderTraits] =
        [
            AudioEncoderTraits(
                name: "aac", codec: "aac", isReported: true, keepsCodec: true, isForAnySource: true,
                // ISO 14496-3 4.5.3.3: 6144 bits a channel in each frame of 1024 samples.
                bitrates: { channels, rate in 8_000...max(8_000, Int64(channels) * 6 * Int64(rate)) },
                // ISO 14496-3 table 1.19. libavcodec describes other layouts in a way that its own decoder does not map
                // to names.
                layouts: ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"],
                // Its rate control takes about 200 frames until it is what it is in a long encode.
                joints: (256, 2)),
            AudioEncoderTraits(
                name: "libopus", codec: "opus", isReported: true, keepsCodec: true, isForAnySource: true,
                bitratePerChannel: 80_000,
                // libavcodec's wrapper refuses others.
                bitrates: { channels, _ in 500...256_000 * Int64(channels) },
                // Opus is decoded at 48 kHz, whatever rate its encoder takes, and libavformat 5.1 states its delay at
                // no other rate.
                sampleRate: 48_000, layouts: ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"],
                // RFC 7845 5.1.1.3.
                numbersOtherChannels: true, joints: (32, 2),
                // 80 ms (RFC 7845 4.6); a packet has 2.5 ms or more.
                prerollPackets: { samples in (3840 + max(samples, 120) - 1) / max(samples, 120) }),
            AudioEncoderTraits(
                name: "flac", codec: "flac", isReported: true, keepsCodec: true, isForAnySource: true,
                isLossless: true, mostBits: 24,
                // RFC 9639 9.1.3.
                mostChannels: 8, joints: (0, 0), prerollPackets: noPackets),
            AudioEncoderTraits(name: "libvorbis", codec: "vorbis", isReported: true, keepsCodec: true),
            AudioEncoderTraits(
                name: "alac", codec: "alac", isReported: true, keepsCodec: true, isLossless: true, mostBits: 24,
                joints: (0, 0), prerollPackets: noPackets),
            AudioEncoderTraits(
                // The bit reservoir runs from frame to frame, so parts never join.
                name: "libmp3lame", codec: "mp3",
                // ISO 11172-3 2.4.2.3, and ISO 13818-3 2.4.2.3 for lower sample rates.
                bitrates: { _, rate in rate < 32_000 ? 8_000...160_000 : 32_000...320_000 },
                // libavcodec 59 runs out of the times of what it was given.
                timesEndEarly: true,
                // Those of the bit reservoir of 511 bytes (ISO 11172-3 2.4.2.7).
                prerollPackets: { _ in 9 }),
        ] + ["u8", "s16le", "s24le", "s32le", "s64le", "f32le", "f64le"].map { pcm("pcm_" + $0) }

    /// Little-endian PCM that holds a track's samples without loss.
    package static func pcm(holding track: AudioTrack) -> AudioEncoderTraits {
        let names = ["u8": "u8", "s16": "s16le", "s32": "s32le", "s64": "s64le", "flt": "f32le", "dbl": "f64le"]
        let format = track.sampleFormat
        let packed = format.hasSuffix("p") ? String(format.dropLast()) : format
        let is24 = packed == "s32" && track.bitsPerSample.map { $0 <= 24 } == true
        return pcm("pcm_" + (is24 ? "s24le" : names[packed] ?? "f32le"))
    }

    /// The row of any PCM encoder; each has its codec's name. Every build of one makes the same bytes, so workers do
    /// not report it.
    static func pcm(_ name: String) -> AudioEncoderTraits {
        AudioEncoderTraits(name: name, codec: name, keepsCodec: true, isLossless: true, joints: (0, 0))
    }

    /// Of codecs whose packets decode alone.
    private static let noPackets: @Sendable (Int) -> Int = { _ in 0 }
}

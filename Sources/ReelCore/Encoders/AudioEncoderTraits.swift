/// What reel knows of an audio encoder, and of the codec that it makes, beyond what libavcodec reports; a row of
/// `AudioEncoderTraits.all`.
package struct AudioEncoderTraits: Sendable {
    /// The encoder's name, as FFmpeg spells it.
    package let name: String
    /// The codec that the encoder makes, as FFmpeg spells it.
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
    /// The rates that the encoder takes, in bits per second, for sound with this many channels and samples per second; nil for
    /// any.
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
    /// The number of packets that a decoder needs before the first one that is heard, if a track's packets are passed
    /// through. The packet has this many samples.
    package var prerollPackets: @Sendable (_ samples: Int) -> Int = { _ in 2 }

    /// The row of an encoder; for an encoder without a row, the defaults, or those of PCM.
    ///
    /// - Parameter codec: the codec of an encoder that has no row.
    package static func named(_ name: String, codec: String) -> AudioEncoderTraits {
        if let row = all.first(where: { $0.name == name }) { return row }
        return isPCM(codec) ? pcm(name) : AudioEncoderTraits(name: name, codec: codec)
    }

    /// The first row of a codec; for a codec without a row, what `named` gives.
    package static func making(_ codec: String) -> AudioEncoderTraits {
        all.first { $0.codec == codec } ?? named(codec, codec: codec)
    }

    /// The codec that a user means by the name of an encoder or a codec, one of PCM's for `pcm`; nil for any other text.
    package static func codec(askedFor name: String) -> String? {
        name == "pcm" ? "pcm_s16le" : all.first { $0.name == name || $0.codec == name }?.codec
    }

    /// Whether reel has been tested with the encoder: it has a row, or is one of PCM's.
    package var isTried: Bool { AudioEncoderTraits.isPCM(codec) || AudioEncoderTraits.all.contains { $0.name == name } }

    /// Whether a codec, given by FFmpeg's name, is one of PCM's many.
    package static func isPCM(_ codec: String) -> Bool { codec.hasPrefix("pcm") }
}

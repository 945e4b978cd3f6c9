internal import CFFmpeg
internal import ReelCore

extension CodecParameters {
    init(native parameters: AVCodecParameters) {
        self.init(
            extradata: Hexadecimal.text(parameters.header), frameSize: Int(parameters.frame_size),
            blockAlign: Int(parameters.block_align), bitrate: parameters.bit_rate, profile: Int(parameters.profile),
            bitsPerCodedSample: Int(parameters.bits_per_coded_sample),
            bitsPerRawSample: Int(parameters.bits_per_raw_sample), seekPreroll: Int(parameters.seek_preroll))
    }
}

extension AudioTrack {
    /// Fills in the parameters of a stream that holds the track's packets unchanged.
    ///
    /// - Parameter padding: samples at the start of the stream's first packet that are not to be heard.
    func describe(
        into parameters: UnsafeMutablePointer<AVCodecParameters>, padding: Int
    ) throws(ReelFailure) {
        guard let descriptor = avcodec_descriptor_get_by_name(codec) else {
            throw ReelFailure(.codecAbsent(codec: codec, role: .codec))
        }
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = descriptor.pointee.id
        parameters.pointee.format = av_get_sample_fmt(sampleFormat).rawValue
        parameters.pointee.sample_rate = Int32(clamping: sampleRate)
        try check(
            av_channel_layout_from_string(&parameters.pointee.ch_layout, channelLayout),
            .layOutChannels, channelLayout)
        let stored = self.parameters
        parameters.pointee.frame_size = Int32(clamping: stored.frameSize)
        parameters.pointee.block_align = Int32(clamping: stored.blockAlign)
        parameters.pointee.bit_rate = stored.bitrate
        parameters.pointee.profile = Int32(clamping: stored.profile)
        parameters.pointee.bits_per_coded_sample = Int32(clamping: stored.bitsPerCodedSample)
        parameters.pointee.bits_per_raw_sample = Int32(clamping: stored.bitsPerRawSample)
        parameters.pointee.seek_preroll = Int32(clamping: stored.seekPreroll)
        parameters.pointee.initial_padding = Int32(clamping: padding)
        try setHeader(header(padding: padding), of: parameters)
    }

    /// The number of samples at the start of an Opus stream that are not to be heard (RFC 7845 5.1); 0 for other
    /// codecs.
    var opusPreSkip: Int {
        let header = payload(ofHexadecimal: parameters.extradata)
        return codec == "opus" && header.count >= 12 ? Int(header[10]) | Int(header[11]) << 8 : 0
    }

    private func header(padding: Int) -> [UInt8] {
        var bytes = payload(ofHexadecimal: parameters.extradata)
        // RFC 7845 5.1: the identification header says how many samples to skip.
        if codec == "opus", bytes.count >= 12 {
            (bytes[10], bytes[11]) = (UInt8(truncatingIfNeeded: padding), UInt8(truncatingIfNeeded: padding >> 8))
        }
        return bytes
    }
}

/// The bytes of a text of hexadecimal digits. Other characters are ignored.
private func payload(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

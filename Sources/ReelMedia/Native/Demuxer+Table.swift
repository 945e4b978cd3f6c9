internal import CFFmpeg
internal import ReelCore

extension Demuxer {
    /// Stops handing out a stream's packets.
    func skip(_ index: Int) { stream(index)?.pointee.discard = AVDISCARD_ALL }

    /// Announces that the first bytes of a stream's key packets will be fetched.
    func expectKeys(of stream: UnsafeMutablePointer<AVStream>) {
        let entries = (0..<avformat_index_get_entries_count(stream)).lazy.compactMap { place in
            avformat_index_get_entry(stream, place)?.pointee
        }
        file.expect(entries.filter { $0.flags & AVINDEX_KEYFRAME != 0 }.map(\.pos))
    }

    /// Whether all packets of the selected streams that the container's table lists are in the file. In a file that was
    /// cut off they are not.
    func listsOnlyWhatIsThere() -> Bool {
        let size = fileSize
        return streams.filter { $0.pointee.discard != AVDISCARD_ALL }.allSatisfy { stream in
            (0..<avformat_index_get_entries_count(stream)).allSatisfy { place in
                avformat_index_get_entry(stream, place).map { $0.pointee.pos + Int64($0.pointee.size) <= size } ?? false
            }
        }
    }

    /// Whether the file's headers tell everything about every packet but its payload. That is so for MP4 and QuickTime
    /// without fragments, and without streams that libavformat splits further.
    func hasTable() throws(ReelFailure) -> Bool {
        guard formatName.hasPrefix("mov,"), streams.allSatisfy(\.isWholeInTable) else { return false }
        return try MovieBoxes.listEverything(file.bytes)
    }

    /// Whether a stream is encrypted, as far as headers say it: libavformat tells that of some tracks alone.
    func encrypts(_ stream: UnsafeMutablePointer<AVStream>) throws(ReelFailure) -> Bool {
        if reel_stream_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nil) != nil { return true }
        if ["encv", "drmi"].contains(fourCharacters(stream.pointee.codecpar.pointee.codec_tag)) { return true }
        guard formatName.hasPrefix("mov,") else { return false }
        return try MovieBoxes.encrypts(track: Int(stream.pointee.id), file.bytes)
    }

    /// The composition offsets of a stream, which libavformat does not give; nil if they are not to be used.
    func compositionOffsets(of stream: UnsafeMutablePointer<AVStream>) throws(ReelFailure) -> CompositionOffsets? {
        guard leavesPayload else { return nil }
        return try CompositionOffsets(track: Int(stream.pointee.id), file.bytes)
    }

    /// Reads the first `count` bytes of a packet whose payload is left on the disk. Behind the bytes that `body` gets
    /// lies the padding that libavcodec's readers may look at.
    func withFirstBytes<R>(
        _ count: Int, at position: Int64, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(ReelFailure) -> R {
        let bytes = try file.bytes(at: position, count)
        let padded = bytes + [UInt8](repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        return padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
    }
}

extension UnsafeMutablePointer<AVStream> {
    /// Whether libavformat gives the packets that the container's table lists, with the table's key flags.
    fileprivate var isWholeInTable: Bool {
        let parameters = pointee.codecpar.pointee
        switch parameters.codec_type {
        case AVMEDIA_TYPE_AUDIO:
            // The sound of DV is inside its pictures.
            return !["vdva", "dvca"].contains(fourCharacters(parameters.codec_tag))
        case AVMEDIA_TYPE_VIDEO where !isCover:
            // In these codecs a sample may hold several pictures, or a picture need several samples.
            let packed = [AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG4, AV_CODEC_ID_VC1, AV_CODEC_ID_WMV3]
            return !packed.contains(parameters.codec_id) && (saysWhichAreKey || needsNoKeys)
        default: return true
        }
    }

    /// Whether the table says which packets are key. Without such a table libavformat flags all of them.
    private var saysWhichAreKey: Bool {
        (0..<avformat_index_get_entries_count(self)).contains { place in
            avformat_index_get_entry(self, place).map { $0.pointee.flags & AVINDEX_KEYFRAME == 0 } ?? false
        }
    }

    /// Whether the table's key flags are not needed: every packet is key, or its first bytes tell for certain.
    private var needsNoKeys: Bool {
        let codec = pointee.codecpar.pointee.codec_id
        let isIntra = avcodec_descriptor_get(codec).map { $0.pointee.props & AV_CODEC_PROP_INTRA_ONLY != 0 } ?? false
        return isIntra || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG2VIDEO
    }
}

internal import CFFmpeg
internal import ReelCore

extension Demuxer {
    func skip(_ index: Int) { stream(index)?.pointee.discard = AVDISCARD_ALL }

    /// Where a stream's key packets are, and how long they are, as the container's table has it.
    func keys(of stream: NativeStream) -> [(position: Int64, size: Int)] {
        stream.entries.filter { $0.flags & AVINDEX_KEYFRAME != 0 }.map { ($0.pos, Int($0.size)) }
    }

    /// Announces that the first bytes of packets at these places will be fetched.
    func expect(_ places: [Int64]) { file.expect(places) }

    /// Announces that a range of the file will be read.
    func expect(_ range: Range<Int64>) { file.expect(range) }

    /// Whether each place that is read costs a request over a network.
    var isDistant: Bool { file.isDistant }

    /// Whether all packets of the selected streams that the container's table lists are in the file. In a file that was
    /// cut off they are not.
    func listsOnlyWhatIsThere() -> Bool {
        let size = fileSize
        return streams.filter { $0.pointee.discard != AVDISCARD_ALL }.allSatisfy { stream in
            stream.entries.allSatisfy { $0.pos + Int64($0.size) <= size }
        }
    }

    /// Whether the file's headers tell everything about every packet but its payload. That is so for MP4 and QuickTime
    /// without fragments, and without streams that libavformat splits further.
    func hasTable() throws(ReelFailure) -> Bool {
        guard formatName.hasPrefix("mov,"), streams.allSatisfy(\.isWholeInTable) else { return false }
        return try MovieBoxes.listEverything(file.bytes)
    }

    /// Whether a stream is encrypted, as far as headers say; libavformat reports it only for some tracks.
    func encrypts(_ stream: NativeStream) throws(ReelFailure) -> Bool {
        if reel_stream_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nil) != nil { return true }
        if ["encv", "drmi"].contains(fourCharacters(stream.parameters.codec_tag)) { return true }
        guard formatName.hasPrefix("mov,") else { return false }
        return try MovieBoxes.encrypts(track: Int(stream.pointee.id), file.bytes)
    }

    /// The composition offsets of a stream, which libavformat does not give; nil if they are not to be used.
    func compositionOffsets(of stream: NativeStream) throws(ReelFailure) -> CompositionOffsets? {
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

extension NativeStream {
    /// The packets that the container's table lists.
    fileprivate var entries: some Sequence<AVIndexEntry> {
        (0..<avformat_index_get_entries_count(self)).lazy.compactMap { avformat_index_get_entry(self, $0)?.pointee }
    }

    /// Whether libavformat gives the packets that the container's table lists, with the table's key flags.
    fileprivate var isWholeInTable: Bool {
        let parameters = parameters
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
    private var saysWhichAreKey: Bool { entries.contains { $0.flags & AVINDEX_KEYFRAME == 0 } }

    /// Whether the table's key flags are not needed: every packet is key, or its first bytes tell for certain.
    private var needsNoKeys: Bool {
        let codec = parameters.codec_id
        let isIntra = avcodec_descriptor_get(codec).map { $0.pointee.props & AV_CODEC_PROP_INTRA_ONLY != 0 } ?? false
        return isIntra || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG2VIDEO
    }
}

/// The facts about a source beside its packet streams.
extension Demuxer {
    /// Covers and attached files in the order of the file, without empty ones. A file without a name gets one: Matroska
    /// requires names, and identifies a cover by the name "cover" (RFC 9559 21.2).
    var attachments: [Attachment] {
        var (result, names): ([Attachment], Set<String>) = ([], [])
        for stream in streams where stream.isAttachment && !stream.attachedBytes.isEmpty {
            let codec = stream.parameters.codec_id.name
            let found = entries(of: stream.pointee.metadata)
            let value = { (name: String) in found.first { $0.name.lowercased() == name && !$0.value.isEmpty }?.value }
            let ending = Self.pictures[codec].map { "." + $0.ending } ?? ""
            var name = value("filename") ?? (stream.isCover ? "cover" : "attachment") + ending
            if !names.insert(name).inserted { name = "\(stream.pointee.index)-\(name)" }
            names.insert(name)
            result.append(
                Attachment(
                    index: stream.number, isCover: stream.isCover, codec: codec, fileName: name,
                    mediaType: value("mimetype") ?? Self.pictures[codec]?.mediaType ?? "application/octet-stream",
                    title: value("title"), bytes: Int64(stream.attachedBytes.count)))
        }
        return result
    }

    private static let pictures: [String: (ending: String, mediaType: String)] = [
        "mjpeg": ("jpg", "image/jpeg"), "png": ("png", "image/png"), "bmp": ("bmp", "image/bmp"),
        "gif": ("gif", "image/gif"), "tiff": ("tiff", "image/tiff"), "webp": ("webp", "image/webp"),
    ]

    /// The timecode of the first frame, if the container or a timecode track states it.
    var timecode: MetadataEntry? {
        let holders = [metadata] + streams.map { entries(of: $0.pointee.metadata) }
        let found = holders.lazy.compactMap { $0.value(of: "timecode") }.first
        return found.map { MetadataEntry(name: "timecode", value: $0) }
    }

    var streams: [NativeStream] { (0..<streamCount).compactMap { stream($0) } }
}

extension NativeStream {
    /// A picture that represents the whole file. Thumbnails of chapters are not covers.
    var isCover: Bool {
        pointee.disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)
            == AV_DISPOSITION_ATTACHED_PIC
    }

    /// A cover or an attached file.
    var isAttachment: Bool { isCover || parameters.codec_type == AVMEDIA_TYPE_ATTACHMENT }

    /// The bytes of a cover or an attached file; valid while the demuxer is open.
    var attachedBytes: UnsafeRawBufferPointer {
        if isCover {
            let packet = pointee.attached_pic
            return UnsafeRawBufferPointer(start: packet.data, count: Int(packet.size))
        }
        return parameters.header
    }
}

extension Demuxer {
    /// Whether the file is as long as its container says. A recording that broke off may still announce an end in its
    /// header, although its last frame comes earlier.
    func isWhole() throws(ReelFailure) -> Bool {
        switch formatName {
        case "matroska,webm": try matroskaEnd(in: file.bytes(at: 0, 4096)).map { $0 <= fileSize } ?? true
        case "nut": try endsWithNUTIndex()
        default: true
        }
    }

    /// Whether a NUT file ends with its index, which is written last: its last bytes are the distance of its beginning
    /// from the file's end, and a checksum (the NUT specification, "index packet").
    private func endsWithNUTIndex() throws(ReelFailure) -> Bool {
        let last = try file.bytes(at: max(fileSize - 12, 0), 12)
        guard last.count == 12 else { return false }
        let back = Int64(last.bigEndian(at: 0, bytes: 8))
        guard (12...max(fileSize, 12)).contains(back) else { return false }
        return try file.bytes(at: fileSize - back, 8) == [0x4e, 0x58, 0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e]
    }

    /// Whether the file is an animated WebP. Its demuxer returns it as one packet, which the decoder cannot show. The
    /// chunk VP8X has the flag (WebP Container Specification, Extended File Format).
    func isUnsplitWebP() throws(ReelFailure) -> Bool {
        guard formatName == "webp_pipe" else { return false }
        let head = try file.bytes(at: 0, 21)
        return head.count == 21 && head[12..<16].elementsEqual("VP8X".utf8) && head[20] & 2 != 0
    }
}

/// Where the segment of a Matroska or WebM file ends by its size, by the first bytes of the file (RFC 8794 sections 4
/// to 6, RFC 9559 section 5). Nil if the size is unknown, as in a live stream, or the bytes are of another kind.
private func matroskaEnd(in bytes: [UInt8]) -> Int64? {
    var place = 0
    while let id = number(in: bytes, &place, keepsMarker: true),
        let size = number(in: bytes, &place, keepsMarker: false)
    {
        guard let end = Int64(exactly: size.value).map({ $0.addingReportingOverflow(Int64(place)) }), !end.overflow
        else { return nil }
        if id.value == 0x1853_8067 { return size.isUnknown ? nil : end.partialValue }
        guard !size.isUnknown, end.partialValue < bytes.count else { return nil }
        place = Int(end.partialValue)
    }
    return nil
}

/// Reads a number of one to eight bytes. The leading zeros of the first byte say how many follow. In a size, all ones
/// mean that it is unknown.
private func number(in bytes: [UInt8], _ place: inout Int, keepsMarker: Bool) -> (value: UInt64, isUnknown: Bool)? {
    guard place < bytes.count, bytes[place] != 0 else { return nil }
    let length = bytes[place].leadingZeroBitCount + 1
    guard place + length <= bytes.count else { return nil }
    var value = UInt64(bytes[place])
    if !keepsMarker { value &= 0xff >> UInt64(length) }
    for byte in bytes[place + 1..<place + length] { value = value << 8 | UInt64(byte) }
    place += length
    return (value, value == (1 << (7 * UInt64(length))) - 1)
}

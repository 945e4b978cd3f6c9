internal import CFFmpeg
internal import ReelCore

/// What a source has beside its packet streams.
extension Demuxer {
    /// Covers and attached files in the order of the file, without empty ones. Those without a name get one: Matroska
    /// requires names, and identifies a cover by the name "cover" (RFC 9559 21.2).
    var attachments: [Attachment] {
        var (result, names): ([Attachment], Set<String>) = ([], [])
        for stream in streams where stream.isAttachment && !stream.attachedBytes.isEmpty {
            let codec = String(cString: avcodec_get_name(stream.pointee.codecpar.pointee.codec_id))
            let found = entries(of: stream.pointee.metadata)
            let value = { (name: String) in found.first { $0.name.lowercased() == name && !$0.value.isEmpty }?.value }
            let ending = Self.pictures[codec].map { "." + $0.ending } ?? ""
            var name = value("filename") ?? (stream.isCover ? "cover" : "attachment") + ending
            if !names.insert(name).inserted { name = "\(stream.pointee.index)-\(name)" }
            names.insert(name)
            result.append(
                Attachment(
                    index: Int(stream.pointee.index), isCover: stream.isCover, codec: codec, fileName: name,
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
        let found = holders.lazy.compactMap { $0.first { $0.name.lowercased() == "timecode" } }.first
        return found.map { MetadataEntry(name: "timecode", value: $0.value) }
    }

    var streams: [UnsafeMutablePointer<AVStream>] { (0..<streamCount).compactMap { stream($0) } }
}

extension UnsafeMutablePointer<AVStream> {
    /// A picture that represents the whole file. Thumbnails of chapters are not covers.
    var isCover: Bool {
        pointee.disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)
            == AV_DISPOSITION_ATTACHED_PIC
    }

    /// A cover or an attached file.
    var isAttachment: Bool { isCover || pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_ATTACHMENT }

    /// The bytes of a cover or an attached file; valid while the demuxer is open.
    var attachedBytes: UnsafeRawBufferPointer {
        if isCover {
            let packet = pointee.attached_pic
            return UnsafeRawBufferPointer(start: packet.data, count: Int(packet.size))
        }
        return pointee.codecpar.pointee.header
    }
}

internal import CFFmpeg
internal import ReelCore

/// Reports the streams of a source that no output will have; all data streams in one diagnostic.
struct DroppedStreams {
    /// The main video, which is reversed.
    let main: Int
    /// Chapters of MP4 are also a text track; it becomes chapters again.
    let hasChapters: Bool
    /// Why audio tracks cannot be kept, by stream.
    let refusals: [Int: StreamRefusal]

    func diagnostics(_ streams: [UnsafeMutablePointer<AVStream>]) -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        var data: [DataStream] = []
        for stream in streams {
            let parameters = stream.pointee.codecpar.pointee
            let number = Int(stream.pointee.index)
            let codec = String(cString: avcodec_get_name(parameters.codec_id))
            guard parameters.codec_type == AVMEDIA_TYPE_DATA else {
                let kind = known(av_get_media_type_string(parameters.codec_type)) ?? "unknown"
                diagnostics.append(
                    .streamLeftOut(stream: number, kind: kind, codec: codec, refusal: refusal(of: stream)))
                continue
            }
            let tag = fourCharacters(parameters.codec_tag)
            if hasChapters, parameters.codec_id == AV_CODEC_ID_BIN_DATA, tag == "text" { continue }
            let isReadable = tag.utf8.count == 4 && tag.utf8.allSatisfy { (33...126).contains($0) }
            data.append(DataStream(stream: number, kind: isReadable ? tag : codec))
        }
        return diagnostics + (data.isEmpty ? [] : [.dataLeftOut(streams: data)])
    }

    private func refusal(of stream: UnsafeMutablePointer<AVStream>) -> StreamRefusal {
        switch stream.pointee.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO where stream.pointee.disposition & AV_DISPOSITION_TIMED_THUMBNAILS != 0:
            .chapterPictures
        case AVMEDIA_TYPE_VIDEO where stream.isCover: .emptyCover
        case AVMEDIA_TYPE_VIDEO: .notMain(main: main)
        case AVMEDIA_TYPE_SUBTITLE: .subtitlesNotText
        default: refusals[Int(stream.pointee.index)] ?? .notKept
        }
    }
}

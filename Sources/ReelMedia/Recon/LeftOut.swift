internal import CFFmpeg
internal import ReelCore

/// Says what of a source's streams no output will have, a sentence each; one for all streams of data.
struct LeftOut {
    /// The stream that is reversed.
    let main: Int
    /// Chapters of MP4 are a track of text, too, which becomes chapters again.
    let hasChapters: Bool
    /// Why tracks of sound cannot be kept, by their streams.
    let refusals: [Int: String]

    func sentences(_ streams: [UnsafeMutablePointer<AVStream>]) -> [String] {
        var (sentences, data): ([String], [String]) = ([], [])
        for stream in streams {
            let parameters = stream.pointee.codecpar.pointee
            let codec = String(cString: avcodec_get_name(parameters.codec_id))
            let tag = fourCharacters(parameters.codec_tag)
            let name = "stream \(stream.pointee.index)"
            switch parameters.codec_type {
            case AVMEDIA_TYPE_DATA:
                if hasChapters, parameters.codec_id == AV_CODEC_ID_BIN_DATA, tag == "text" { continue }
                let isReadable = tag.utf8.count == 4 && tag.utf8.allSatisfy { (33...126).contains($0) }
                data.append("\(name) (\(isReadable ? tag : codec))")
            case AVMEDIA_TYPE_VIDEO where stream.pointee.disposition & AV_DISPOSITION_TIMED_THUMBNAILS != 0:
                sentences.append("\(name) is left out: it holds pictures of chapters")
            case AVMEDIA_TYPE_VIDEO where stream.isCover:
                sentences.append("\(name) is left out: it is a cover without a picture")
            case AVMEDIA_TYPE_VIDEO:
                sentences.append("\(name) (video, \(codec)) is left out: only stream \(main) is reversed")
            case AVMEDIA_TYPE_SUBTITLE:
                sentences.append("\(name) (subtitles, \(codec)) is left out: only subtitles that are text are kept")
            default:
                let kind = known(av_get_media_type_string(parameters.codec_type)) ?? "unknown"
                sentences.append(
                    "\(name) (\(kind), \(codec)) is left out"
                        + (refusals[Int(stream.pointee.index)].map { ": " + $0 } ?? ""))
            }
        }
        return sentences + (data.isEmpty ? [] : ["data is left out: \(data.joined(separator: ", "))"])
    }
}

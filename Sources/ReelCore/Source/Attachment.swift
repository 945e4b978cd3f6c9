/// A cover or a file that the source stores beside its streams. Its bytes stay in the source.
package struct Attachment: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var index: Int
    /// Whether it is a cover: a picture that represents the whole file.
    package var isCover: Bool
    /// The codec's name as FFmpeg spells it, for example "mjpeg" or "ttf"; "none" if there is none.
    package var codec: String
    /// The name under which the container stores the file; empty if unspecified.
    package var fileName: String
    /// The MIME type, for example "image/jpeg".
    package var mediaType: String
    /// The title; nil if there is none.
    package var title: String?
    /// The size in bytes.
    package var bytes: Int64

    package init(
        index: Int, isCover: Bool, codec: String, fileName: String, mediaType: String, title: String?, bytes: Int64
    ) {
        self.index = index
        self.isCover = isCover
        self.codec = codec
        self.fileName = fileName
        self.mediaType = mediaType
        self.title = title
        self.bytes = bytes
    }
}

internal import ReelCore
internal import ReelWords

/// Where an output is to be played: on the web and on phones, or at a service that takes files up to a size. Whatever the
/// source has, the output is MP4 with H.264 and AAC in the forms that all browsers and phones play.
package enum Purpose: String, CaseIterable, Sendable {
    case web, discord, whatsapp, email

    /// The most bytes of a file; nil for any number. Services change them: docs/reverse.md has the table for people.
    var mostBytes: Int64? {
        switch self {
        case .web: nil
        case .discord: 10_000_000
        case .whatsapp: 16_000_000
        // Of messages of 20 MB, in which files take 4 bytes for 3.
        case .email: 14_000_000
        }
    }

    static let container = Container.mp4

    /// What it says of an output, for options that are not given.
    func fill(_ request: inout OutputRequest) {
        (request.videoCodec, request.profile, request.pixelFormat) = ("libx264", "high", "yuv420p")
        request.audioCodec = "aac"
        if let mostBytes {
            // What fits anyway does not grow.
            (request.maxSize, request.bitrate) = (ByteSize(bytes: mostBytes), BitRate("source"))
        }
        request.fps = request.fps ?? FrameRate("60")
    }

    /// The most pixels of the longer side.
    static let mostSide = 1920
}

internal import CFFmpeg
internal import ReelCore

/// The builds of encoders, which plans name and workers report.
enum EncoderBuilds {
    /// Those of this process.
    static var all: [String] {
        let names =
            EncoderTraits.all.filter(\.isListed).map(\.name) + AudioEncoderTraits.all.filter(\.isReported).map(\.name)
        return (names.filter { avcodec_find_encoder_by_name($0) != nil } + [VideoTarget.copy]).map(build(of:))
    }

    /// The build of an encoder: its name and its library, which a plan and a worker compare.
    static func build(of encoder: String) -> String {
        let version = avcodec_version()
        return "\(encoder) Lavc\(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
}

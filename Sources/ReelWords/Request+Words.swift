internal import ReelCore

extension JobSpec.Option {
    /// The subject of the option, without the article.
    var words: String {
        switch self {
        case .container: "container"
        case .videoCodec: "video codec"
        case .crf: "constant quality (CRF)"
        case .preset: "preset"
        case .bitrate: "bit rate"
        case .lossless: "lossless encoding"
        case .audio: "audio mode"
        case .audioCodec: "audio codec"
        case .from: "start of the range"
        case .to: "end of the range"
        case .timestamps: "kind of timestamps"
        case .passFrames: "length of passes"
        case .threads: "number of threads"
        case .memory: "amount of memory"
        case .verify: "kind of verification"
        case .onDamage: "handling of damaged frames"
        case .size: "size of the pictures"
        case .loop: "number of times that it plays"
        case .fps: "number of frames a second"
        case .dither: "kind of dithering"
        case .colors: "number of colours"
        case .soundtrack: "soundtrack"
        case .pixelFormat: "pixel format"
        case .sampleRate: "sample rate"
        case .channelLayout: "channel layout"
        case .profile: "profile"
        case .audioBitrate: "bit rate of the sound"
        }
    }
}

extension JobSpec.Option {
    /// Whether it shapes a palette, which only some formats have.
    var isOfPalette: Bool { self == .dither || self == .colors }
}

extension Container {
    /// Whether its pictures share a palette.
    var hasPalette: Bool { traits.loops?.hasPalette == true }

    /// "a .mkv file".
    var file: String { "a .\(rawValue) file" }

    /// ".mkv, .mov or .nut".
    static func names(_ containers: [Container]) -> String {
        let names = containers.map { ".\($0.rawValue)" }
        return names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
    }
}

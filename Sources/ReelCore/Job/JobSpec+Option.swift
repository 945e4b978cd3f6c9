extension JobSpec {
    /// The options of a job, as facts name them. Raw values are stored: never change one.
    package enum Option: String, Codable, CaseIterable, Sendable {
        case container, videoCodec, crf, preset, bitrate, lossless, audio, audioCodec, from, to, timestamps, passFrames
        case threads, memory, verify, onDamage, size, loop, fps, dither, colors, soundtrack
        case pixelFormat, sampleRate, channelLayout, profile, audioBitrate
    }
}

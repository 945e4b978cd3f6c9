import ReelCore

/// A source as recon would index it, and how its output is encoded.
enum FakeMedia {
    static let encoder = "libx264 of the tests"

    /// Frames of equal length, one packet each, with a random access point at every tenth.
    static func index(frames count: Int) -> SourceIndex {
        let frames = (0..<count).map { place in
            FrameEntry(
                interval: Interval(start: Timestamp(Int64(place) * 512), duration: Ticks(512)), packet: Int32(place))
        }
        let packets = (0..<count).map { place in
            PacketEntry(
                pts: Timestamp(Int64(place) * 512), dts: Timestamp(Int64(place) * 512), size: 1000,
                position: Int64(48 + place * 1100), flags: place.isMultiple(of: 10) ? .key : [])
        }
        let points = stride(from: 0, to: count, by: 10).map {
            RandomAccessPoint(packet: Int32($0), frame: Int32($0))
        }
        let stream = VideoStream(
            index: 0, codec: "h264", width: 64, height: 48, pixelFormat: "yuv420p", timeBase: timeBase,
            frameRate: Rational(25), sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(),
            fieldOrder: .progressive, reorderDepth: 0, frameBytes: 4608, details: TrackDetails())
        return SourceIndex(
            format: "matroska,webm", fileSize: Int64(48 + count * 1100), startTime: Rational(0),
            video: VideoTrack(stream: stream, packets: packets, frames: frames, randomAccessPoints: points),
            audio: [], metadata: [], passthrough: .impossible(why: .interFrames(codec: "h264")), diagnostics: [])
    }

    private static let timeBase = TimeBase(1, 12800)

    static func target(threads: Int = 1) -> VideoTarget {
        .encode(
            VideoEncoding(
                encoder: "libx264",
                format: OutputFormat(
                    timeBase: timeBase, width: 64, height: 48, pixelFormat: "yuv420p", frameRate: Rational(25)),
                options: [], bitrate: nil, threads: threads, keyFrameInterval: 250,
                identity: EncoderIdentity(build: encoder, extradataHash: "")))
    }
}

package import ReelCore

/// What recon found in a source. Names only ever get added; docs/json.md explains them.
package struct SourceView: Codable, Hashable, Sendable {
    package var format: String
    package var size: Int64
    package var start: Double
    package var videoStart: Double
    package var seconds: Double
    /// Nil of a source without pictures, as its groups.
    package var video: VideoView?
    package var groups: GroupsView?
    package var audio: [AudioView]
    package var texts: [TextView]
    package var chapters: Int
    package var attachments: [String]

    /// Names are those of FFmpeg.
    package struct VideoView: Codable, Hashable, Sendable {
        package var stream: Int
        package var codec: String
        package var profile: String?
        package var level: Int?
        package var width: Int
        package var height: Int
        package var pixelFormat: String
        /// The shape of a pixel, as "64:45"; missing if pixels are square or their shape is unspecified.
        package var sampleAspectRatio: String?
        /// The shape of the picture, as "16:9"; missing if `sampleAspectRatio` is.
        package var displayAspectRatio: String?
        package var rotation: Int?
        /// Frames per second, as "30000/1001"; missing if unspecified.
        package var frameRate: String?
        package var isVariableRate: Bool
        /// Seconds for which the shortest frame is shown, the last frame left out.
        package var shortestFrame: Double
        /// Seconds for which the longest frame is shown, the last frame left out.
        package var longestFrame: Double
        package var frames: Int
        package var packets: Int
        /// Packets that are decoded and not shown, because of an edit list.
        package var hiddenPackets: Int
        /// Whether pictures are progressive, else which field comes first.
        package var fieldOrder: FieldOrder
        package var colour: ColourTags
    }

    /// Groups of pictures: the frames from each random access point to the next.
    package struct GroupsView: Codable, Hashable, Sendable {
        package var count: Int
        package var shortest: Int
        package var longest: Int
        package var average: Double
        /// Groups with frames that are shown before their random access point and decoded after it.
        package var open: Int
        /// Frames that are shown before one decoded earlier, as B-frames are.
        package var reorderedFrames: Int
        /// How many frames a decoder keeps to reorder them.
        package var reorderDepth: Int
    }

    package struct AudioView: Codable, Hashable, Sendable {
        package var stream: Int
        package var codec: String
        package var profile: String?
        package var sampleRate: Int
        package var channelLayout: String
        package var sampleFormat: String
        /// Bits of a sample; missing if the codec has no fixed number.
        package var bitsPerSample: Int?
        /// Bits per second on average.
        package var bitrate: Int64
        /// Seconds from the start of the video to that of the track; negative if the track starts earlier.
        package var start: Double
        package var end: Double
        package var language: String?
        package var title: String?
    }

    package struct TextView: Codable, Hashable, Sendable {
        package var stream: Int
        package var codec: String
        package var cues: Int
        package var language: String?
    }
}

extension SourceView {
    package init(_ index: SourceIndex) {
        let track = index.video
        let base = track.stream.timeBase
        let zero = track.frames.first.map { base.seconds($0.interval.start) } ?? Rational(0)
        self.init(
            format: index.format, size: index.fileSize, start: index.startTime.approximate,
            videoStart: zero.approximate, seconds: (base.seconds(track.end) - zero).approximate,
            video: track.isNone ? nil : VideoView(track), groups: track.isNone ? nil : GroupsView(track),
            audio: index.audio.map { AudioView($0, zero: zero) },
            texts: index.subtitles.map { text in
                TextView(
                    stream: text.parameters.index, codec: text.parameters.codec, cues: text.cues.count,
                    language: text.parameters.details.language)
            }, chapters: index.chapters.count,
            attachments: index.attachments.map { $0.isCover ? "cover (\($0.codec))" : $0.mediaType })
    }
}

extension SourceView.VideoView {
    init(_ track: VideoTrack) {
        let own = track.stream
        let durations = track.frames.dropLast().lazy.map(\.interval.duration)
        let (least, most) = (durations.min() ?? .zero, durations.max() ?? .zero)
        let aspect = own.sampleAspectRatio.flatMap { $0 == Rational(1) ? nil : $0 }
        let shown = aspect.map { $0 * Rational(Int64(own.width), Int64(max(own.height, 1))) }
        self.init(
            stream: own.index, codec: own.codec, profile: own.profile, level: own.level, width: own.width,
            height: own.height, pixelFormat: own.pixelFormat,
            sampleAspectRatio: aspect.map { "\($0.numerator):\($0.denominator)" },
            displayAspectRatio: shown.map { "\($0.numerator):\($0.denominator)" },
            rotation: own.displayMatrix.flatMap(Self.degrees), frameRate: own.frameRate?.description,
            isVariableRate: track.isUneven, shortestFrame: own.timeBase.seconds(least).approximate,
            longestFrame: own.timeBase.seconds(most).approximate, frames: track.frames.count,
            packets: track.packets.count, hiddenPackets: track.packets.count { $0.flags.contains(.discarded) },
            fieldOrder: own.fieldOrder, colour: own.colour)
    }

    /// Of a display matrix without shear (ISO 14496-12 8.3.2) whose turn is a quarter, a half or three quarters.
    private static func degrees(_ matrix: [Int32]) -> Int? {
        guard matrix.count == 9 else { return nil }
        switch (matrix[0].signum(), matrix[1].signum(), matrix[3].signum(), matrix[4].signum()) {
        case (0, 1, -1, 0): return 90
        case (-1, 0, 0, -1): return 180
        case (0, -1, 1, 0): return 270
        default: return nil
        }
    }
}

extension SourceView.GroupsView {
    init(_ track: VideoTrack) {
        let points = track.randomAccessPoints
        let starts = points.map { Int($0.frame) } + [track.frames.count]
        let lengths = zip(starts, starts.dropFirst()).map { max($1 - $0, 0) }
        var (leading, reordered, earliest): (Set<Int>, Int, Int32) = ([], 0, .max)
        // The group that a frame's packet is in: nearly always the same as for the frame after it.
        var group = points.count - 1
        for place in track.frames.indices.reversed() {
            let frame = track.frames[place]
            while group >= 0, points[group].packet > frame.packet { group -= 1 }
            while group + 1 < points.count, points[group + 1].packet <= frame.packet { group += 1 }
            if group >= 0, place < Int(points[group].frame) { leading.insert(group) }
            if frame.packet > earliest { reordered += 1 }
            earliest = min(earliest, frame.packet)
        }
        self.init(
            count: points.count, shortest: lengths.min() ?? 0, longest: lengths.max() ?? 0,
            average: lengths.isEmpty ? 0 : Double(lengths.reduce(0, +)) / Double(lengths.count), open: leading.count,
            reorderedFrames: reordered, reorderDepth: track.stream.reorderDepth)
    }
}

extension SourceView.AudioView {
    init(_ track: AudioTrack, zero: Rational) {
        let length = track.timeBase.seconds(track.span.duration).approximate
        self.init(
            stream: track.index, codec: track.codec, profile: track.profile, sampleRate: track.sampleRate,
            channelLayout: track.channelLayout, sampleFormat: track.sampleFormat, bitsPerSample: track.bitsPerSample,
            bitrate: length > 0 ? Int64(nearest: Double(track.bytes) * 8 / length) : 0,
            start: (track.timeBase.seconds(track.span.start) - zero).approximate,
            end: (track.timeBase.seconds(track.span.end) - zero).approximate, language: track.details.language,
            title: track.details.title)
    }
}

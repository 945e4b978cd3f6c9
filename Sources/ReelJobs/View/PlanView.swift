package import ReelCore

/// What `plan` shows: the work that a submission would cause. Documented in docs/json.md; names only ever get added.
package struct PlanView: Codable, Hashable, Sendable {
    package var id: String
    /// Path of the source; of the first if there are several.
    package var source: String
    /// Paths of all sources. Clips name them by their place here.
    package var sources: [String]
    package var container: String
    /// As FFmpeg spells it; "copy" with passthrough. For moving pictures, that of the lossless ones in between.
    package var videoEncoder: String
    package var pixelFormat: String
    package var width: Int
    package var height: Int
    package var audioEncoders: [String]
    package var found: SourceView
    /// The video encoder's own options, as "preset=medium crf=18.0".
    package var encoderOptions: String
    /// Bits per second of the video; missing if the quality is constant instead.
    package var bitrate: VideoRate?
    package var audio: [OutputAudioView]
    /// The clips that the output shows, in its order; repeats are not listed.
    package var clips: [ClipView]
    package var frames: Int
    /// Seconds of video that the output shows.
    package var seconds: Double
    /// In the order of the output: audio, then video from the source's end to its start, unless its packets are copied.
    package var passes: [PassView]
    /// Bytes that a pass may take.
    package var need: Int64
    /// Frames to decode, including the ones that a pass discards before its first; none with passthrough.
    package var framesToDecode: Int
    /// How much the job asks of each quota that is set and can be known before any work.
    package var quotas: [QuotaView] = []

    package struct QuotaView: Codable, Hashable, Sendable {
        /// "pixels" of a picture, "duration" in seconds, "frames" or "tracks" of the output.
        package var quota: String
        package var asked: Int64
        package var most: Int64
    }

    /// What will not be kept, is changed or repaired, in words.
    package var warnings: [String]
    package var diagnostics: [DiagnosticView]

    package struct ClipView: Codable, Hashable, Sendable {
        /// The place of its source in `sources`; missing for a gap, which is black.
        package var source: Int?
        /// Its first frame of the source in presentation order, counted from 0.
        package var firstFrame: Int
        /// The frame after its last.
        package var endFrame: Int
        /// Seconds of the source in a second of the output.
        package var speed: Double
        /// How long the output shows it each time, in seconds.
        package var seconds: Double
        package var direction: Direction
        /// When the range begins in the source, in seconds from the file's start.
        package var from: Double
        /// When the range ends in the source, in seconds from the file's start.
        package var to: Double
        /// When the output shows it first, in seconds.
        package var start: Double
        package var times: Int
    }

    package struct PassView: Codable, Hashable, Sendable {
        /// "audio" or "video".
        package var kind: String
        /// Its first frame of the source in presentation order, counted from 0; missing for audio.
        package var firstFrame: Int?
        /// The frame after its last; missing for audio.
        package var endFrame: Int?
        /// How many chunks it has, each of which becomes a segment.
        package var runs: Int
        /// Of its encoder; missing for audio.
        package var threads: Int?
    }

    package struct OutputAudioView: Codable, Hashable, Sendable {
        /// Its place among the source's audio tracks.
        package var track: Int
        package var handling: AudioHandling
        /// As FFmpeg spells it.
        package var encoder: String
        package var sampleRate: Int
        /// As FFmpeg spells it.
        package var channelLayout: String
        /// Bits per second; missing if the encoder has no bit rate.
        package var bitrate: Int64?
    }

    /// How a track gets into the output.
    package enum AudioHandling: String, Codable, Sendable {
        /// Decoded, reversed sample by sample, and encoded.
        case reversed
        /// Decoded and encoded in its own order.
        case forwards
        /// Its packets are copied unchanged.
        case copied
        /// Decoded, put together as the clips have it, and encoded.
        case edited
        /// The soundtrack's: decoded, faded out, and encoded.
        case soundtrack

        init(_ target: AudioTarget, in plan: Plan) {
            self =
                if plan.soundtrack != nil { .soundtrack } else if plan.isEdit { .edited } else {
                    target.isPassthrough ? .copied : target.direction == .forwards ? .forwards : .reversed
                }
        }
    }

    /// Adds what was found before the sources were read.
    package mutating func add(_ found: [Diagnostic]) {
        let views = found.map(DiagnosticView.init)
        diagnostics += views
        warnings += views.map(\.message)
    }

}

extension PlanView {
    /// - Parameters:
    ///   - sources: paths of the sources; at least one.
    ///   - indexes: those of the plan's sources, in their order.
    package init(id: String, sources: [String], plan: Plan, indexes: [SourceIndex]) {
        let (format, encoding, makers) = (plan.video.format, plan.video.encoding, plan.makers)
        let audio = plan.audio.map { target in
            OutputAudioView(
                track: target.track, handling: AudioHandling(target, in: plan), encoder: target.encoder,
                sampleRate: target.sampleRate, channelLayout: target.channelLayout, bitrate: target.bitrate)
        }
        let times = makers.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let clips = plan.clips.enumerated().filter { makers[$0.offset] == $0.offset }.map { number, clip in
            ClipView(clip, in: indexes[clip.source], times: times[number] ?? 1)
        }
        let framesToDecode = plan.passes.reduce(0) { sum, pass in
            guard case .video(let video) = pass else { return sum }
            let track = indexes[plan.clips[video.clips[0]].source].video
            let start = Int(track.randomAccessPoints[video.randomAccessPoint].frame)
            return sum + video.frames.upperBound - min(start, video.frames.lowerBound)
        }
        let diagnostics = plan.diagnostics.map(DiagnosticView.init)
        self.init(
            id: id, source: sources[0], sources: sources, container: plan.container.rawValue,
            videoEncoder: plan.video.encoder, pixelFormat: format.pixelFormat, width: format.width,
            height: format.height, audioEncoders: plan.audio.map(\.encoder),
            found: SourceView(indexes[plan.mainSource]),
            encoderOptions: encoding?.options.map { "\($0.name)=\($0.value)" }.joined(separator: " ") ?? "",
            bitrate: encoding?.bitrate, audio: audio, clips: clips, frames: plan.frameCount,
            seconds: format.timeBase.seconds(plan.end(in: indexes)).approximate,
            passes: plan.passes.map(PassView.init), need: plan.need, framesToDecode: framesToDecode,
            warnings: diagnostics.map(\.message), diagnostics: diagnostics)
    }
}

extension PlanView.ClipView {
    init(_ clip: Clip, in index: SourceIndex, times: Int) {
        let map = clip.map
        self.init(
            source: clip.isBlack ? nil : clip.source, firstFrame: clip.frames.lowerBound,
            endFrame: clip.frames.upperBound, speed: map.speed.approximate, seconds: map.duration.approximate,
            direction: clip.direction, from: (map.span.lowerBound - index.startTime).approximate,
            to: (map.span.upperBound - index.startTime).approximate, start: map.offset.approximate, times: times)
    }
}

extension PlanView.PassView {
    init(_ pass: Pass) {
        switch pass {
        case .audio: self.init(kind: "audio", firstFrame: nil, endFrame: nil, runs: 1)
        case .video(let video):
            self.init(
                kind: "video", firstFrame: video.frames.lowerBound, endFrame: video.frames.upperBound,
                runs: video.chunkCount, threads: video.threads)
        }
    }
}

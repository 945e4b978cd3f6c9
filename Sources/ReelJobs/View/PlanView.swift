package import ReelCore

/// What `plan` shows: the work that a submission would cause. Names only ever get added; docs/json.md explains
/// them.
package struct PlanView: Codable, Hashable, Sendable {
    package var id: String
    package var source: String
    package var sources: [String]
    package var container: String
    package var videoEncoder: String
    /// Of the pictures; nil in a file of sound, as their size.
    package var pixelFormat: String?
    package var width: Int?
    package var height: Int?
    package var audioEncoders: [String]
    package var found: SourceView
    package var encoderOptions: String
    package var bitrate: VideoRate?
    package var coarsestCrf: Double?
    package var audio: [OutputAudioView]
    package var clips: [ClipView]
    package var frames: Int
    package var seconds: Double
    package var passes: [PassView]
    package var need: Int64
    /// None with passthrough.
    package var framesToDecode: Int
    package var quotas: [QuotaView] = []
    /// About how many bytes the output has.
    package var expectedBytes: Int64?

    package struct QuotaView: Codable, Hashable, Sendable {
        package var quota: String
        package var asked: Int64
        package var most: Int64
    }

    package var warnings: [String]
    package var diagnostics: [DiagnosticView]

    package struct ClipView: Codable, Hashable, Sendable {
        package var source: Int?
        /// Nil of sound alone.
        package var firstFrame: Int?
        package var endFrame: Int?
        package var speed: Double
        package var seconds: Double
        package var direction: Direction
        package var from: Double
        package var to: Double
        package var start: Double
        package var times: Int
    }

    package struct PassView: Codable, Hashable, Sendable {
        package var kind: String
        package var firstFrame: Int?
        package var endFrame: Int?
        package var runs: Int
        package var threads: Int?
    }

    package struct OutputAudioView: Codable, Hashable, Sendable {
        package var track: Int
        package var handling: AudioHandling
        package var encoder: String
        package var sampleRate: Int
        package var channelLayout: String
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
            videoEncoder: plan.video.encoder, pixelFormat: plan.video.isNone ? nil : format.pixelFormat,
            width: plan.video.isNone ? nil : format.width, height: plan.video.isNone ? nil : format.height,
            audioEncoders: plan.audio.map(\.encoder),
            found: SourceView(indexes[plan.mainSource]),
            encoderOptions: encoding?.options.map { "\($0.name)=\($0.value)" }.joined(separator: " ") ?? "",
            bitrate: encoding?.bitrate, coarsestCrf: encoding?.coarsest, audio: audio, clips: clips,
            frames: plan.frameCount,
            seconds: format.timeBase.seconds(plan.end(in: indexes)).approximate,
            passes: plan.passes.map(PassView.init), need: plan.need, framesToDecode: framesToDecode,
            warnings: diagnostics.map(\.message), diagnostics: diagnostics)
    }
}

extension PlanView.ClipView {
    init(_ clip: Clip, in index: SourceIndex, times: Int) {
        let map = clip.map
        let frames = index.video.isNone ? nil : clip.frames
        self.init(
            source: clip.isBlack ? nil : clip.source, firstFrame: frames?.lowerBound, endFrame: frames?.upperBound,
            speed: map.speed.approximate, seconds: map.duration.approximate,
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

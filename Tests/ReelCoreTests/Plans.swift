import ReelCore

/// What planning needs beside an index, and figures of plans, for tests.
enum Plans {
    /// Time to encode a frame, relative to decoding one, as the planner assumes it.
    static let weights = ["libx264": 8.0, "libx265": 20, "libsvtav1": 10, "ffv1": 4, "mjpeg": 1]

    static func target(
        _ encoder: String = "libx264", width: Int = 1280, height: Int = 720, pixelFormat: String = "yuv420p",
        preset: String? = nil, threads: Int = 1
    ) -> VideoTarget {
        .encode(
            VideoEncoding(
                encoder: encoder, format: format(width, height, pixelFormat),
                options: preset.map { [MediaOption(name: "preset", value: $0)] } ?? [], bitrate: nil, threads: threads,
                keyFrameInterval: 250, identity: EncoderIdentity(build: "\(encoder) Lavc59.37.100", extradataHash: "")))
    }

    static let passthrough = VideoTarget.passthrough(
        VideoPassthrough(
            format: format(1280, 720, "yuv420p"),
            identity: EncoderIdentity(build: "copy Lavc59.37.100", extradataHash: "")))

    private static func format(_ width: Int, _ height: Int, _ pixelFormat: String) -> OutputFormat {
        OutputFormat(
            timeBase: TimeBase(1, 30000), width: width, height: height, pixelFormat: pixelFormat,
            frameRate: Rational(30000, 1001))
    }

    static func audio(_ track: Int) -> AudioTarget {
        AudioTarget(
            track: track, direction: .backwards, encoder: "aac", sampleRate: 48000, channelLayout: "stereo",
            bitrate: 192_000, lossless: false)
    }

    static func make(
        _ index: SourceIndex, slots: Int = 2, memory: MemoryRequest = .standard,
        spec: JobSpec = JobSpec(container: .mp4), video: VideoTarget = target()
    ) throws(ReelFailure) -> Plan {
        let input = PlanInput(
            indexes: [index], indexHashes: [""], spec: spec, video: video.on(index.video.stream.timeBase),
            audio: index.audio.indices.map(audio))
        return try Planner(slots: slots, memory: memory).plan(input)
    }
}

extension VideoTarget {
    /// The same target with another output clock.
    func on(_ timeBase: TimeBase) -> VideoTarget {
        switch self {
        case .encode(var encoding):
            encoding.format.timeBase = timeBase
            return .encode(encoding)
        case .passthrough(var passthrough):
            passthrough.format.timeBase = timeBase
            return .passthrough(passthrough)
        case .none: return .none(clock: timeBase)
        }
    }
}

extension Plan {
    /// The passes of video, in published order.
    var videoPasses: [VideoPass] {
        passes.compactMap { pass in if case .video(let video) = pass { video } else { nil } }
    }

    var longestChunk: Int { videoPasses.flatMap(\.chunks).map(\.count).max() ?? 0 }

    /// The most frames that a pass holds until they are encoded: a window, or a chunk.
    func framesHeld(in track: VideoTrack) throws -> Int {
        let starts = try StartTable(track)
        let parts = videoPasses.flatMap { pass in
            pass.windowFrames.map { starts.windows(of: pass.frames, least: $0) } ?? pass.chunks
        }
        return parts.map(\.count).max() ?? 0
    }

    /// Frames that a pass decodes and throws away.
    func lead(of pass: VideoPass, in track: VideoTrack) -> Int {
        let start = track.randomAccessPoints[pass.randomAccessPoint].packet
        return Int(track.frames[pass.frames.lowerBound].packet - start) * track.frames.count / track.packets.count
    }

    func cost(of pass: VideoPass, in track: VideoTrack) -> Double {
        Double(lead(of: pass, in: track) + pass.frames.count)
            + Double(pass.frames.count) * (Plans.weights[video.encoder] ?? 1)
    }

    /// Frames decoded again as a share of the job's work with every frame decoded once.
    func redundancy(in track: VideoTrack) -> Double {
        let leads = videoPasses.map { lead(of: $0, in: track) }
        let unavoidable = leads.last ?? 0
        let whole = Double(unavoidable) + Double(frameCount) * (1 + (Plans.weights[video.encoder] ?? 1))
        return Double(leads.reduce(-unavoidable, +)) / whole
    }

    /// How long the slots are busy, each taking the next pass when it is free, over the time of perfect division.
    func imbalance(slots: Int, in track: VideoTrack) -> Double {
        var busyUntil = Array(repeating: 0.0, count: slots)
        for pass in videoPasses {
            busyUntil.sort()
            busyUntil[0] += cost(of: pass, in: track)
        }
        return (busyUntil.max() ?? 0) * Double(slots) / busyUntil.reduce(0, +)
    }
}

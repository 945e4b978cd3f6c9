/// A job's work, fixed before any of it is done. A plan is immutable: it gives the same bytes on any machine. If a job
/// is planned anew, its new plan has another number.
package struct Plan: Hashable, Codable, Sendable {
    /// The format version. It grows when the meaning of a plan changes; workers refuse versions that they do not know.
    package static let version = 12

    package var version: Int
    /// The number of this plan among the job's plans, from 1 on; 0 until the plan is written to the job's folder.
    package var number: Int
    package var sources: [PlannedSource]
    /// The encoder builds that workers must have, as `EncoderIdentity.build`.
    package var encoders: [String]
    package var container: Container
    package var clips: [Clip]
    /// Whether the clips are those of an edit, whose sound is put together as they have it. If not, a range of the only
    /// source is reversed, and its sound is reversed or kept.
    package var isEdit: Bool
    /// The chapters of the clips, in seconds of the output. The sources' own are placed by the clips that show them.
    package var chapters: [Chapter]
    /// The start timecode of the output; nil for that of the first clip's source.
    package var timecode: String?
    package var soundtrack: Soundtrack?
    package var video: VideoTarget
    /// The most bytes that the output may have; nil for any number.
    package var mostBytes: Int64?
    /// The options of moving pictures that loop; nil for a container of video.
    package var loop: LoopOptions?
    package var audio: [AudioTarget]
    /// The places of the text subtitles that the output has, among those of the sources; nil for all.
    package var subtitles: [Int]?
    /// The passes: sound first, track by track, and then video, both in the output's order. There are no video passes if the assembly
    /// passes the source's packets through. The assembly is not listed; its index on the board is `passes.count`.
    package var passes: [Pass]
    package var need: Int64
    package var verify: VerifyMode
    package var onDamage: DamageMode
    /// The reports of planner and recon to the user.
    package var diagnostics: [Diagnostic]

    package init(
        number: Int = 0, sources: [PlannedSource], encoders: [String], container: Container, clips: [Clip],
        isEdit: Bool = false, chapters: [Chapter] = [], timecode: String? = nil, soundtrack: Soundtrack? = nil,
        video: VideoTarget, loop: LoopOptions? = nil, audio: [AudioTarget], subtitles: [Int]? = nil, passes: [Pass],
        need: Int64, verify: VerifyMode, onDamage: DamageMode, diagnostics: [Diagnostic]
    ) {
        self.version = Plan.version
        self.number = number
        self.sources = sources
        self.encoders = encoders
        self.container = container
        self.clips = clips
        self.isEdit = isEdit
        self.chapters = chapters
        self.timecode = timecode
        self.soundtrack = soundtrack
        self.video = video
        self.loop = loop
        self.audio = audio
        self.subtitles = subtitles
        self.passes = passes
        self.need = need
        self.verify = verify
        self.onDamage = onDamage
        self.diagnostics = diagnostics
    }

    /// Throws `.planOfOtherVersion` for a plan of another version, and `DecodingError` for anything else that is not a
    /// valid plan.
    package static func decoded(from bytes: [UInt8]) throws -> Plan {
        let version = try CanonicalJSON.value(Versioned.self, from: bytes).version
        guard version == Plan.version else {
            throw ReelFailure(.planOfOtherVersion(found: version, known: Plan.version))
        }
        let plan = try CanonicalJSON.value(Plan.self, from: bytes)
        guard plan.isSound else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "the plan has numbers out of range"))
        }
        return plan
    }

    /// Whether all numbers are within range, so that other code can use the plan without checking them.
    private var isSound: Bool {
        let counts = 0...Int(Timestamp.bound)
        let clipsAreSound = clips.allSatisfy {
            counts.contains($0.firstFrame) && counts.contains($0.rangeCount) && $0.step > 0
                && counts.contains($0.step) && sources.indices.contains($0.source) && $0.pace?.isSound ?? true
                && $0.map.output == video.format.timeBase && $0.map.speed > Rational(0)
        }
        guard clipsAreSound, !clips.isEmpty, need >= 0, mostBytes ?? 1 > 0, video.isSound, loop?.isSound ?? true,
            soundtrack.map({ sources.indices.contains($0.source) }) ?? true,
            audio.allSatisfy({ $0.isSound(sources: sources.count) })
        else { return false }
        return passes.allSatisfy { pass in
            switch pass {
            case .audio(let place, let samples):
                audio.indices.contains(place) && samples.map { $0.lowerBound >= 0 && !$0.isEmpty } ?? true
            case .video(let pass): video.encoding != nil && isSound(pass)
            }
        }
    }

    private func isSound(_ pass: VideoPass) -> Bool {
        guard pass.clips.allSatisfy(clips.indices.contains) else { return false }
        let shown = pass.clips.map { clips[$0] }
        return shown.contains { $0.frames.clamped(to: pass.frames) == pass.frames }
            && shown.allSatisfy { $0.source == shown[0].source && $0.frames.overlaps(pass.frames) }
            && (pass.windowFrames == nil || shown.map(\.direction) == [.backwards])
            && Set(shown.map(\.direction)).count == shown.count
    }

    /// Whether `indexes`, those of the plan's sources in their order, contain everything that the plan refers to. False
    /// if the plan was made from other indexes.
    package func fits(_ indexes: [SourceIndex]) -> Bool {
        indexes.count == sources.count
            && clips.allSatisfy { clip in
                let track = indexes[clip.source].video
                return clip.frames.upperBound <= track.frames.count && clip.map.source == track.stream.timeBase
            }
            && audio.allSatisfy { indexes[$0.source].audio.indices.contains($0.track) }
            && passes.allSatisfy { pass in
                guard case .video(let pass) = pass else { return true }
                let points = indexes[clips[pass.clips[0]].source].video.randomAccessPoints
                return points.indices.contains(pass.randomAccessPoint)
            }
    }

    package var frameCount: Int { video.isNone ? 0 : clips.reduce(0) { $0 + $1.frameCount } }

    /// The length of the sound in seconds: exactly that of the frames if the container stores no times. Nil for any
    /// length.
    package var soundLength: Rational? {
        guard container.traits.pacing != nil else { return nil }
        return video.format.timeBase.secondsPerTick * Rational(Int64(frameCount))
    }

    /// The number of frames that the passes encode, or that the assembly passes through: clips that show the same share
    /// their segments.
    package var framesToMake: Int { video.isPassthrough ? frameCount : passes.reduce(0) { $0 + frames(of: $1) } }

    package func frames(of pass: Pass) -> Int {
        guard case .video(let pass) = pass else { return 0 }
        return pass.clips.reduce(0) { $0 + clips[$1].places(showing: pass.frames).count }
    }

    /// The index of the source whose format the output has, with its tags and its tracks: that of the first clip.
    package var mainSource: Int { clips[0].source }

    /// For each clip, the index of the clip whose passes make its segments: the first that shows the same.
    package var makers: [Int] {
        var first: [Clip: Int] = [:]
        return clips.enumerated().map { number, clip in
            let key = clip.alone
            if let known = first[key] { return known }
            first[key] = number
            return number
        }
    }

    /// How long the clips last together, in seconds.
    package var duration: Rational { clips.duration }

    /// When the last frame of the output ends, in ticks of the output's clock; `indexes` are those of the sources, in
    /// their order.
    package func end(in indexes: [SourceIndex]) -> Timestamp {
        guard !video.isNone else {
            return Timestamp(video.format.timeBase.ticks(in: duration, rounding: .nearest))
        }
        return clips.last.map { $0.end(in: indexes[$0.source].video) } ?? Timestamp(0)
    }

    private struct Versioned: Decodable { let version: Int }

    package var mostEncoderThreads: Int {
        passes.reduce(1) { most, pass in if case .video(let pass) = pass { max(most, pass.threads) } else { most } }
    }

    package var parts: Set<SegmentPart> { Set(passes.flatMap(subjects).map(\.part)) }

    /// The subjects of a pass's segments, in the order of its chunks, clip by clip.
    package func subjects(of pass: Pass) -> [SegmentSubject] {
        switch pass {
        case .video(let pass):
            pass.clips.flatMap { clip in
                chunks(of: pass, in: clip).map { SegmentSubject(clip: clip, part: .video(frames: $0)) }
            }
        case .audio(let place, let samples):
            audio.indices.contains(place)
                ? [SegmentSubject(clip: 0, part: .audio(track: audio[place].track, samples: samples))] : []
        }
    }

    /// The chunks of a pass in which a clip shows frames, in presentation order.
    package func chunks(of pass: VideoPass, in clip: Int) -> [Range<Int>] {
        pass.chunks.map { $0.clamped(to: clips[clip].frames) }.filter { !clips[clip].places(showing: $0).isEmpty }
    }
}

extension [Clip] {
    /// How long the clips last together, in seconds.
    var duration: Rational { reduce(Rational(0)) { Swift.max($0, $1.map.offset + $1.map.duration) } }
}

package struct PlannedSource: Hashable, Codable, Sendable {
    /// SHA-256 of the source's index, in lower-case hexadecimal.
    package var indexHash: String

    package init(indexHash: String) { self.indexHash = indexHash }
}

/// A unit of a plan: published, claimed and retried as a whole.
package enum Pass: Hashable, Codable, Sendable {
    case video(pass: VideoPass)
    /// Makes a segment of an audio track, given by its index in `Plan.audio`: the packets of these samples of the encoded
    /// track, per channel (see `JoinableSound`), or the whole track if nil.
    case audio(place: Int, samples: Range<Int>? = nil)
}

/// A pass of video: decoded from a RAP on, with the frames before its first one discarded, and encoded chunk by chunk.
package struct VideoPass: Hashable, Sendable, Codable {
    /// The indexes in `Plan.clips` of the clips that it encodes: one, or two of the same frames in both directions,
    /// which are then decoded once. At either end, the second may have fewer frames.
    package var clips: [Int]
    package var randomAccessPoint: Int
    /// The frames of the source that the pass encodes, in presentation order.
    package var frames: Range<Int>
    package var chunkCount: Int
    /// The least number of frames of a decode window, for a pass of a backward clip whose RAPs are near. The pass is
    /// then decoded window by window from its end, and only one window is held in memory; see `StartTable.windows`. If
    /// nil, the pass is decoded from its start; then a pass of a backward clip holds one chunk.
    package var windowFrames: Int?
    /// Encoder threads: those of the job's target, or more for the job's last passes.
    package var threads: Int

    package init(
        clips: [Int] = [0], randomAccessPoint: Int, frames: Range<Int>, chunkCount: Int, windowFrames: Int? = nil,
        threads: Int = 1
    ) {
        self.clips = clips
        self.randomAccessPoint = randomAccessPoint
        self.frames = frames
        self.chunkCount = chunkCount
        self.windowFrames = windowFrames
        self.threads = threads
    }

    /// The chunks in presentation order. Their lengths differ by at most one frame, the longer ones first.
    package var chunks: [Range<Int>] {
        let (length, longer) = frames.count.quotientAndRemainder(dividingBy: chunkCount)
        var start = frames.lowerBound
        return (0..<chunkCount).map { chunk in
            let end = start + length + (chunk < longer ? 1 : 0)
            defer { start = end }
            return start..<end
        }
    }

    // Encoded as [RAP, first frame, end, chunks, least frames of a window or 0, threads, clip, second clip if there is
    // one], because a plan has many passes.
    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        randomAccessPoint = try list.decode(Int.self)
        let (start, end) = (try list.decode(Int.self), try list.decode(Int.self))
        chunkCount = try list.decode(Int.self)
        let window = try list.decode(Int.self)
        threads = try list.decode(Int.self)
        clips = [try list.decode(Int.self)]
        if !list.isAtEnd { clips.append(try list.decode(Int.self)) }
        guard clips.allSatisfy({ $0 >= 0 }), list.isAtEnd, 0 <= start, start < end, 0 < chunkCount,
            chunkCount <= end - start, randomAccessPoint >= 0, window >= 0,
            JobSpec.threadCounts.contains(threads)
        else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "not a pass")
        }
        frames = start..<end
        windowFrames = window > 0 ? window : nil
    }

    package func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        let (start, end, window) = (frames.lowerBound, frames.upperBound, windowFrames ?? 0)
        for number in [randomAccessPoint, start, end, chunkCount, window, threads] + clips { try list.encode(number) }
    }
}

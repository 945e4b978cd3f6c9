internal import CFFmpeg
internal import Foundation
internal import ReelCore

/// An audio track that the output has, in the parts that passes have made, in the order of the output.
struct OutputAudioTrack {
    /// A segment, and the pass that makes it, by its place in the plan.
    typealias Part = (segment: StoredSegment, pass: Int)

    let target: AudioTarget
    /// Never empty.
    let parts: [Part]

    /// The record of the first part, which says when the track begins.
    var first: SegmentRecord { parts[0].segment.record }
    /// Audible samples per channel.
    var frames: Int { parts.reduce(0) { $0 + $1.segment.record.frames } }
    var packets: Int { parts.reduce(0) { $0 + $1.segment.record.packets } }
}

/// The streams of the output as described to the muxer. The encoders are opened again to get the parameters that they
/// make.
final class OutputStreams {
    /// Nil in a file of sound.
    let video: NativeParameters?
    let audio: [NativeParameters]
    let subtitles: [SubtitleOutput]
    /// The number of packets by which the video's encoder reports that it reorders frames.
    let reorderDepth: Int

    private let plan: Plan
    private let indexes: [SourceIndex]
    let heard: [OutputAudioTrack]

    init(plan: Plan, sources: [IndexedSource], heard: [OutputAudioTrack]) throws(ReelFailure) {
        self.plan = plan
        indexes = sources.map(\.index)
        self.heard = heard
        let clip = plan.clips[0]
        let index = indexes[clip.source]
        switch plan.video {
        case .none: (video, reorderDepth) = (nil, 0)
        case .passthrough:
            let video = try allocated(avcodec_parameters_alloc(), .describeStream)
            self.video = video
            switch index.passthrough {
            case .possible(let coded):
                try coded.describe(index.video.stream, for: plan.container.traits.muxer, into: video)
            case .impossible(let obstacle): throw ReelFailure(.copyImpossible(obstacle: obstacle))
            }
            reorderDepth = 0
        case .encode(let encoding):
            let video = try allocated(avcodec_parameters_alloc(), .describeStream)
            self.video = video
            // All chunks have the same parameters, whatever their rates and qualities.
            let encoder = try Encoder(
                encoding, stream: index.video.stream, bitrate: encoding.rate(of: clip.frames, in: index.video))
            try encoder.describe(into: video)
            reorderDepth = encoder.reorderDepth
            video.pointee.codec_tag = plan.container.fourCC(of: video.pointee)
        }
        audio = try heard.map { [indexes] (heard) throws(ReelFailure) in
            let track = indexes[heard.target.source].audio[heard.target.track]
            let parameters = try allocated(avcodec_parameters_alloc(), .describeStream)
            if heard.target.isPassthrough {
                try track.describe(into: parameters, padding: heard.first.initialPadding)
            } else {
                try Encoder(heard.target, track: track).describe(into: parameters)
            }
            return parameters
        }
        subtitles = try OutputStreams.subtitles(of: plan, indexes)
    }

    deinit { coded.forEach { release($0, avcodec_parameters_free) } }

    /// The streams of packets that encoders make, in the order of the output.
    var coded: [NativeParameters] { [video].compactMap(\.self) + audio }

    /// The text tracks: one for each place of a track in the first source that has any.
    private static func subtitles(of plan: Plan, _ indexes: [SourceIndex]) throws(ReelFailure) -> [SubtitleOutput] {
        let shown = Dictionary(grouping: plan.clips.filter { !$0.isBlack }, by: \.source)
        guard !plan.video.isNone else { return [] }
        let sources = SourceIndex.withSubtitles(among: plan.clips.filter { !$0.isBlack }.map(\.source), of: indexes)
        var tracks: [SubtitleOutput] = []
        for place in (sources.first.map { indexes[$0].subtitles } ?? []).indices
        where plan.subtitles?.contains(place) != false {
            let texts = sources.compactMap { source -> ShownSubtitles? in
                let index = indexes[source]
                guard index.subtitles.indices.contains(place) else { return nil }
                return ShownSubtitles(track: index.subtitles[place], clips: shown[source] ?? [], video: index.video)
            }
            let track = try SubtitleOutput(
                texts[0], beside: Array(texts.dropFirst()), container: plan.container,
                output: plan.video.format.timeBase)
            if let track { tracks.append(track) }
        }
        return tracks
    }

    func add(to muxer: Muxer) throws(ReelFailure) {
        if let video { try add(video, to: muxer) }
        for (heard, parameters) in zip(heard, audio) {
            try muxer.addStream(timeBase: heard.first.timeBase) { (stream) throws(ReelFailure) in
                try check(avcodec_parameters_copy(stream.pointee.codecpar, parameters), .describeStream)
                stream.pointee.codecpar.pointee.codec_tag = 0
                describe(stream, indexes[heard.target.source].audio[heard.target.track].details)
            }
        }
        for text in subtitles {
            try muxer.addStream(timeBase: text.timeBase) { (stream) throws(ReelFailure) in
                try text.describe(stream)
                describe(stream, text.parameters.details)
            }
        }
    }

    private func add(_ video: NativeParameters, to muxer: Muxer) throws(ReelFailure) {
        let source = indexes[plan.mainSource].video.stream.shown(in: plan.video)
        let clock = plan.video.format.timeBase
        try muxer.addStream(timeBase: clock) { (stream) throws(ReelFailure) in
            try check(avcodec_parameters_copy(stream.pointee.codecpar, video), .describeStream)
            let aspect = plan.video.format.sampleAspectRatio.native
            stream.pointee.sample_aspect_ratio = aspect
            stream.pointee.codecpar.pointee.sample_aspect_ratio = aspect
            if let rate = constantRate() { stream.pointee.avg_frame_rate = rate.native }
            try setDisplayMatrix(stream)
            if let display = source.masteringDisplay {
                try stream.addSideData(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, display.native)
            }
            if let light = source.contentLight { try stream.addSideData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, light.native) }
            describe(stream, source.details)
            if plan.container.traits.tellsEndByTag {
                av_dict_set(&stream.pointee.metadata, "DURATION", clockText(clock.seconds(plan.end(in: indexes))), 0)
            }
        }
    }

    private func describe(_ stream: NativeStream, _ details: TrackDetails) {
        stream.pointee.disposition = details.flags
        if let language = details.language.flatMap(plan.container.language) {
            av_dict_set(&stream.pointee.metadata, "language", language, 0)
        }
        if let title = details.title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
    }

    private func setDisplayMatrix(_ stream: NativeStream) throws(ReelFailure) {
        guard let matrix = plan.video.format.displayMatrix, plan.container.traits.holdsRotation else { return }
        let room = try allocated(reel_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 36), .describeStream)
        matrix.withUnsafeBytes {
            UnsafeMutableRawPointer(room).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(room), byteCount: 36)
        }
    }

    /// Frames per second if all frames last equally long, apart from a tick of rounding, or from the 2 ms by which the
    /// clocks of cameras and of Matroska distort an even rate. Containers may then state that rate.
    private func constantRate() -> Rational? {
        guard plan.clips[0].pace == nil else { return plan.video.format.frameRate }
        var (least, most): (Rational?, Rational?)
        var tick = Rational(0)
        for maker in Set(plan.makers) {
            let clip = plan.clips[maker]
            let clock = clip.map.source
            tick = max(tick, clock.secondsPerTick / clip.map.speed)
            // A clip's last frame may last as long as its source says, except where another clip follows.
            let frames = indexes[clip.source].video.frames[clip.frames]
            for frame in plan.clips.count > 1 && clip.rangeCount == 1 ? frames : frames.dropLast() {
                let length = clock.seconds(frame.interval.duration) / clip.map.speed
                (least, most) = (min(least ?? length, length), max(most ?? length, length))
            }
        }
        guard let least, let most else { return nil }
        let isJitter = most - least <= Rational(2, 1000) && (most - least) * Rational(4) <= least
        guard most - least <= tick || isJitter else { return nil }
        return plan.video.format.frameRate
    }
}

/// Formats seconds as "00:01:02.500000000", the form of Matroska's DURATION tag.
func clockText(_ seconds: Rational) -> String {
    let nanoseconds = TimeBase(1, 1_000_000_000).ticks(in: seconds, rounding: .nearest)
    let (whole, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let padded = { (value: Int64, width: Int) in
        String(repeating: "0", count: max(0, width - String(value).count)) + String(value)
    }
    return "\(padded(whole / 3600, 2)):\(padded(whole / 60 % 60, 2)):\(padded(whole % 60, 2)).\(padded(fraction, 9))"
}

/// Chapters, covers and attached files: what the output has beside its packet streams.
final class OutputExtras {
    private let container: Container
    /// The chapters on the output's clock.
    private let chapters: [Chapter]
    private var attachments: [(of: Attachment, bytes: [UInt8])] = []
    /// Opened only if something has to be copied.
    private var source: Demuxer?

    /// `shift` is the time in seconds by which the whole output starts later. Throws if the source no longer has what
    /// its index says.
    init(sources: [IndexedSource], plan: Plan, shift: Rational) throws(ReelFailure) {
        container = plan.container
        let own = plan.clips.filter { !$0.isBlack }.flatMap { clip in
            Chapter.placed(sources[clip.source].index.chapters, by: clip, of: sources[clip.source].index.video)
        }
        // A clip's chapter comes before those inside it.
        let placed = (plan.chapters + own).enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
        var chapters =
            !plan.container.traits.holdsChapters
            ? [] : placed.map { Chapter(start: $0.start + shift, end: $0.end + shift, title: $0.title) }
        // In MP4 and MOV chapters are a track, which libavformat begins at 0: without one there, all would move.
        if plan.container.isQuickTime, let first = chapters.first, first.start > Rational(0) {
            chapters.insert(Chapter(start: Rational(0), end: first.start, title: nil), at: 0)
        }
        self.chapters = chapters
        let (source, index) = (sources[plan.mainSource].locator, sources[plan.mainSource].index)
        let kept = index.attachments.filter(plan.container.holds)
        guard !kept.isEmpty else { return }
        let demuxer = try Demuxer(source)
        self.source = demuxer
        for attachment in kept {
            guard let bytes = demuxer.stream(attachment.index)?.attachedBytes, bytes.count == attachment.bytes else {
                throw ReelFailure(.sourceChanged(path: source.name, change: .stream, number: attachment.index))
            }
            attachments.append((attachment, Array(bytes)))
        }
    }

    var hasCovers: Bool { container.isQuickTime && !attachments.isEmpty }

    /// Covers as the tags that Ogg has of them: a picture block of FLAC (RFC 9639 8.8) in base64.
    var tags: [MetadataEntry] {
        guard container.traits.hasCoversInTags else { return [] }
        return attachments.map { attachment, bytes in
            func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * (3 - $0))) } }
            let (type, title) = (Array(attachment.mediaType.utf8), Array((attachment.title ?? "").utf8))
            // Front cover; width, height, depth and colours are in the picture itself.
            let block =
                number(3) + number(type.count) + type + number(title.count) + title + [UInt8](repeating: 0, count: 16)
                + number(bytes.count) + bytes
            return MetadataEntry(name: "METADATA_BLOCK_PICTURE", value: Data(block).base64EncodedString())
        }
    }

    /// The most bytes that they take in the tables of MP4.
    var tableBytes: Int64 {
        let titles = chapters.reduce(0) { $0 + Int64($1.title?.utf8.count ?? 0) + 128 }
        return titles + attachments.reduce(0) { $0 + $1.of.bytes + 256 }
    }

    /// Adds them to a muxer, after its other streams.
    func add(to muxer: Muxer) throws(ReelFailure) {
        for chapter in chapters {
            // libavformat makes the text track by which players find chapters of MP4 only for chapters with titles.
            try muxer.addChapter(chapter, title: chapter.title ?? (container.traits.showsUntitledChapters ? nil : ""))
        }
        for (attachment, bytes) in attachments where !container.traits.hasCoversInTags {
            try muxer.addStream(timeBase: TimeBase(1, 90_000)) { (stream) throws(ReelFailure) in
                if container.isMatroska {
                    try describe(attachment, bytes, stream)
                } else if let own = source?.stream(attachment.index) {
                    try check(avcodec_parameters_copy(stream.pointee.codecpar, own.pointee.codecpar), .describeStream)
                    stream.pointee.codecpar.pointee.codec_tag = 0
                    stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
                }
            }
        }
    }

    /// Matroska stores pictures as files too; their MIME type shows that they are covers.
    private func describe(_ attachment: Attachment, _ bytes: [UInt8], _ stream: NativeStream) throws(ReelFailure) {
        stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        try setHeader(bytes, of: stream.pointee.codecpar)
        av_dict_set(&stream.pointee.metadata, "filename", attachment.fileName, 0)
        av_dict_set(&stream.pointee.metadata, "mimetype", attachment.mediaType, 0)
        if let title = attachment.title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
    }

    /// Writes the covers of MP4, which are packets to libavformat. The first cover is stream `first`.
    func write(to muxer: Muxer, first: Int) throws(ReelFailure) {
        guard !container.isMatroska, !container.traits.hasCoversInTags else { return }
        for (number, (_, bytes)) in attachments.enumerated() {
            let packet = try Packet()
            try packet.fill(with: bytes)
            packet.streamIndex = first + number
            (packet.pts, packet.dts) = (Timestamp(0), Timestamp(0))
            packet.native.pointee.flags = AV_PKT_FLAG_KEY
            try muxer.write(packet, timeBase: TimeBase(1, 90_000))
        }
    }

    /// Throws if the finished file has other chapters or attachments.
    func verify(_ output: Demuxer) throws(ReelFailure) {
        let found = output.streams.filter(\.isAttachment)
        guard found.count == attachments.count,
            zip(found, attachments).allSatisfy({ $0.attachedBytes.elementsEqual($1.bytes) })
        else { throw unverified(.attachments, stream: nil) }
        // Every clock of chapters in the containers is at least this fine.
        let near = Rational(1, 1000)
        let kept = output.chapters
        guard kept.count == chapters.count,
            zip(kept, chapters).allSatisfy({ max($0.start - $1.start, $1.start - $0.start) <= near })
        else { throw unverified(.chapters, stream: nil) }
    }
}

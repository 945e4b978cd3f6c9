internal import CFFmpeg
internal import ReelCore

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
        for (attachment, bytes) in attachments {
            _ = try muxer.addStream(timeBase: TimeBase(1, 90_000)) { (stream) throws(ReelFailure) in
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
    private func describe(
        _ attachment: Attachment, _ bytes: [UInt8], _ stream: UnsafeMutablePointer<AVStream>
    ) throws(ReelFailure) {
        stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        try setHeader(bytes, of: stream.pointee.codecpar)
        av_dict_set(&stream.pointee.metadata, "filename", attachment.fileName, 0)
        av_dict_set(&stream.pointee.metadata, "mimetype", attachment.mediaType, 0)
        if let title = attachment.title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
    }

    /// Writes the covers of MP4, which are packets to libavformat. The first cover is stream `first`.
    func write(to muxer: Muxer, first: Int) throws(ReelFailure) {
        guard !container.isMatroska else { return }
        for (number, (_, bytes)) in attachments.enumerated() {
            let packet = try Packet()
            try packet.fill(with: bytes)
            packet.streamIndex = first + number
            packet.pts = Timestamp(0)
            packet.dts = Timestamp(0)
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

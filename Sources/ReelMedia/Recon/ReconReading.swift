internal import CFFmpeg
internal import ReelCore

/// How recon knows the frames of a source.
enum ReconMode {
    /// By headers, and by the container's table of packets if it has one: then few packets have to be read.
    case table
    /// By headers, of all packets.
    case scan
    case decode(DecodingCause)

    /// Why the whole video is decoded; nil if it is not.
    var decodingCause: DecodingCause? { if case .decode(let cause) = self { cause } else { nil } }

    fileprivate var usesTable: Bool { if case .table = self { true } else { false } }
}

/// A source that recon has opened to read it once, in a mode.
struct ReconReading {
    let mode: ReconMode
    let path: String
    private let demuxer: Demuxer
    private let video: NativeStream
    private let audio: [AudioScan]
    private let subtitles: [Int: SubtitleScan]

    /// Opens the source and chooses its main video and the audio tracks. Throws `.input` if nothing can be reversed.
    /// With `payload`, the payload is read even if the container's table states all that is needed.
    init(_ source: Locator, _ mode: ReconMode, payload: Bool = false) throws(ReelFailure) {
        self.mode = mode
        path = source.name
        // Recon reads what it decodes in the same way as passes do.
        demuxer = try Demuxer(source, purpose: mode.decodingCause == nil ? .list(payload: payload) : .source)
        let streams = demuxer.streams
        let main = streams.first { stream in
            stream.parameters.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard let main else { throw ReelFailure(.noVideo(path: source.name)) }
        video = main
        let members = demuxer.programme(of: main.number)
        audio = try streams.filter { stream in
            stream.parameters.codec_type == AVMEDIA_TYPE_AUDIO && members?.contains(stream.number) ?? true
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
        let found = streams.compactMap { stream in SubtitleScan(stream).map { (stream.number, $0) } }
        subtitles = [Int: SubtitleScan](uniqueKeysWithValues: found.filter { members?.contains($0.0) ?? true })
        try refuseWhatCannotBeDecoded()
    }

    private func refuseWhatCannotBeDecoded() throws(ReelFailure) {
        let parameters = video.parameters
        if try demuxer.encrypts(video) { throw ReelFailure(.encrypted(path: demuxer.path)) }
        guard try !demuxer.isUnsplitWebP() else {
            throw ReelFailure(.noDecoder(path: demuxer.path, stream: video.number, codec: "animated WebP"))
        }
        guard avcodec_find_decoder(parameters.codec_id) != nil else {
            let name =
                parameters.codec_id == AV_CODEC_ID_NONE
                ? fourCharacters(parameters.codec_tag) : parameters.codec_id.name
            throw ReelFailure(.noDecoder(path: demuxer.path, stream: video.number, codec: name))
        }
    }

    /// Whether the frames can be known by tables and headers, or are known by decoding.
    var isProven: Bool {
        mode.decodingCause != nil || ProvenKinds.contain(codec: video.parameters.codec_id, format: demuxer.formatName)
    }

    var bytesRead: Int64 { demuxer.bytesRead }

    struct Survey {
        /// The index without its tables and texts.
        let index: SourceIndex
        let scanned: [ScannedPacket]
        let order: PresentationOrder
        /// The packet whose frame is shown first.
        let firstDecoded: Int?
        let subtitles: [SubtitleScan]
        let damage: [Diagnostic]
        /// Whether the file ends within the last packet. Only decoding shows what that packet gives, and decoders do
        /// not report it.
        let isCut: Bool
        /// The decoded frames, if the whole video was decoded.
        let shown: [ShownFrame]?
    }

    /// Nil if the container's table was used and has proved wrong.
    func survey(_ progress: (_ packets: Int, _ thousandths: Int) -> Void) throws(ReelFailure) -> Survey? {
        demuxer.select(Set(audio.map(\.index) + subtitles.keys + [video.number]))
        var scan = try VideoScan(video, in: demuxer, mode)
        var subtitles = subtitles
        guard try read(into: &scan, &subtitles, progress) else { return nil }
        forgetShiftedEnd(&scan.packets)
        for track in audio { try track.finish() }
        if !scan.packets.isEmpty { try scan.first.finish(path: demuxer.path) }
        let shown = try scan.whole?.finish()
        let stream = scan.stream(of: video)
        let timecode = demuxer.timecode.map { [$0] } ?? []
        let index = SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime,
            video: VideoTrack(stream: stream, packets: [], frames: [], randomAccessPoints: []),
            audio: audio.compactMap(\.track), chapters: demuxer.chapters, attachments: demuxer.attachments,
            metadata: demuxer.metadata.filter { $0.name.lowercased() != "timecode" } + timecode,
            passthrough: try scan.proof.verdict(on: stream), diagnostics: leftOut())
        let order = PresentationOrder(
            nominalDuration: stream.nominalDuration, trackEnd: try trackEnd(stream.timeBase, of: scan.packets),
            mayRestart: demuxer.mayRestart)
        return Survey(
            index: index, scanned: scan.packets, order: order, firstDecoded: scan.first.packetNumber,
            subtitles: subtitles.sorted { $0.key < $1.key }.map(\.value),
            damage: [demuxer.damage, scan.whole?.damage(of: stream, from: demuxer.startTime)].compactMap(\.self),
            isCut: scan.isCut, shown: shown)
    }

    /// Reads the packets of the file, or only the packets that the container's table does not describe. False if the
    /// table was used and has proved wrong.
    private func read(
        into scan: inout VideoScan, _ subtitles: inout [Int: SubtitleScan],
        _ progress: (_ packets: Int, _ thousandths: Int) -> Void
    ) throws(ReelFailure) -> Bool {
        let main = video.number
        let tracks = Dictionary(audio.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        let packet = try Packet()
        var packets = 0
        while try demuxer.read(into: packet) {
            packets += 1
            progress(packets, demuxer.thousandths(before: packet.position))
            if packet.streamIndex == main {
                guard try scan.add(packet, in: demuxer) else { continue }
                // The skipped packets, and the packets of other streams between them, are not needed otherwise.
                guard scan.mayUseTable, subtitles.isEmpty, audio.allSatisfy(\.isComplete) else { continue }
                while let listed = try scan.takeFromTable() {
                    packets += 1
                    progress(packets, demuxer.thousandths(before: listed.position))
                }
                guard let tail = scan.table?.awaitTail(), demuxer.seek(stream: main, to: tail) else { return false }
            } else if let track = tracks[packet.streamIndex] {
                try track.take(packet, from: demuxer)
            } else {
                try demuxer.fetch(packet)
                subtitles[packet.streamIndex]?.add(packet)
            }
        }
        return scan.table.map { !$0.wasTaken || $0.isProven } ?? true
    }

    /// Discards the last packet's duration if it is unreliable. libavformat extends the last packet of MP4 and
    /// QuickTime to the track's end, in the track's own time; if an edit list has moved the packet's time, that
    /// duration is wrong.
    private func forgetShiftedEnd(_ scanned: inout [ScannedPacket]) {
        guard demuxer.formatName.hasPrefix("mov,"), let first = scanned.first?.dts, first != Timestamp(0),
            let last = scanned.last, let dts = last.dts
        else { return }
        // Both come from the file, and may be of any size.
        let rest = video.pointee.duration.subtractingReportingOverflow(dts.ticks)
        guard !rest.overflow, last.duration.count == rest.partialValue else { return }
        scanned[scanned.count - 1].duration = .zero
    }

    /// The stream's end by its DURATION tag, unless the file broke off before that. NUT and Matroska store no packet
    /// durations: libavformat guesses them from the frame rate.
    private func trackEnd(_ timeBase: TimeBase, of scanned: [ScannedPacket]) throws(ReelFailure) -> Timestamp? {
        guard ["nut", "matroska,webm"].contains(demuxer.formatName), try demuxer.isWhole() else { return nil }
        let found = entries(of: video.pointee.metadata).first { $0.name == "DURATION" }
        guard let seconds = found.flatMap({ clockTime($0.value) }),
            let stated = Timestamp(native: timeBase.ticks(in: seconds, rounding: .nearest))
        else { return nil }
        // libavformat's muxer states when the track ends, mkvmerge and others how long it lasts.
        let isEnd = demuxer.metadata.contains { $0.name.lowercased() == "encoder" && $0.value.hasPrefix("Lavf") }
        guard !isEnd, demuxer.formatName != "nut" else { return stated }
        return scanned.lazy.compactMap(\.pts).min().map { $0 + Ticks(stated.ticks) }
    }

    /// Reports the streams of the source that no output will have; all data streams in one diagnostic.
    private func leftOut() -> [Diagnostic] {
        let heard = audio.filter { $0.refusal == nil }.map(\.index)
        let kept = Set(heard + subtitles.keys + demuxer.attachments.map(\.index) + [video.number])
        var diagnostics: [Diagnostic] = []
        var data: [DataStream] = []
        for stream in demuxer.streams where !kept.contains(stream.number) {
            let parameters = stream.parameters
            let number = stream.number
            let codec = parameters.codec_id.name
            guard parameters.codec_type == AVMEDIA_TYPE_DATA else {
                let kind = known(av_get_media_type_string(parameters.codec_type)) ?? "unknown"
                diagnostics.append(
                    .streamLeftOut(stream: number, kind: kind, codec: codec, refusal: refusal(of: stream)))
                continue
            }
            let tag = fourCharacters(parameters.codec_tag)
            // Chapters of MP4 are also a text track; it becomes chapters again.
            if parameters.codec_id == AV_CODEC_ID_BIN_DATA, tag == "text", !demuxer.chapters.isEmpty { continue }
            let isReadable = tag.utf8.count == 4 && tag.utf8.allSatisfy { (33...126).contains($0) }
            data.append(DataStream(stream: number, kind: isReadable ? tag : codec))
        }
        return diagnostics + (data.isEmpty ? [] : [.dataLeftOut(streams: data)])
    }

    private func refusal(of stream: NativeStream) -> StreamRefusal {
        switch stream.parameters.codec_type {
        case AVMEDIA_TYPE_VIDEO where stream.pointee.disposition & AV_DISPOSITION_TIMED_THUMBNAILS != 0:
            .chapterPictures
        case AVMEDIA_TYPE_VIDEO where stream.isCover: .emptyCover
        case AVMEDIA_TYPE_VIDEO: .notMain(main: video.number)
        case AVMEDIA_TYPE_SUBTITLE: .subtitlesNotText
        default: audio.first { $0.index == stream.number }?.refusal ?? .notKept
        }
    }
}

/// The packets of the video, and the facts that each gives.
private struct VideoScan {
    let first: FirstFrame
    let pictures: PictureScan
    let proof: PassthroughProof
    /// Nil if not all of the video is decoded.
    let whole: WholeDecode?
    /// Nil if the container has no table of all packets, or it is not to be used.
    var table: PacketTable?
    var packets: [ScannedPacket] = []
    private(set) var isCut = false

    init(_ video: NativeStream, in demuxer: Demuxer, _ mode: ReconMode) throws(ReelFailure) {
        packets.reserveCapacity(Int(avformat_index_get_entries_count(video)))
        first = try FirstFrame(stream: video, path: demuxer.path)
        pictures = try PictureScan(video, in: demuxer)
        proof = try PassthroughProof(stream: video, path: demuxer.path)
        whole = mode.decodingCause == nil ? nil : try WholeDecode(stream: video, path: demuxer.path)
        table = mode.usesTable && demuxer.hasWholeTable ? try PacketTable(video, in: demuxer) : nil
    }

    /// Takes a packet that was read; false if it is known from the table, since seeking led to one too early.
    mutating func add(_ packet: borrowing Packet, in demuxer: Demuxer) throws(ReelFailure) -> Bool {
        guard table?.wants(packet) ?? true else { return false }
        isCut = packet.isCorrupt
        let found = try pictures.scan(packet)
        packets.append(found)
        try table?.compare(found)
        if first.needsMore { try demuxer.fetch(packet) }
        try proof.examine(packet, in: demuxer)
        try whole?.feed(packet)
        if first.needsMore { try first.feed(packet) }
        return true
    }

    /// Whether the packets up to the tail may be taken from the table: it agrees with the packets that were read, and
    /// their payload is not needed.
    var mayUseTable: Bool { table?.mayBeTaken == true && !first.needsMore && proof.isSettled }

    /// Takes the next packet before the tail from the table; nil at the tail.
    mutating func takeFromTable() throws(ReelFailure) -> ScannedPacket? {
        guard var listed = try table?.take() else { return nil }
        try pictures.scanHead(of: &listed)
        packets.append(listed)
        return listed
    }

    /// The stream with the facts that the first frame and the headers of pictures give.
    func stream(of video: NativeStream) -> VideoStream {
        var stream = VideoStream(native: video)
        first.complete(&stream)
        stream.losses = first.losses(besides: video)
        (stream.fieldOrder, stream.fieldsVary) = (pictures.parser?.fields ?? FieldOrderCounts()).settle(
            stated: stream.fieldOrder, first: first.fieldOrder, knowsOrder: pictures.parser?.knowsFieldOrder ?? false)
        return stream
    }
}

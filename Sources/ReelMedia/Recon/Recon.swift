internal import CFFmpeg
public import ReelCore

/// Recon: one pass over a source's file, which makes its index.
///
/// *By tables and headers*, for codecs and containers in which these describe the frames (`ProvenKinds`), recon decodes
/// the first frame, the first sound of each track and, if passthrough may be possible, one frame in a hundred. *By
/// decoding*, for all others, and if tables and headers contradict each other or a pass has proved them wrong, it
/// decodes the whole video, and the index contains the decoded frames.
public struct Recon {
    private let source: Locator
    private let demuxer: Demuxer
    /// Why the whole video is decoded; nil if it is not.
    private let decodingCause: DecodingCause?
    private let video: UnsafeMutablePointer<AVStream>
    private let audio: [AudioScan]
    private let subtitles: [Int: SubtitleScan]
    /// Whether recon may skip packets that the container's table lists.
    private let believesTable: Bool

    /// Opens the source and chooses its main video and the audio tracks. Throws `.input` if nothing can be reversed:
    /// not media, no video, encrypted, no decoder.
    ///
    /// - Parameter decoding: why the whole video is to be decoded; nil to use tables and headers if possible.
    public init(_ source: Locator, decoding: DecodingCause? = nil) throws(ReelFailure) {
        let found = try Recon(source, payload: false, decoding: decoding)
        self = try found.isProven ? found : Recon(source, payload: false, decoding: .unproven)
    }

    /// Opens the source. With `payload`, recon reads the payload even if the container's table states all that is
    /// needed; without `believingTable`, it reads all packets even if the table lists them.
    package init(
        _ source: Locator, payload: Bool, believingTable: Bool = true, decoding: DecodingCause? = nil
    ) throws(ReelFailure) {
        believesTable = believingTable && decoding == nil
        decodingCause = decoding
        // Recon reads what it decodes in the same way as passes do.
        self.source = source
        demuxer = try Demuxer(source, purpose: decoding == nil ? .list(payload: payload) : .source)
        let streams = (0..<demuxer.streamCount).compactMap { [demuxer] in demuxer.stream($0) }
        let isVideo = { (stream: UnsafeMutablePointer<AVStream>) in
            stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard let main = streams.first(where: isVideo) else {
            throw ReelFailure(.noVideo(path: source.name))
        }
        video = main
        let members = demuxer.programme(of: Int(main.pointee.index))
        audio = try streams.filter { stream in
            stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
                && members?.contains(Int(stream.pointee.index)) ?? true
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
        let found = streams.compactMap { stream in SubtitleScan(stream).map { (Int(stream.pointee.index), $0) } }
        subtitles = [Int: SubtitleScan](uniqueKeysWithValues: found.filter { members?.contains($0.0) ?? true })
        try refuseWhatCannotBeDecoded()
    }

    private func refuseWhatCannotBeDecoded() throws(ReelFailure) {
        let parameters = video.pointee.codecpar.pointee
        if try demuxer.encrypts(video) { throw ReelFailure(.encrypted(path: demuxer.path)) }
        guard try !demuxer.isUnsplitWebP() else {
            throw ReelFailure(
                .noDecoder(path: demuxer.path, stream: Int(video.pointee.index), codec: "animated WebP"))
        }
        guard avcodec_find_decoder(parameters.codec_id) != nil else {
            let name =
                parameters.codec_id == AV_CODEC_ID_NONE
                ? fourCharacters(parameters.codec_tag) : String(cString: avcodec_get_name(parameters.codec_id))
            throw ReelFailure(.noDecoder(path: demuxer.path, stream: Int(video.pointee.index), codec: name))
        }
    }

    /// Whether the frames can be known by tables and headers, or are known by decoding.
    private var isProven: Bool {
        decodingCause != nil
            || ProvenKinds.contain(codec: video.pointee.codecpar.pointee.codec_id, format: demuxer.formatName)
    }

    /// Bytes read from the file so far.
    package var bytesRead: Int64 { demuxer.bytesRead }

    /// Reads the whole file once, or little more than the container's table of packets if it has one. Calls `progress`
    /// after each packet with the number of packets read and the thousandths of the file read. Throws `.input` if the
    /// file has no frame to show.
    public consuming func run(
        progress: (_ packets: Int, _ thousandths: Int) -> Void = { _, _ in }
    ) throws(ReelFailure) -> SourceIndex {
        let source = source
        guard let found = try survey(progress) else {
            return try Recon(source, payload: false, believingTable: false).run(progress: progress)
        }
        // The demuxer's tables are as large as the tables that are made next.
        let cause = decodingCause
        _ = consume self
        var index = found.index
        let (track, repairs) =
            if let shown = found.shown {
                found.order.arrange(decoded: shown, of: found.scanned, stream: index.video.stream)
            } else {
                found.order.arrange(found.scanned, stream: index.video.stream, firstDecoded: found.firstDecoded)
            }
        let isContradictory = repairs.contains(where: \.contradictsTables)
        if cause == nil, found.isCut || isContradictory {
            let cause: DecodingCause = isContradictory ? .contradictory : .cutOff
            return try Recon(source, decoding: cause).run(progress: progress)
        }
        guard !track.frames.isEmpty else { throw ReelFailure(.noFrames(path: source.name)) }
        // Several pictures one after the other are a video; libavformat names its demuxers of pictures so.
        guard !index.format.hasSuffix("_pipe") || track.frames.count > 1 else {
            throw ReelFailure(.sourceIsPicture(path: source.name, codec: track.stream.codec))
        }
        let end = track.stream.timeBase.seconds(track.end)
        let said = found.subtitles.map { $0.finish(end: end) }
        index.video = track
        index.subtitles = said.map(\.track)
        index.passthrough = index.passthrough.checked(against: track)
        let decoded = cause.map { Diagnostic.sourceDecoded(why: $0, codec: track.stream.codec, format: index.format) }
        index.diagnostics =
            [decoded].compactMap(\.self) + found.damage + repairs + said.compactMap(\.lost) + index.diagnostics
        return index
    }

    /// The results of demuxing.
    private struct Survey {
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
    private func survey(_ progress: (_ packets: Int, _ thousandths: Int) -> Void) throws(ReelFailure) -> Survey? {
        let videoIndex = Int(video.pointee.index)
        demuxer.select(Set(audio.map(\.index) + subtitles.keys + [videoIndex]))
        var scanned: [ScannedPacket] = []
        scanned.reserveCapacity(Int(avformat_index_get_entries_count(video)))
        let tracks = Dictionary(audio.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        var subtitles = subtitles
        let first = try FirstFrame(stream: video, path: demuxer.path)
        let pictures = try PictureScan(video, in: demuxer)
        let proof = try PassthroughProof(stream: video, path: demuxer.path)
        let whole = decodingCause == nil ? nil : try WholeDecode(stream: video, path: demuxer.path)
        var table = believesTable && demuxer.hasWholeTable ? try PacketTable(video, in: demuxer) : nil
        let packet = try Packet()
        var packets = 0
        var isCut = false
        while try demuxer.read(into: packet) {
            packets += 1
            progress(packets, thousandths(before: packet.position))
            if packet.streamIndex == videoIndex {
                guard table?.wants(packet) ?? true else { continue }
                isCut = packet.isCorrupt
                let found = try pictures.scan(packet)
                scanned.append(found)
                try table?.compare(found)
                if first.isReadOnlying { try demuxer.fetch(packet) }
                try proof.examine(packet, in: demuxer)
                try whole?.feed(packet)
                if first.isReadOnlying { try first.feed(packet) }
                // The skipped packets, and those of other streams between them, hold nothing else of use.
                guard table?.mayBeTaken == true, !first.isReadOnlying, proof.isSettled, subtitles.isEmpty,
                    audio.allSatisfy(\.isComplete)
                else { continue }
                while var listed = try table?.take() {
                    packets += 1
                    progress(packets, thousandths(before: listed.position))
                    try pictures.scanHead(of: &listed)
                    scanned.append(listed)
                }
                guard let tail = table?.awaitTail(), demuxer.seek(stream: videoIndex, to: tail) else { return nil }
            } else if let track = tracks[packet.streamIndex] {
                if track.isListening { try demuxer.fetch(packet) }
                try track.add(packet)
                if !track.isListening, demuxer.hasWholeTable, track.takeRest() { demuxer.skip(track.index) }
            } else {
                try demuxer.fetch(packet)
                subtitles[packet.streamIndex]?.add(packet)
            }
        }
        if let table, table.wasTaken, !table.isProven { return nil }
        forgetShiftedEnd(&scanned)
        for track in audio { try track.finish() }
        if !scanned.isEmpty { try first.finish(path: demuxer.path) }
        let shown = try whole?.finish()
        var stream = VideoStream(native: video)
        first.complete(&stream)
        stream.losses = first.losses(besides: video)
        (stream.fieldOrder, stream.fieldsVary) = (pictures.parser?.fields ?? FieldOrderCounts()).settle(
            stated: stream.fieldOrder, first: first.fieldOrder, knowsOrder: pictures.parser?.knowsFieldOrder ?? false)
        let timecode = demuxer.timecode.map { [$0] } ?? []
        let index = SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime,
            video: VideoTrack(stream: stream, packets: [], frames: [], randomAccessPoints: []),
            audio: audio.compactMap(\.track), chapters: demuxer.chapters, attachments: demuxer.attachments,
            metadata: demuxer.metadata.filter { $0.name.lowercased() != "timecode" } + timecode,
            passthrough: try proof.verdict(on: stream), diagnostics: leftOut())
        let order = PresentationOrder(
            nominalDuration: stream.nominalDuration, trackEnd: try trackEnd(stream.timeBase, of: scanned),
            mayRestart: demuxer.mayRestart
        )
        return Survey(
            index: index, scanned: scanned, order: order, firstDecoded: first.packetNumber,
            subtitles: subtitles.sorted { $0.key < $1.key }.map(\.value),
            damage: [demuxer.damage, whole?.damage(of: stream, from: demuxer.startTime)].compactMap(\.self),
            isCut: isCut, shown: shown)
    }

    /// The thousandths of the file before a byte; the byte of a packet may be unknown.
    private func thousandths(before position: Int64) -> Int {
        Int(min(max(position, 0), demuxer.fileSize) / max(demuxer.fileSize / 1000, 1))
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

    /// The stream's end by its DURATION tag, unless the file broke off before that. NUT and Matroska store no packet durations:
    /// libavformat guesses them from the frame rate.
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

    private func leftOut() -> [Diagnostic] {
        let heard = audio.filter { $0.refusal == nil }.map(\.index)
        let kept = Set(heard + subtitles.keys + demuxer.attachments.map(\.index) + [Int(video.pointee.index)])
        let refusals = Dictionary(
            audio.compactMap { track in track.refusal.map { (track.index, $0) } },
            uniquingKeysWith: { first, _ in first })
        return DroppedStreams(
            main: Int(video.pointee.index), hasChapters: !demuxer.chapters.isEmpty, refusals: refusals
        ).diagnostics(demuxer.streams.filter { !kept.contains(Int($0.pointee.index)) })
    }
}

extension Diagnostic {
    /// Whether the repairs show that the container's tables do not tell when frames are shown.
    fileprivate var contradictsTables: Bool { if case .framesMoved = self { true } else { false } }
}

/// Parses "00:01:02.500000000" as seconds; nil for any other text.
func clockTime(_ text: String) -> Rational? {
    let parts = text.split(separator: ":")
    guard parts.count == 3, let hours = Int64(parts[0]), let minutes = Int64(parts[1]) else { return nil }
    let digits = parts[2].split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = Int64(digits[0]), digits.count <= 2 else { return nil }
    let fraction = digits.count == 2 ? digits[1].prefix(9) : "0"
    guard let decimals = Int64(fraction) else { return nil }
    let scale = fraction.reduce(Int64(1)) { product, _ in product * 10 }
    let seconds = Rational(hours) * Rational(3600) + Rational(minutes) * Rational(60) + Rational(whole)
    return seconds + Rational(decimals, scale)
}

/// A FourCC as its four characters.
func fourCharacters(_ fourCC: UInt32) -> String {
    String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: fourCC >> (8 * $0)) }, as: UTF8.self)
}

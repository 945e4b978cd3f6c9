internal import CFFmpeg
public import ReelCore

/// The reconnaissance of a source: one demux pass, which decodes the first frame, the first sound of each track, and of
/// a source whose packets may be put in another order one frame in a hundred.
public struct Recon {
    private let demuxer: Demuxer
    private let video: UnsafeMutablePointer<AVStream>
    private let audio: [AudioScan]
    private let texts: [Int: TextScan]
    /// Whether packets that the container's table lists may be left unread.
    private let believesTable: Bool
    /// Where in the file reading ends, in bytes; nil at its end.
    private let limit: Int64?

    /// Opens the source and picks its main video and the audio beside it. Throws `.input` where there is none to
    /// reverse: no media, no video, encrypted, no decoder.
    ///
    /// - Parameter limit: read only so many bytes of the file, for the index of its head; nil for all of them.
    public init(path: String, limit: Int64? = nil) throws(ReelFailure) {
        try self.init(path: path, limit: limit, payload: false)
    }

    /// Reads the payload even where the container's table tells all that is to be known, if `payload`, and all packets
    /// even where it lists them, unless `believingTable`.
    package init(
        path: String, limit: Int64? = nil, payload: Bool, believingTable: Bool = true
    ) throws(ReelFailure) {
        believesTable = believingTable
        self.limit = limit
        demuxer = try Demuxer(path: path, purpose: .list(payload: payload))
        let streams = (0..<demuxer.streamCount).compactMap { [demuxer] in demuxer.stream($0) }
        let isVideo = { (stream: UnsafeMutablePointer<AVStream>) in
            stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard let main = streams.first(where: isVideo) else {
            throw ReelFailure(.noVideo(path: path))
        }
        video = main
        let members = demuxer.programme(of: Int(main.pointee.index))
        audio = try streams.filter { stream in
            stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
                && members?.contains(Int(stream.pointee.index)) ?? true
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
        let found = streams.compactMap { stream in TextScan(stream).map { (Int(stream.pointee.index), $0) } }
        texts = [Int: TextScan](uniqueKeysWithValues: found.filter { members?.contains($0.0) ?? true })
        try refuseWhatCannotBeDecoded()
    }

    private func refuseWhatCannotBeDecoded() throws(ReelFailure) {
        let parameters = video.pointee.codecpar.pointee
        if reel_stream_side_data(video, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nil) != nil
            || ["encv", "drmi"].contains(fourCharacters(parameters.codec_tag))
        {
            throw ReelFailure(.encrypted(path: demuxer.path))
        }
        guard avcodec_find_decoder(parameters.codec_id) != nil else {
            let name =
                parameters.codec_id == AV_CODEC_ID_NONE
                ? fourCharacters(parameters.codec_tag) : String(cString: avcodec_get_name(parameters.codec_id))
            throw ReelFailure(.noDecoder(path: demuxer.path, stream: Int(video.pointee.index), codec: name))
        }
    }

    /// Bytes read from the file so far.
    package var bytesRead: Int64 { demuxer.bytesRead }

    /// Reads the whole file once, or where the container has a table of its packets little more than that. `progress`
    /// hears after each packet how many were read. Throws `.input` where the file has no frame to show.
    ///
    /// With a limit the index is that of the source's head: the whole groups of pictures in front of it, of which all is
    /// as the whole file's index has it, if the rest of the file has no surprises. Sound, texts and what is beside them
    /// are as far as they were read.
    public consuming func run(progress: (_ packets: Int) -> Void = { _ in }) throws(ReelFailure) -> SourceIndex {
        let (path, limit) = (demuxer.path, limit)
        guard let found = try survey(progress) else {
            return try Recon(path: path, limit: limit, payload: false, believingTable: false).run(progress: progress)
        }
        // The demuxer's tables are as large as those that are made now.
        _ = consume self
        var index = found.index
        var (track, repairs) = found.order.arrange(
            found.scanned, stream: index.video.stream, firstDecoded: found.firstDecoded)
        if limit != nil { track.keepHead() }
        guard !track.frames.isEmpty else { throw ReelFailure(.noFrames(path: path)) }
        let end = track.stream.timeBase.seconds(track.end)
        let said = found.texts.map { $0.finish(end: end) }
        index.video = track
        index.texts = said.map(\.track)
        index.reordering = index.reordering.checked(against: track)
        index.diagnostics = found.damage + repairs + said.compactMap(\.lost) + index.diagnostics
        return index
    }

    /// What demuxing finds.
    private struct Survey {
        /// Without its tables and texts.
        let index: SourceIndex
        let scanned: [ScannedPacket]
        let order: PresentationOrder
        /// The packet whose frame is shown first.
        let firstDecoded: Int?
        let texts: [TextScan]
        let damage: [Diagnostic]
    }

    /// Nil where the container's table, which was believed, has proved wrong.
    private func survey(_ progress: (_ packets: Int) -> Void) throws(ReelFailure) -> Survey? {
        let videoIndex = Int(video.pointee.index)
        demuxer.select(Set(audio.map(\.index) + texts.keys + [videoIndex]))
        var scanned: [ScannedPacket] = []
        scanned.reserveCapacity(Int(avformat_index_get_entries_count(video)))
        let tracks = Dictionary(audio.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        var texts = texts
        let first = try FirstFrame(stream: video, path: demuxer.path)
        let pictures = try PictureScan(video, in: demuxer)
        let proof = try ReorderingProof(stream: video, path: demuxer.path)
        var table = believesTable && demuxer.hasWholeTable ? try PacketTable(video, in: demuxer) : nil
        let packet = try Packet()
        var packets = 0
        while try demuxer.read(into: packet) {
            packets += 1
            progress(packets)
            if packet.streamIndex == videoIndex {
                if let limit, packet.position >= limit { break }
                guard table?.wants(packet) ?? true else { continue }
                let found = try pictures.scan(packet)
                scanned.append(found)
                try table?.compare(found)
                if first.isLooking { try demuxer.fetch(packet) }
                try proof.examine(packet, in: demuxer)
                if first.isLooking { try first.feed(packet) }
                // Nothing else is to be learned from the packets in between, nor from those of other streams.
                guard table?.mayBeTaken == true, !first.isLooking, proof.isSettled, texts.isEmpty,
                    audio.allSatisfy(\.isComplete)
                else { continue }
                while var listed = try table?.take() {
                    packets += 1
                    progress(packets)
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
                texts[packet.streamIndex]?.add(packet)
            }
        }
        if let table, table.wasTaken, !table.isProven { return nil }
        forgetShiftedEnd(&scanned)
        for track in audio { try track.finish() }
        if !scanned.isEmpty { try first.finish(path: demuxer.path) }
        var stream = VideoStream(native: video)
        first.complete(&stream)
        stream.losses = first.losses(besides: video)
        (stream.fieldOrder, stream.fieldsVary) = (pictures.parser?.fields ?? FieldTally()).settle(
            stated: stream.fieldOrder, first: first.fieldOrder, knowsOrder: pictures.parser?.knowsFieldOrder ?? false)
        let timecode = demuxer.timecode.map { [$0] } ?? []
        let index = SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime,
            video: VideoTrack(stream: stream, packets: [], frames: [], randomAccessPoints: []),
            audio: audio.compactMap(\.track), chapters: demuxer.chapters, attachments: demuxer.attachments,
            metadata: demuxer.metadata.filter { $0.name.lowercased() != "timecode" } + timecode,
            reordering: try proof.verdict(on: stream), diagnostics: leftOut())
        let order = PresentationOrder(
            nominalDuration: stream.nominalDuration, trackEnd: trackEnd(stream.timeBase), mayRestart: demuxer.mayRestart
        )
        return Survey(
            index: index, scanned: scanned, order: order, firstDecoded: first.packetNumber,
            texts: texts.sorted { $0.key < $1.key }.map(\.value), damage: [demuxer.damage].compactMap(\.self))
    }

    /// libavformat lets the last packet of MP4 and QuickTime last until the track's end, in the track's own time; the
    /// packet's is another where an edit list has moved it, and then nothing is said of how long it lasts.
    private func forgetShiftedEnd(_ scanned: inout [ScannedPacket]) {
        guard demuxer.formatName.hasPrefix("mov,"), let first = scanned.first?.dts, first != Timestamp(0),
            let last = scanned.last, let dts = last.dts, last.duration.count == video.pointee.duration - dts.ticks
        else { return }
        scanned[scanned.count - 1].duration = .zero
    }

    /// Where the stream's DURATION tag says it ends. NUT and Matroska have no durations of packets: what libavformat
    /// reports for them is guessed by the frame rate.
    private func trackEnd(_ timeBase: TimeBase) -> Timestamp? {
        guard ["nut", "matroska,webm"].contains(demuxer.formatName) else { return nil }
        let found = tags(of: video.pointee.metadata).first { $0.name == "DURATION" }
        guard let seconds = found.flatMap({ clockTime($0.value) }) else { return nil }
        return Timestamp(native: timeBase.ticks(in: seconds, rounding: .nearest))
    }

    private func leftOut() -> [Diagnostic] {
        let heard = audio.filter { $0.refusal == nil }.map(\.index)
        let kept = Set(heard + texts.keys + demuxer.attachments.map(\.index) + [Int(video.pointee.index)])
        let refusals = Dictionary(
            audio.compactMap { track in track.refusal.map { (track.index, $0) } },
            uniquingKeysWith: { first, _ in first })
        return LeftOut(
            main: Int(video.pointee.index), hasChapters: !demuxer.chapters.isEmpty, refusals: refusals
        ).diagnostics(demuxer.streams.filter { !kept.contains(Int($0.pointee.index)) })
    }
}

/// "00:01:02.500000000" as seconds; nil for anything else.
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

/// A codec tag as its four characters.
func fourCharacters(_ tag: UInt32) -> String {
    String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }, as: UTF8.self)
}

internal import CFFmpeg
internal import ReelCore

final class Muxer {
    let name: String
    private var native: UnsafeMutablePointer<AVFormatContext>
    private let writer: ByteWriter
    private let interleaves: Bool

    /// `format` is the muxer's name as libavformat spells it, `interleaves` whether the muxer cuts sound and puts
    /// packets in order itself. If not, it writes them as they come.
    init(_ sink: any ByteSink, format: String, interleaves: Bool = false) throws(ReelFailure) {
        name = sink.name
        self.interleaves = interleaves
        writer = try ByteWriter(sink)
        var context: UnsafeMutablePointer<AVFormatContext>?
        try check(avformat_alloc_output_context2(&context, nil, format, name), .openMuxer, format)
        native = try allocated(context, .openMuxer)
        native.pointee.pb = writer.native
        native.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    deinit { avformat_free_context(native) }

    /// Adds a stream and lets `configure` describe it.
    func addStream(timeBase: TimeBase, _ configure: (NativeStream) throws(ReelFailure) -> Void) throws(ReelFailure) {
        let stream = try allocated(avformat_new_stream(native, nil), .describeStream)
        stream.pointee.time_base = timeBase.native
        try configure(stream)
    }

    /// Adds a chapter, in seconds on the output's clock.
    func addChapter(_ chapter: Chapter, title: String?) throws(ReelFailure) {
        let base = TimeBase(1, 1_000_000_000)
        let made = try allocated(
            av_mallocz(MemoryLayout<AVChapter>.size)?.bindMemory(to: AVChapter.self, capacity: 1), .addChapter)
        made.pointee.id = Int64(native.pointee.nb_chapters) + 1
        made.pointee.time_base = base.native
        made.pointee.start = base.ticks(in: chapter.start, rounding: .nearest)
        made.pointee.end = base.ticks(in: chapter.end, rounding: .nearest)
        if let title { av_dict_set(&made.pointee.metadata, "title", title, 0) }
        // The muxer's context owns the list and its chapters, and frees them.
        let size = (Int(native.pointee.nb_chapters) + 1) * MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride
        guard let list = av_realloc(native.pointee.chapters, size) else {
            av_free(made)
            throw mediaFailure(reel_error_no_memory, .addChapter)
        }
        native.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
        native.pointee.chapters[Int(native.pointee.nb_chapters)] = made
        native.pointee.nb_chapters += 1
    }

    func setMetadata(_ entries: [MetadataEntry]) {
        for entry in entries { av_dict_set(&native.pointee.metadata, entry.name, entry.value, 0) }
    }

    /// Writes the header of the file. Timestamps are taken as they are unless `shifted`.
    func begin(options: [MediaOption] = [], shifted: Bool = false) throws(ReelFailure) {
        native.pointee.flags |= AVFMT_FLAG_BITEXACT
        // libavformat 5.1 takes FLAC in MP4 for an experiment.
        native.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        var dictionary = NativeDictionary(options)
        if !shifted { dictionary.set("avoid_negative_ts", "disabled") }
        let begun = avformat_write_header(native, &dictionary.native)
        guard begun < 0 else { return }
        let failure = failure(begun, .writeHeader)
        guard case .mediaFailed(let step, _, let said) = failure.reason else { throw failure }
        throw ReelFailure(.outputRefused(path: name, step: step, said: said))
    }

    /// Why writing failed: the system's error if there was one, otherwise the muxer's.
    private func failure(_ code: Int32, _ step: MediaStep) -> ReelFailure {
        systemError(in: native.pointee.pb?.pointee.error ?? 0).map { fileFailure(errno: $0, .write, name) }
            ?? mediaFailure(code, step, name)
    }

    /// The time base that the muxer chose for a stream, known after `begin`.
    func timeBase(of index: Int) -> TimeBase {
        native.pointee.streams[index].map { TimeBase($0.pointee.time_base) } ?? TimeBase(1, 1)
    }

    /// Writes one packet whose times are in `timeBase`; they are rounded once to the muxer's own.
    func write(_ packet: borrowing Packet, timeBase: TimeBase) throws(ReelFailure) {
        av_packet_rescale_ts(packet.native, timeBase.native, self.timeBase(of: packet.streamIndex).native)
        let written =
            interleaves ? av_interleaved_write_frame(native, packet.native) : av_write_frame(native, packet.native)
        guard written >= 0 else { throw failure(written, .writePackets) }
    }

    /// States how many samples per channel a file of FLAC has (RFC 9639 8.2), whose header was written before they were
    /// known. The MD5 of its samples stays unknown.
    func setLength(_ samples: Int) throws(ReelFailure) {
        guard let stream = native.pointee.streams[0] else { return }
        var header = Array(stream.pointee.codecpar.pointee.header)
        guard header.count >= 34 else { return }
        for place in 0..<4 { header[14 + place] = UInt8(truncatingIfNeeded: samples >> (8 * (3 - place))) }
        header[13] = header[13] & 0xf0 | UInt8(truncatingIfNeeded: samples >> 32) & 0x0f
        let packet = try Packet()
        let room = av_packet_new_side_data(packet.native, AV_PKT_DATA_NEW_EXTRADATA, header.count)
        try allocated(room, .writePackets).update(from: header, count: header.count)
        let written = av_write_frame(native, packet.native)
        guard written >= 0 else { throw failure(written, .writePackets) }
    }

    /// Writes the end of the file. Returns the file's size in bytes.
    func finish() throws(ReelFailure) -> Int64 {
        let written = av_write_trailer(native)
        guard written >= 0 else { throw failure(written, .writeTrailer) }
        avio_flush(native.pointee.pb)
        let code = native.pointee.pb.pointee.error
        guard code >= 0 else { throw failure(code, .closeFile) }
        return writer.size
    }
}

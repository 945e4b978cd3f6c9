internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// A media file that is being written, into a sink.
final class Muxer {
    /// What failures call the file.
    let name: String
    private var native: UnsafeMutablePointer<AVFormatContext>
    private let writer: ByteWriter
    private let interleaves: Bool

    /// - Parameters:
    ///   - format: the muxer's name as libavformat spells it.
    ///   - interleaves: whether the muxer cuts sound and puts packets in order itself. If not, it writes them as they
    ///     come.
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

    /// Adds a stream and lets `configure` describe it. Returns its index.
    func addStream(
        timeBase: TimeBase, _ configure: (NativeStream) throws(ReelFailure) -> Void
    ) throws(ReelFailure) -> Int {
        let stream = try allocated(avformat_new_stream(native, nil), .describeStream)
        stream.pointee.time_base = timeBase.native
        try configure(stream)
        return Int(stream.pointee.index)
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

/// Bytes that libavformat writes by way of reel, into a sink.
final class ByteWriter {
    /// libavformat's view of the bytes.
    private(set) var native: UnsafeMutablePointer<AVIOContext>
    private let sink: any ByteSink
    private var position: Int64 = 0
    /// Bytes written so far, up to the last one.
    private(set) var size: Int64 = 0

    private static let buffer = 32 << 10

    init(_ sink: any ByteSink) throws(ReelFailure) {
        self.sink = sink
        let room = av_malloc(Self.buffer)?.assumingMemoryBound(to: UInt8.self)
        guard let native = reel_alloc_writer(room, Int32(Self.buffer), writeBytes, seekBytes) else {
            av_free(room)
            throw mediaFailure(reel_error_no_memory, .openMuxer, sink.name)
        }
        self.native = native
        // Not retained: the context is freed with this object, and nothing else calls it.
        native.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        av_free(native.pointee.buffer)
        release(native, avio_context_free)
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do { try sink.write(bytes, at: position) } catch { return -error.errno }
        position += Int64(bytes.count)
        size = max(size, position)
        return Int32(bytes.count)
    }

    fileprivate func seek(to offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return size
        case SEEK_SET where offset >= 0: position = offset
        case SEEK_CUR where position + offset >= 0: position += offset
        case SEEK_END where size + offset >= 0: position = size + offset
        default: return Int64(-EINVAL)
        }
        return position
    }
}

private func writeBytes(_ writer: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard let writer else { return -EINVAL }
    return Unmanaged<ByteWriter>.fromOpaque(writer).takeUnretainedValue()
        .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
}

private func seekBytes(_ writer: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let writer else { return Int64(-EINVAL) }
    return Unmanaged<ByteWriter>.fromOpaque(writer).takeUnretainedValue().seek(to: offset, whence)
}

internal import CFFmpeg
internal import ReelCore

final class Demuxer {
    let path: String
    private var native: UnsafeMutablePointer<AVFormatContext>
    private var filters: [Int: BitstreamFilter] = [:]
    let file: ByteReader
    /// Whether packets come without their payload, so that `fetch` must read the part that is wanted.
    private(set) var leavesPayload = false
    /// Whether packets come without their payload and all packets that the table lists are in the file.
    private(set) lazy var hasWholeTable = leavesPayload && listsOnlyWhatIsThere()
    /// The number of bytes of the last packet that have been fetched.
    private var fetched = 0
    /// Where reading first failed; nil if it has not.
    private(set) var damage: Diagnostic?

    /// The containers of this FFmpeg that are one file and name no other: a playlist inside an upload must not make
    /// libav* read other files or addresses.
    private static let formats: String = {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let format = av_demuxer_iterate(&state) {
            let name = String(cString: format.pointee.name).split(separator: ",").first.map(String.init) ?? ""
            // Formats without a file of their own open devices, addresses, or files by a pattern.
            guard format.pointee.flags & AVFMT_NOFILE == 0, !leading.contains(name) else { continue }
            names.append(name)
        }
        return names.joined(separator: ",")
    }()

    /// Containers that name other files or addresses, which libavformat opens, and formats of text that it would draw.
    private static let leading: Set<String> = [
        "image2", "concat", "concatf", "hls", "dash", "sdp", "rtsp", "rtp", "sap", "imf", "webm_dash_manifest", "tee",
        "ffmetadata", "lavfi", "avisynth", "vapoursynth", "tty",
    ]

    enum Purpose: Equatable {
        /// Reading a source. Its streams are probed.
        case source
        /// Listing a source's packets. If the container has a table of them, reel uses that table alone, and leaves the
        /// payload on the disk unless `payload` is true.
        case list(payload: Bool)
        /// Reading a finished output as players read it.
        case output
        /// Reading a segment: its packets unchanged, without probing.
        case segment
    }

    /// Opens the file and learns its streams. Throws `.input` where it is not media, and host failures where the system
    /// does not let it be read.
    convenience init(_ locator: Locator, purpose: Purpose = .source) throws(ReelFailure) {
        try self.init(ByteReader(locator, purpose == .output ? .output : .source), purpose: purpose)
    }

    init(_ file: ByteReader, purpose: Purpose) throws(ReelFailure) {
        path = file.name
        self.file = file
        var options = NativeDictionary()
        options.set("protocol_whitelist", "file")
        options.set("format_whitelist", Self.formats)
        // As `ffmpeg` does: otherwise a transport stream's sound may have another codec until its packets were parsed.
        options.set("scan_all_pmts", "1")
        if purpose == .segment { options.set("fflags", "noparse+nofillin") }
        var context = avformat_alloc_context()
        context?.pointee.pb = file.native
        // A few demuxers look for more files beside the given one.
        context?.pointee.io_open = { _, _, _, _, _ in reel_error_no_access }
        let code = avformat_open_input(&context, "file:" + path, nil, &options.native)
        guard code >= 0, let context else { throw Self.refusal(file, code) }
        native = context
        try file.check()
        guard purpose != .segment else { return }
        let isListed = if case .list = purpose { true } else { false }
        let hasTable = isListed ? try self.hasTable() : false
        // Parsers would look at payload, and replace facts of the table with their own.
        if hasTable { native.pointee.flags |= AVFMT_FLAG_NOPARSE }
        let probed = avformat_find_stream_info(native, nil)
        guard probed >= 0 else { throw Self.refusal(file, probed) }
        try file.check()
        leavesPayload = hasTable && purpose == .list(payload: false)
        if leavesPayload { file.leavePayload() } else if isListed { file.readAhead() }
        for stream in streams { filters[stream.number] = try BitstreamFilter(for: stream) }
    }

    deinit { release(native, avformat_close_input) }

    /// Why a file does not open: the system's error if there was one; otherwise the file is not media. A demuxer's
    /// error code tells nothing more.
    private static func refusal(_ file: ByteReader, _ code: Int32) -> ReelFailure {
        do throws(ReelFailure) { try file.check() } catch { return error }
        return code == reel_error_no_memory
            ? mediaFailure(code, .openFile, file.name) : ReelFailure(.notMedia(path: file.name))
    }

    var formatName: String { String(cString: native.pointee.iformat.pointee.name) }
    /// Whether the timestamps are those of a broadcast, whose clock may restart midway.
    var mayRestart: Bool { native.pointee.iformat.pointee.flags & AVFMT_TS_DISCONT != 0 }

    /// The file's size in bytes, which the system is asked for once: progress needs it at each packet.
    private(set) lazy var fileSize = avio_size(native.pointee.pb)
    /// The thousandths of the file before a byte; the byte of a packet may be unknown.
    func thousandths(before position: Int64) -> Int { Int(min(max(position, 0), fileSize) / max(fileSize / 1000, 1)) }

    var metadata: [MetadataEntry] { entries(of: native.pointee.metadata) }
    var streamCount: Int { Int(native.pointee.nb_streams) }

    /// The chapters in the order of the file, on its clock.
    var chapters: [Chapter] {
        (0..<Int(native.pointee.nb_chapters)).compactMap { number in
            guard let chapter = native.pointee.chapters[number]?.pointee, chapter.start != reel_nopts else {
                return nil
            }
            let base = TimeBase(chapter.time_base)
            // Titles are cut, since MP4 counts a title's bytes with 16 bits.
            let stated = entries(of: chapter.metadata).value(of: "title")
            let title = stated.map { String($0.unicodeScalars.prefix(16_000)) }
            return Chapter(
                start: base.seconds(Timestamp(chapter.start)),
                end: base.seconds(Timestamp(chapter.end == reel_nopts ? chapter.start : chapter.end)), title: title)
        }
    }

    /// Where the file's clock starts, in seconds.
    var startTime: Rational {
        native.pointee.start_time == reel_nopts ? Rational(0) : Rational(native.pointee.start_time, 1_000_000)
    }

    func stream(_ index: Int) -> NativeStream? { index < streamCount ? native.pointee.streams[index] : nil }

    /// The programme that a stream belongs to, as a set of stream indexes; nil if the file has not several programmes.
    func programme(of index: Int) -> Set<Int>? {
        guard native.pointee.nb_programs > 1 else { return nil }
        let programs = (0..<Int(native.pointee.nb_programs)).compactMap { native.pointee.programs[$0]?.pointee }
        let lists = programs.map { UnsafeBufferPointer(start: $0.stream_index, count: Int($0.nb_stream_indexes)) }
        return lists.lazy.map { Set($0.map { Int($0) }) }.first { $0.contains(index) }
    }

    /// Reads only these streams from now on; packets of the others are skipped.
    func select(_ indexes: Set<Int>) {
        for index in 0..<streamCount {
            stream(index)?.pointee.discard = indexes.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// Reads only this stream from now on. If the headers say where its packets are, nothing else of the file is read:
    /// packets may lie so far apart that filling a buffer for each would read most of the file.
    func selectAlone(_ index: Int) {
        select([index])
        if formatName.hasPrefix("mov,") { file.native.pointee.direct = 1 }
    }

    /// Fills the packet with the next one; false at the end of the file, or if damage leaves nothing more to read.
    func read(into packet: borrowing Packet) throws(ReelFailure) -> Bool {
        // Some demuxers continue after a damaged part if they are asked again.
        var failures = 0
        while failures < Self.patience {
            packet.reset()
            fetched = 0
            let errors = LoggedErrors.ofDemuxers
            let code = av_read_frame(native, packet.native)
            if leavesOutDamage, LoggedErrors.ofDemuxers > errors { noteDamage() }
            // If the system reports an error, demuxers give out a part of a packet, or take the error for the end.
            try file.check()
            guard code >= 0 else {
                if try isAtEnd(code) { return false }
                failures += 1
                continue
            }
            failures = 0
            guard !filters.isEmpty, let filter = filters[packet.streamIndex] else { return true }
            if try filter.pass(packet) { return true }
        }
        return false
    }

    /// Reads the first `count` bytes of the packet that was read last, if they were left on the disk.
    func fetch(_ packet: borrowing Packet, first count: Int = .max) throws(ReelFailure) {
        let wanted = min(count, packet.size)
        guard leavesPayload, fetched < wanted, packet.position >= 0, let start = packet.native.pointee.data else {
            return
        }
        let bytes = UnsafeMutableRawBufferPointer(start: start + fetched, count: wanted - fetched)
        _ = try file.fetch(at: packet.position + Int64(fetched), into: bytes)
        fetched = wanted
    }

    var bytesRead: Int64 { file.bytesRead }

    /// Whether an error while reading means that nothing follows. Lack of memory is thrown, since no packet may be lost
    /// silently.
    private func isAtEnd(_ code: Int32) throws(ReelFailure) -> Bool {
        if code == reel_error_eof { return !hasTables }
        guard code != reel_error_no_memory, let io = native.pointee.pb else {
            throw mediaFailure(code, .readFile, path)
        }
        // A file that was cut off inside a packet ends there.
        if avio_feof(io) != 0 { return !hasTables }
        noteDamage()
        return false
    }

    /// Notes that reading failed where the file is read now, if it is the first time.
    private func noteDamage() {
        guard damage == nil, let io = native.pointee.pb, avio_feof(io) == 0 else { return }
        damage = .fileDamaged(offset: avio_tell(io))
    }

    /// Whether the demuxer continues after a damaged part without an error.
    private var leavesOutDamage: Bool { formatName.hasPrefix("matroska,") }

    /// Whether packets may follow after the end of the file was met. If a file with tables was cut off, the tables may
    /// list a packet of one stream that is missing before one of another stream that is there.
    private var hasTables: Bool { formatName.hasPrefix("mov,") }

    /// The number of errors in a row after which reading stops.
    private static let patience = 256

    /// Goes to a packet at or before `timestamp`; false if the container cannot.
    func seek(stream: Int, to timestamp: Timestamp) -> Bool {
        for filter in filters.values { filter.flush() }
        return av_seek_frame(native, Int32(stream), timestamp.ticks, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// Goes to a packet of sound at or before `timestamp`, or near it; false if the container cannot. Call it before the
    /// streams are selected.
    func seek(sound stream: Int, to timestamp: Timestamp) -> Bool {
        // The cues of Matroska list the video's key frames, and the sound's packets only if the file has no video.
        guard leavesOutDamage, let clock = self.stream(stream)?.timeBase else {
            return seek(stream: stream, to: timestamp)
        }
        // The sound of a moment may be stored a little before its picture.
        let moment = clock.seconds(timestamp) - Rational(1)
        return av_seek_frame(
            native, -1, TimeBase(1, 1_000_000).ticks(in: moment, rounding: .down), AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// Goes to a byte of the file; false if the container cannot.
    func seek(toByte position: Int64) -> Bool {
        for filter in filters.values { filter.flush() }
        return av_seek_frame(native, -1, position, AVSEEK_FLAG_BYTE) >= 0
    }
}

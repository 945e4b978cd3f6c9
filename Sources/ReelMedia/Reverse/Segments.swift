internal import CFFmpeg
internal import Crypto
internal import Dispatch
internal import Glibc
package import ReelCore
internal import Synchronization

/// The segments that an assembly joins. If the assembly began before all passes were finished, a call for a segment
/// that is not known yet waits for the feed that brings it.
package final class SegmentList {
    private var known: [SegmentSubject: StoredSegment] = [:]
    /// The first segment of each content: clips of the same content share it.
    private var shared: [SegmentContent: StoredSegment] = [:]
    private let feed: SegmentFeed?
    private let waiting: () -> Void

    package init(_ segments: [StoredSegment]) {
        (feed, waiting) = (nil, {})
        add(segments)
    }

    /// The segments that a feed brings, in any order. `waiting` is called repeatedly while a segment is awaited.
    package init(_ feed: SegmentFeed, waiting: @escaping () -> Void) { (self.feed, self.waiting) = (feed, waiting) }

    /// The most packets by which a frame comes later in decode order than in presentation order, in the segments known
    /// so far.
    var reorderDepth: Int { known.values.reduce(0) { max($0, $1.record.reorderDepth) } }

    /// For each source, the frames for which passes reported concealed parts, in the segments known so far. They need
    /// not look as they did when the source was decoded.
    var concealed: [Int: Set<Int>] {
        var concealed: [Int: Set<Int>] = [:]
        for segment in known.values {
            let content = segment.record.content
            guard case .video(let frames) = content.part else { continue }
            for case .framesConcealed(let moments) in segment.record.diagnostics {
                for place in moments.places { concealed[content.source, default: []].formUnion(place.frames) }
                if moments.more > 0, let last = moments.places.last {
                    concealed[content.source, default: []].formUnion(
                        last.frames.upperBound..<max(last.frames.upperBound, frames.upperBound))
                }
            }
        }
        return concealed
    }

    /// The segment with this content, which a pass of the plan makes for a clip: the clip's own, or another clip's of
    /// the same content. Rejects a segment that shows the same frames of the clip in another way.
    func segment(of content: SegmentContent, clip: Int, pass: Int) throws(ReelFailure) -> StoredSegment {
        let subject = SegmentSubject(clip: clip, part: content.part)
        while true {
            let own = known[subject]
            if let own, own.record.content.uses.contains(content) { return own }
            if let other = shared[content] { return other }
            if let own { throw own.record.flawed(.otherContent, pass: pass) }
            guard let feed else { throw ReelFailure(.segmentMissing(segment: "\(subject)", pass: pass)) }
            let more = feed.next(within: .milliseconds(250))
            if more.isEmpty { waiting() } else { add(more) }
        }
    }

    private func add(_ segments: [StoredSegment]) {
        for segment in segments {
            let record = segment.record
            if known[record.name.subject] == nil { known[record.name.subject] = segment }
            for content in record.content.uses where shared[content] == nil { shared[content] = segment }
        }
    }
}

/// Brings segments to an assembly as they become known: one thread adds them, another takes them.
package final class SegmentFeed: Sendable {
    private let segments = Mutex<[StoredSegment]>([])
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func add(_ more: [StoredSegment]) {
        segments.withLock { $0 += more }
        arrived.signal()
    }

    /// Forgets the segments that have not been taken: they were for an assembly that has ended.
    package func clear() { segments.withLock { $0 = [] } }

    /// The segments added since the last call. Waits for the next one if nothing was added, and returns an empty list
    /// after the time.
    func next(within time: DispatchTimeInterval) -> [StoredSegment] {
        let deadline = DispatchTime.now() + time
        while true {
            let taken = segments.withLock { segments in
                defer { segments = [] }
                return segments
            }
            if !taken.isEmpty || arrived.wait(timeout: deadline) == .timedOut { return taken }
        }
    }
}

/// Reads one segment file from start to end and compares it with its record. Every byte is hashed on its way to the
/// demuxer. Either every packet returned is one that was recorded, or reading ends with an error.
final class SegmentReader {
    let record: SegmentRecord
    let pass: Int
    private let file: ByteReader
    private let demuxer: Demuxer
    private let ownBase: TimeBase
    private let hasTransparency: Bool

    /// Opens the file. Throws `.segmentMissing` if there is no such file, `.segmentDiffers` if it is not the one that
    /// was recorded, and `.segmentFlawed` if its encoder made other parameters than `parameters`, with which decoding
    /// would fail. `hasTransparency` says whether a second stream has the transparency of each packet.
    init(_ segment: StoredSegment, pass: Int, parameters: NativeParameters, hasTransparency: Bool) throws(ReelFailure) {
        let record = segment.record
        (self.record, self.pass, self.hasTransparency) = (record, pass, hasTransparency)
        let file: ByteReader
        do {
            file = try ByteReader(segment.data, .segment)
        } catch {
            guard case .fileFailed(_, .open, ENOENT, _) = error.reason else { throw error }
            throw ReelFailure(.segmentMissing(segment: record.name.text, pass: pass))
        }
        self.file = file
        do throws(ReelFailure) {
            demuxer = try Demuxer(file, purpose: .segment)
            guard let stream = demuxer.stream(0), let own = stream.pointee.codecpar else {
                throw record.flawed(.noStream, pass: pass)
            }
            ownBase = stream.timeBase
            guard own.pointee.header.elementsEqual(parameters.pointee.header) else {
                throw record.flawed(.otherParameters, pass: pass)
            }
        } catch {
            try Self.compare(file, with: record, pass)
            throw error
        }
    }

    /// Fills the packet with the next one, with its time in the record's time base. Returns false at the end, when the
    /// whole file has been compared with its record.
    func read(into packet: borrowing Packet) throws(ReelFailure) -> Bool {
        do {
            guard try demuxer.read(into: packet) else {
                try Self.compare(file, with: record, pass)
                return false
            }
            if hasTransparency { try readTransparency(into: packet) }
        } catch { throw judged(error) }
        packet.pts = packet.pts.map { pts in
            let ticks = ownBase.convert(pts.ticks, to: record.timeBase, rounding: .nearest)
            return Timestamp(min(max(ticks, -Timestamp.bound), Timestamp.bound))
        }
        return true
    }

    /// Puts the packet that follows, of the second stream, beside the one that was read.
    private func readTransparency(into packet: borrowing Packet) throws(ReelFailure) {
        let beside = try Packet()
        guard try demuxer.read(into: beside), (packet.streamIndex, beside.streamIndex) == (0, 1) else {
            throw record.flawed(.missingFrames(count: 1), pass: pass)
        }
        try packet.setTransparency(beside.withBytes { Array($0) })
    }

    /// The cause of a failure at this segment: `.segmentDiffers` if its file is not the one that was recorded,
    /// otherwise the given failure.
    func judged(_ failure: ReelFailure) -> ReelFailure {
        do throws(ReelFailure) {
            try Self.compare(file, with: record, pass)
            return failure
        } catch { return error }
    }

    /// Reads the rest of the file. Throws `.segmentDiffers` if it is not the one that was recorded.
    private static func compare(_ file: ByteReader, with record: SegmentRecord, _ pass: Int) throws(ReelFailure) {
        guard try file.checksum() == record.checksum else {
            throw ReelFailure(.segmentDiffers(segment: record.name.text, pass: pass))
        }
    }
}

extension SegmentRecord {
    func flawed(_ flaw: SegmentFlaw, pass: Int) -> ReelFailure {
        ReelFailure(.segmentFlawed(segment: name.text, pass: pass, flaw: flaw))
    }
}

/// Writes one segment, a NUT file, and last the record that marks it as whole. When `finish` returns, both are durable,
/// unless their place says that they need not be.
final class SegmentWriter {
    private let muxer: Muxer
    private let sink: any ByteSink
    private let place: SegmentPlace
    private let timeBase: TimeBase
    private var presentation: [Int64] = []

    /// `describe` sets the parameters of the file's one stream. If packets have transparency beside them
    /// (`hasTransparency`), the file has a second such stream for it: libavformat stores data beside a packet only
    /// in an experimental version of NUT, together with the time of day.
    init(
        at place: SegmentPlace, timeBase: TimeBase, hasTransparency: Bool = false,
        describe: (NativeParameters) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        (self.place, self.timeBase) = (place, timeBase)
        sink = try failing(.write, place.data) { () throws(ByteFault) in
            try place.data.sink(isDurable: place.isDurable)
        }
        muxer = try Muxer(sink, format: "nut")
        let nut = av_guess_format("nut", nil, nil)
        for _ in 0..<(hasTransparency ? 2 : 1) {
            try muxer.addStream(timeBase: timeBase) { (stream) throws(ReelFailure) in
                try describe(stream.pointee.codecpar)
                // NUT identifies codecs by tags and has none for some codecs. Any tag works, since segments are read
                // according to their plan.
                if stream.parameters.codec_tag == 0,
                    avformat_query_codec(nut, stream.parameters.codec_id, FF_COMPLIANCE_NORMAL) != 1
                {
                    stream.pointee.codecpar.pointee.codec_tag = 0x6c65_6572
                }
            }
        }
        try muxer.begin()
    }

    var packetCount: Int { presentation.count }

    /// Writes a packet whose times are in the segment's time base, moved by `offset` ticks so that none is negative.
    /// `transparency` goes into the second stream; it is nil for a video without transparency.
    func write(_ packet: borrowing Packet, beside transparency: [UInt8]? = nil, offset: Int64 = 0) throws(ReelFailure) {
        guard let pts = packet.pts else { throw ReelFailure(.packetWithoutTime(segment: place.name.text)) }
        packet.streamIndex = 0
        packet.delay(by: Ticks(offset))
        presentation.append(pts.ticks)
        let second = if let transparency { try besidePacket(transparency, like: packet) } else { nil as Packet? }
        try muxer.write(packet, timeBase: timeBase)
        if let second { try muxer.write(second, timeBase: timeBase) }
    }

    /// A packet of the second stream, at the times of one of the first.
    private func besidePacket(_ bytes: [UInt8], like packet: borrowing Packet) throws(ReelFailure) -> Packet {
        let beside = try Packet()
        try beside.fill(with: bytes)
        (beside.streamIndex, beside.pts, beside.dts) = (1, packet.pts, packet.dts)
        beside.duration = packet.duration
        beside.native.pointee.flags = packet.native.pointee.flags
        return beside
    }

    /// Closes the file and writes the record. `padding` is the number of samples at the start and at the end that are
    /// not to be heard, `start` the moment at which the first sample is heard in the output, in samples.
    func finish(
        _ content: SegmentContent, frames: Int, extradataHash: String, padding: (start: Int, end: Int) = (0, 0),
        start: Int64 = 0, diagnostics: [Diagnostic]
    ) throws(ReelFailure) -> SegmentRecord {
        let bytes = try muxer.finish()
        sink.finish()
        let written = try failing(.read, place.data) { () throws(ByteFault) in try sink.written() }
        let checksum = try ByteReader(written, .segment).checksum()
        try failing(.sync, place.data, sink.commit)
        var record = SegmentRecord(
            content: content, clip: place.name.subject.clip, token: place.name.token, frames: frames,
            packets: presentation.count, bytes: bytes, checksum: checksum, timeBase: timeBase,
            reorderDepth: reorderDepth, extradataHash: extradataHash, initialPadding: padding.start,
            trailingPadding: padding.end, start: start, diagnostics: diagnostics)
        record.name = place.name
        let json: [UInt8]
        do { json = try CanonicalJSON.bytes(of: record) } catch { throw ReelFailure(.notEncodable(said: "\(error)")) }
        try place.record.write(json, isDurable: place.isDurable)
        return record
    }

    /// The most packets by which a frame comes later in decode order than in presentation order.
    private var reorderDepth: Int {
        let sorted = presentation.indices.sorted { presentation[$0] < presentation[$1] }
        return sorted.enumerated().map { place, packet in packet - place }.max() ?? 0
    }
}

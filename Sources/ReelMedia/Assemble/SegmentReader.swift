internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Reads one segment file from start to end and compares it with its record. Every byte is hashed on its way to the
/// demuxer. Either every packet returned is one that was recorded, or reading ends with an error.
final class SegmentReader {
    let record: SegmentRecord
    /// The pass that made it, by its place in the plan.
    let pass: Int
    private let file: ByteReader
    private let demuxer: Demuxer
    private let ownBase: TimeBase
    private let hasTransparency: Bool

    /// Opens the file. Throws `.segmentMissing` if there is no such file, `.segmentDiffers` if it is not the one that
    /// was recorded, and `.segmentFlawed` if its encoder made other parameters than `parameters`, with which decoding
    /// would fail.
    ///
    /// - Parameter hasTransparency: whether a second stream has the transparency of each packet.
    init(
        _ segment: StoredSegment, pass: Int, parameters: UnsafePointer<AVCodecParameters>,
        hasTransparency: Bool = false
    ) throws(ReelFailure) {
        let record = segment.record
        self.record = record
        self.pass = pass
        self.hasTransparency = hasTransparency
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
                throw ReelFailure(.segmentFlawed(segment: record.name.text, pass: pass, flaw: .noStream))
            }
            ownBase = TimeBase(stream.pointee.time_base)
            guard own.pointee.header.elementsEqual(parameters.pointee.header) else {
                throw ReelFailure(.segmentFlawed(segment: record.name.text, pass: pass, flaw: .otherParameters))
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
        } catch {
            throw judged(error)
        }
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
            throw ReelFailure(
                .segmentFlawed(segment: record.name.text, pass: pass, flaw: .missingFrames(count: 1)))
        }
        try packet.setTransparency(beside.withBytes { Array($0) })
    }

    /// The cause of a failure at this segment: `.segmentDiffers` if its file is not the one that was recorded, else the
    /// given failure.
    func judged(_ failure: ReelFailure) -> ReelFailure {
        do throws(ReelFailure) {
            try Self.compare(file, with: record, pass)
            return failure
        } catch {
            return error
        }
    }

    /// Reads the rest of the file. Throws `.segmentDiffers` if it is not the one that was recorded.
    private static func compare(_ file: ByteReader, with record: SegmentRecord, _ pass: Int) throws(ReelFailure) {
        guard try file.checksum() == record.checksum else {
            throw ReelFailure(.segmentDiffers(segment: record.name.text, pass: pass))
        }
    }
}

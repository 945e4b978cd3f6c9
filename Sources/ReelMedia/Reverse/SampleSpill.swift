internal import CFFmpeg
internal import Foundation
internal import Glibc
internal import ReelCore

/// Decoded samples on disk: written once forwards, then read forwards or backwards by sample frame. The file has no
/// name, so nothing of it remains, however the process ends.
final class SampleSpill {
    /// Bytes of one sample of one channel.
    private let width: Int
    private let channels: Int
    /// The byte that silence consists of.
    let silence: Int32
    private let descriptor: Int32
    private let folder: String
    private var pending: [UInt8] = []
    private(set) var count: Int64 = 0

    /// `format` is that of the samples, which are stored interleaved.
    init(folder: String, _ format: SoundFormat) throws(ReelFailure) {
        self.folder = folder
        channels = try format.channels()
        width = Int(av_get_bytes_per_sample(format.sample))
        silence = [AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P].contains(format.sample) ? 0x80 : 0
        var template = Array((folder + "/reel-samples-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw fileFailure(errno: errno, .make, folder) }
        unlink(template)
        pending.reserveCapacity(Self.blockBytes + 1 << 20)
    }

    deinit { close(descriptor) }

    private static let blockBytes = 4 << 20

    var frameBytes: Int { width * channels }

    /// Adds a decoded block, planar or interleaved.
    func append(_ frame: borrowing Frame) throws(ReelFailure) {
        let samples = frame.sampleCount
        guard let planes = frame.native.pointee.extended_data, let first = planes[0] else { return }
        if av_sample_fmt_is_planar(AVSampleFormat(frame.native.pointee.format)) == 0 || channels == 1 {
            pending.append(contentsOf: UnsafeRawBufferPointer(start: first, count: samples * frameBytes))
        } else {
            let start = pending.count
            pending.append(contentsOf: repeatElement(0, count: samples * frameBytes))
            pending.withUnsafeMutableBytes { bytes in
                guard let target = bytes.baseAddress?.advanced(by: start) else { return }
                for channel in 0..<channels {
                    guard let plane = planes[channel] else { continue }
                    copy(samples, of: width, from: plane, every: width, to: target + channel * width)
                }
            }
        }
        count += Int64(samples)
        if pending.count >= Self.blockBytes { try flush() }
    }

    func flush() throws(ReelFailure) {
        var done = 0
        while done < pending.count {
            let count = pending.withUnsafeBytes { left in
                Glibc.write(descriptor, left.baseAddress.map { $0 + done }, left.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fileFailure(errno: errno, .write, folder) }
            done += count
        }
        pending.removeAll(keepingCapacity: true)
    }

    func read(sample: Int64, count: Int, into target: UnsafeMutableRawPointer) throws(ReelFailure) {
        let bytes = count * frameBytes
        var done = 0
        while done < bytes {
            let step = pread(descriptor, target + done, bytes - done, off_t(sample) * off_t(frameBytes) + off_t(done))
            if step < 0, errno == EINTR { continue }
            // At 0, the file has lost bytes that were written.
            guard step > 0 else { throw fileFailure(errno: step < 0 ? errno : EIO, .read, folder) }
            done += step
        }
    }

    /// Reads `count` samples, from `sample` on, into `target` in reverse order; channels keep their order.
    func readBackwards(sample: Int64, count: Int, into target: UnsafeMutableRawPointer) throws(ReelFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count * frameBytes, alignment: 16)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { return }
        try read(sample: sample, count: count, into: base)
        copy(count, of: frameBytes, from: base + (count - 1) * frameBytes, every: -frameBytes, to: target)
    }

    /// Copies as many units of `size` bytes, which lie `step` bytes apart in the source and a sample frame in the
    /// target.
    private func copy(
        _ units: Int, of size: Int, from source: UnsafeRawPointer, every step: Int, to target: UnsafeMutableRawPointer
    ) {
        func copy<Unit: FixedWidthInteger>(_: Unit.Type) {
            for unit in 0..<units {
                target.storeBytes(
                    of: source.loadUnaligned(fromByteOffset: unit * step, as: Unit.self),
                    toByteOffset: unit * frameBytes, as: Unit.self)
            }
        }
        // Most units are moved as one number: a call for each took a fifth of the pass.
        switch size {
        case 1: copy(UInt8.self)
        case 2: copy(UInt16.self)
        case 4: copy(UInt32.self)
        case 8: copy(UInt64.self)
        default: for unit in 0..<units { memcpy(target + unit * frameBytes, source + unit * step, size) }
        }
    }
}

/// Reads spans of decoded samples in a direction, block by block. A copy reads on from the same place by itself.
struct SpanCursor {
    private let spill: SampleSpill
    private let direction: Direction
    /// Spans that are still to be read, in the order in which they are heard.
    private var left: ArraySlice<AudioTimeline.Span>
    /// The samples of the first of them that were read.
    private var done: Int64 = 0
    /// Samples per channel of all spans.
    let count: Int64

    /// `spans` are in the order in which they are heard; samples within a span are in the source's order.
    init(_ spans: [AudioTimeline.Span], _ direction: Direction, of spill: SampleSpill) {
        (self.spill, self.direction, left) = (spill, direction, spans[...])
        count = spans.reduce(0) { $0 + $1.count }
    }

    /// Reads the next `samples` samples of each channel, interleaved; the spans have that many left.
    mutating func read(_ samples: Int, into target: UnsafeMutableRawPointer) throws(ReelFailure) {
        var filled = 0
        while filled < samples, let span = left.first {
            let part = Int(min(span.count - done, Int64(samples - filled)))
            let room = target + filled * spill.frameBytes
            switch span {
            case .silence: memset(room, spill.silence, part * spill.frameBytes)
            case .sound(let first, _) where direction == .forwards:
                try spill.read(sample: first + done, count: part, into: room)
            case .sound(let first, let count):
                try spill.readBackwards(sample: first + count - done - Int64(part), count: part, into: room)
            }
            filled += part
            done += Int64(part)
            if done == span.count {
                left.removeFirst()
                done = 0
            }
        }
    }
}

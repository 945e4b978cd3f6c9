internal import CFFmpeg
internal import ReelCore

/// Computes what tells decoded pictures apart: a hash of every visible sample, and a likeness.
final class PictureDigest {
    private let hash: OpaquePointer
    /// A line without its padding, to which decoders do not write.
    private var line: [UInt8] = []

    init() throws(ReelFailure) {
        var context: OpaquePointer?
        try check(av_hash_alloc(&context, "murmur3"), .checksum, "murmur3")
        guard let context else { throw mediaFailure(reel_error_no_memory, .checksum, "murmur3") }
        hash = context
    }

    deinit {
        var context: OpaquePointer? = hash
        av_hash_freep(&context)
    }

    func describe(_ frame: borrowing Frame) -> DecodedPicture {
        DecodedPicture(
            hash: samples(of: frame), likeness: Likeness(of: frame), width: Int32(frame.width),
            height: Int32(frame.height), isDamaged: frame.isDamaged)
    }

    private func samples(of frame: borrowing Frame) -> UInt64 {
        av_hash_init(hash)
        let kind = frame.pixelFormat.withoutRange
        for number in [kind.rawValue, Int32(frame.width), Int32(frame.height)] {
            withUnsafeBytes(of: number.littleEndian) { add($0) }
        }
        let format = frame.pixelFormat
        guard let description = av_pix_fmt_desc_get(format) else { return 0 }
        let isPadded = description.pointee.hasPadding
        for plane in 0..<max(Int(av_pix_fmt_count_planes(format)), 0) {
            guard let data = frame.plane(plane) else { continue }
            let bytes = Int(av_image_get_linesize(format, Int32(frame.width), Int32(plane)))
            let shift = format.shifts(ofPlane: plane).down
            let lines = (frame.height + (1 << shift) - 1) >> shift
            for row in 0..<lines {
                let start = data + row * frame.lineSize(plane)
                let samples = UnsafeRawBufferPointer(start: start, count: max(bytes, 0))
                if isPadded { addWithoutPadding(samples, description) } else { add(samples) }
            }
        }
        if description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL) != 0, let palette = frame.plane(1) {
            add(UnsafeRawBufferPointer(start: palette, count: Int(AVPALETTE_SIZE)))
        }
        return withUnsafeTemporaryAllocation(byteCount: Int(AV_HASH_MAX_SIZE), alignment: 8) { sum in
            sum.initializeMemory(as: UInt8.self, repeating: 0)
            av_hash_final(hash, sum.baseAddress?.assumingMemoryBound(to: UInt8.self))
            return UInt64(littleEndian: sum.load(as: UInt64.self))
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        av_hash_update(hash, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    private func addWithoutPadding(_ samples: UnsafeRawBufferPointer, _ format: UnsafePointer<AVPixFmtDescriptor>) {
        line.removeAll(keepingCapacity: true)
        let components = format.pointee.components.map { Int($0.offset) }.sorted()
        for pixel in stride(from: 0, to: samples.count - 3, by: 4) {
            for component in components { line.append(samples[pixel + component]) }
        }
        line.withUnsafeBytes { add($0) }
    }
}

extension AVPixFmtDescriptor {
    var components: [AVComponentDescriptor] { Array([comp.0, comp.1, comp.2, comp.3].prefix(Int(nb_components))) }

    /// Whether each pixel has a fourth byte without meaning.
    var hasPadding: Bool {
        nb_components == 3 && flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) == 0
            && components.allSatisfy { $0.step == 4 && $0.depth == 8 }
    }
}

extension Likeness {
    /// The number of samples that are read in each direction of a cell.
    private static let density = 4

    init(of frame: borrowing Frame) {
        guard let light = SampledLight(frame) else {
            self.init(cells: SIMD16())
            return
        }
        var cells = SIMD16<UInt8>()
        let (side, density) = (Likeness.side, Likeness.density)
        for cell in 0..<side * side {
            var sum = 0
            for sample in 0..<density * density {
                let column = cell % side * density + sample % density
                let row = cell / side * density + sample / density
                // Each sample is in the middle of its part of the cell.
                let x = (2 * column + 1) * frame.width / (2 * side * density)
                let y = (2 * row + 1) * frame.height / (2 * side * density)
                sum += light.value(of: frame, x: x, y: y)
            }
            cells[cell] = UInt8(clamping: sum / (density * density))
        }
        self.init(cells: cells)
    }
}

/// Reads the brightness of single pixels, in any pixel format that libavutil can describe.
private struct SampledLight {
    private let description: UnsafePointer<AVPixFmtDescriptor>
    /// Red, green and blue, or luma alone, each with its weight in thousandths.
    private let components: [(place: Int32, weight: Int)]
    private let isPalette, isLimited: Bool

    init?(_ frame: borrowing Frame) {
        guard let description = av_pix_fmt_desc_get(frame.pixelFormat) else { return nil }
        let flags = description.pointee.flags
        guard flags & UInt64(AV_PIX_FMT_FLAG_HWACCEL) == 0, description.pointee.nb_components > 0 else { return nil }
        self.description = description
        isPalette = flags & UInt64(AV_PIX_FMT_FLAG_PAL) != 0
        if isPalette {
            // The places of red, green and blue among the four bytes of an entry of the palette, on this machine.
            components = [(2, 299), (1, 587), (0, 114)]
        } else if flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0, description.pointee.nb_components >= 3 {
            components = [(0, 299), (1, 587), (2, 114)]
        } else {
            components = [(0, 1000)]
        }
        // Grey formats have the full range, as in libswscale.
        isLimited =
            components.count == 1 && description.pointee.nb_components > 2
            && frame.native.pointee.color_range != AVCOL_RANGE_JPEG
            && frame.pixelFormat.withoutRange == frame.pixelFormat
    }

    /// The brightness of a pixel, from 0 (black) to 255 (white).
    func value(of frame: borrowing Frame, x: Int, y: Int) -> Int {
        var sum = 0
        for component in components { sum += component.weight * sample(component.place, of: frame, x: x, y: y) }
        let light = sum / 1000
        return isLimited ? min(max((light - 16) * 255 / 219, 0), 255) : light
    }

    private func sample(_ component: Int32, of frame: borrowing Frame, x: Int, y: Int) -> Int {
        if isPalette {
            guard let picture = frame.plane(0), let palette = frame.plane(1) else { return 0 }
            return Int(palette[4 * Int(picture[y * frame.lineSize(0) + x]) + Int(component)])
        }
        var bits: UInt32 = 0
        reel_read_sample(frame.native, description, Int32(x), Int32(y), component, &bits)
        let depth = Int(description.pointee.components[Int(component)].depth)
        if description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_FLOAT) != 0, depth == 32 {
            let value = Float(bitPattern: bits)
            return value.isFinite ? Int(min(max(value, 0), 1) * 255) : 0
        }
        let most = depth >= 32 ? Int(UInt32.max) : (1 << depth) - 1
        return Int(bits) * 255 / max(most, 1)
    }
}

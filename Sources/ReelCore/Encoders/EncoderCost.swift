/// The cost of an encoder: memory, and time relative to decoding. Measured with FFmpeg 5.1.9 on pictures of 320×240 to
/// 3840×2160 in 8 and 10 bits, as the peak resident memory of the process minus that of the same process without an
/// encoder, rounded up.
///
/// memory = constant + pixels · (perPixel + pictures · bytes per pixel) · scale · (1 + perThread · (threads − 1)), plus
/// the pictures that lookahead threads hold, plus `constantPerThread` for each further thread.
struct EncoderCost {
    var constant: Int64 = 4 << 20
    var constantPerThread = 0.0
    var perPixel: Double
    var pictures: Double
    var scale = 1.0
    var perThread = 0.08
    /// Number of pixels from which the encoder holds fewer pictures: memory is then 0.7 times as much.
    var holdsFewerFrom = Double.infinity
    /// Time to encode a frame, in units of the time to decode one of H.264. A value that is too small only leads to
    /// fewer passes.
    var weight: Double
    /// With two or more threads, x264 adds a lookahead thread, whatever the preset. It holds three times the pictures
    /// that each thread then encodes.
    var looksAhead = false
    /// Address space that each thread reserves beyond the memory, as a fraction of the memory.
    var untouched = 0.0
    /// Address space that the stacks of one thread take, in bytes.
    var stacks: Int64 = 8 << 20

    /// The cost assumed for an encoder that is not in the table.
    static let ofUnknown = EncoderCost(perPixel: 40, pictures: 20, weight: 2)

    /// Bytes per pixel that x264's lookahead threads hold; 0 with one thread.
    fileprivate func heldByThreads(_ threads: Int, _ bytesPerPixel: Double) -> Double {
        looksAhead && threads > 1 ? (15.5 + 8.6 * bytesPerPixel) * Double(threads + 1) / 3 : 0
    }
}

/// What an encoder with its settings takes: memory, address space and time.
package struct EncoderNeeds {
    /// Memory of the encoder in bytes, its frames included.
    package let memory: Int64
    /// Address space in bytes beyond the memory: stacks of the encoder's threads, and memory that it allocates and
    /// hardly touches.
    package let reserved: Int64
    package let weight: Double

    package init(_ video: VideoEncoding) {
        let cost = video.traits.cost(video.options.last { $0.name == "preset" }?.value)
        let pixels = Double(video.format.width) * Double(video.format.height)
        let largePictures = pixels > cost.holdsFewerFrom ? 0.7 : 1
        let further = Double(video.threads - 1)
        let threads = 1 + cost.perThread * further
        let layout = PictureLayout(video.format.pixelFormat)
        let bytesPerPixel = video.hasTransparencyBeside ? layout.opaqueBytesPerPixel : layout.bytesPerPixel
        // A second encoder makes the transparency, as a picture of the same size and format.
        let encoders = video.hasTransparencyBeside ? 2.0 : 1
        let variable = pixels * (cost.perPixel + cost.pictures * bytesPerPixel) * cost.scale * largePictures * threads
        let held = cost.heldByThreads(video.threads, bytesPerPixel) * pixels + cost.constantPerThread * further
        memory = Int64(min((Double(cost.constant) + variable + held) * encoders, 0x1p60))
        reserved =
            Int64(min(Double(memory) * cost.untouched * Double(video.threads), 0x1p60))
            + Int64(encoders) * Int64(video.threads) * cost.stacks
        weight = cost.weight * encoders
    }
}
